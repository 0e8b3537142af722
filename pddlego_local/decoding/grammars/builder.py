"""Builds the text of the grammar of one stage of one answer.

Equal patterns share one terminal. Rules are named after their purpose.
"""

import functools
from collections.abc import Iterable, Sequence

from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.grammars.lark_text import forced_text, with_parts
from pddlego_local.decoding.grammars.terminals import one_of
from pddlego_local.decoding.layout import Layout

STAGE_PARTS = ("stages",)
"""The grammar files that every stage's grammar includes, besides its own rules and a
layout.
"""


class Rules:
    """Collects rules and terminals; `grammar` combines them with the project's grammar
    files.

    `forced_prefix` is the fixed text with which the stage begins, if there is any. It
    comes before the text that the grammar describes, and it need not be sampled.
    """

    def __init__(self, layout: Layout = "any") -> None:
        self.layout = layout
        self.forced_prefix = ""
        self.comment: Sequence[str] = ()
        """The terminal for a comment in a list, if the layout allows comments."""
        if layout == "any":
            self.comment = ("COMMENT",)
        self._terminals: dict[str, str] = {}  # pattern → name
        self._rules: list[str] = []
        self._shared: dict[tuple[str, ...], str] = {}  # alternatives → name

    def begin(self, terminal: str) -> str:
        """Returns the terminal with which the grammar begins. It is "" if the layout
        fixes the text of `terminal`, which then becomes the forced prefix, or if
        `terminal` is "".
        """
        if self.layout == "any" or not terminal:
            return terminal
        self.forced_prefix = _text_of(terminal, self.layout)
        return ""

    def terminal(self, pattern: str) -> str:
        """Returns the name of the terminal with this pattern."""
        new = f"_T{len(self._terminals)}"
        return self._terminals.setdefault(pattern, new)

    def names(self, names: Iterable[str]) -> str:
        """Returns the terminal for one of these names."""
        return self.terminal(one_of(names))

    def rule(self, name: str, alternatives: Sequence[str]) -> str:
        """Adds a rule and returns its name; adds none and returns "" if there is no
        alternative.
        """
        if not alternatives:
            return ""
        choice = "\n    | ".join(alternatives)
        self._rules.append(f"{name}: {choice}")
        return name

    def shared(self, alternatives: Sequence[str]) -> str:
        """Returns the name of a rule for the alternatives. A single alternative that is
        one name gets no rule and is returned itself; without alternatives, the result
        is "".
        """
        if not alternatives:
            return ""
        first = alternatives[0]
        if len(alternatives) == 1 and " " not in first:
            return first
        key = tuple(alternatives)
        if key not in self._shared:
            number = len(self._shared)
            self._shared[key] = self.rule(f"_r{number}", alternatives)
        return self._shared[key]

    def grammar(self, name: str, start: str) -> Grammar:
        """Returns the grammar whose start rule has the expansion `start`."""
        lines = [f"start: {start}", *self._rules]
        for pattern, terminal in self._terminals.items():
            lines.append(f"{terminal}: {pattern}")
        return with_parts(name, "\n".join(lines), STAGE_PARTS, self.layout)


def some(rule: str, most: int, least: int = 0) -> str:
    """Returns a repetition such as "rule ~ 0 .. 5"; "" if `rule` is ""."""
    return f"{rule} ~ {least} .. {most}" if rule else ""


def typed_list(rules: Rules, name: str, kind: str, most: int) -> str:
    """Returns the pattern of a list such as "a b - room c", up to its closing bracket.

    The list has at most `most` names of the pattern `name`, each with or without a type
    of the pattern `kind`; if `name` is "", it is empty. The pattern must become a
    single terminal, because the space after a name may begin its type or the next name.
    """
    if not name:
        return "_C"
    named = f"_B1 {name} (_DASH {kind})?"
    entry = " | ".join([named, *rules.comment])
    return f"({entry}) ~ 0 .. {max(most, 0)} _C"


@functools.cache
def _text_of(terminal: str, layout: Layout) -> str:
    grammar = with_parts("head", f"start: {terminal}", STAGE_PARTS, layout)
    return forced_text(grammar)
