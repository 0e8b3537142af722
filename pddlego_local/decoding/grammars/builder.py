"""The text of a grammar that is made for one stage of one answer.

Terminals are shared by what they match; rules are named after what they are for.
"""

import functools
from collections.abc import Iterable, Sequence

from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.grammars.lark_text import forced_text, with_parts
from pddlego_local.decoding.grammars.terminals import one_of
from pddlego_local.decoding.layout import Layout

STAGE_PARTS = ("stages",)
"""What the grammars of stages are put together from, besides their own rules and a layout."""


class Rules:
    """Collects rules and terminals; `grammar` puts them together with the project's parts.

    `head` is the text that the stage begins with where it has no choice: it stands before the
    grammar's language, and need not be sampled.
    """

    def __init__(self, layout: Layout = "any") -> None:
        self.layout = layout
        self.head = ""
        self._terminals: dict[str, str] = {}
        self._rules: list[str] = []
        self._shared: dict[tuple[str, ...], str] = {}

    @property
    def comment(self) -> tuple[str, ...]:
        """The terminal for a comment in a list, if the layout has any."""
        return ("COMMENT",) if self.layout == "any" else ()

    def begin(self, terminal: str) -> str:
        """What the stage begins with: `terminal`, or nothing where its text is known and becomes
        the head, or where `terminal` is ""."""
        if self.layout == "any" or not terminal:
            return terminal
        self.head = _text_of(terminal, self.layout)
        return ""

    def terminal(self, pattern: str) -> str:
        """The name of the terminal with this pattern."""
        return self._terminals.setdefault(pattern, f"_T{len(self._terminals)}")

    def names(self, names: Iterable[str]) -> str:
        """The terminal for one of these names."""
        return self.terminal(one_of(names))

    def rule(self, name: str, alternatives: Sequence[str]) -> str:
        """Adds a rule; its name, or "" where there is no alternative and so no rule."""
        if alternatives:
            self._rules.append(f"{name}: " + "\n    | ".join(alternatives))
        return name if alternatives else ""

    def shared(self, alternatives: Sequence[str]) -> str:
        """One of the alternatives, as a rule of its own unless it is one name or nothing."""
        if len(alternatives) < 2 and " " not in "".join(alternatives):
            return "".join(alternatives)
        key = tuple(alternatives)
        if key not in self._shared:
            self._shared[key] = self.rule(f"_r{len(self._shared)}", alternatives)
        return self._shared[key]

    def grammar(self, name: str, start: str) -> Grammar:
        terminals = (f"{name}: {pattern}" for pattern, name in self._terminals.items())
        text = "\n".join([f"start: {start}", *self._rules, *terminals])
        return with_parts(name, text, STAGE_PARTS, self.layout)


def some(rule: str, most: int, least: int = 0) -> str:
    """ "rule ~ 0 .. 5", or nothing where there is no such rule."""
    return f"{rule} ~ {least} .. {most}" if rule else ""


def typed_list(rules: Rules, name: str, kind: str, most: int) -> str:
    """ "a b - room c", to the closing bracket: names of the terminal `name`, each perhaps with a
    type; `name` may be "". One terminal, for the blank after a name may begin its type or the next
    name."""
    entries = " | ".join([f"_B1 {name} (_DASH {kind})?", *rules.comment])
    return f"({entries}) ~ 0 .. {max(most, 0)} _C" if name else "_C"


@functools.cache
def _text_of(terminal: str, layout: Layout) -> str:
    return forced_text(with_parts("head", f"start: {terminal}", STAGE_PARTS, layout))
