"""Builds the text of the grammar of one stage of one answer: patterns of names, their
terminals, and rules.

A set of names is one terminal, never a rule: with a rule, the decoder's masks take
milliseconds. Equal patterns share one terminal. Rules are named after their purpose.
"""

import functools
import json
import re
from collections.abc import Iterable, Sequence

from pddlego_local.core.nouns import Grammar
from pddlego_local.decoding.grammars.lark_text import forced_text, with_parts
from pddlego_local.decoding.layout import Layout

STAGE_PARTS = ("stages",)
"""The grammar files that every stage's grammar includes, besides its own rules and a
layout.
"""

MOST_LETTERS = 40
"""The maximum length of a name that a model invents. Of 114,548 recorded names, the
longest has 39 letters.
"""
ANY = "*"
"""After a word, it stands for any continuation of the word."""

FIRST_LETTERS = ("abc", "def", "ghi", "jkl", "mno", "pqr", "stu", "vwxyz")
"""The first letters of names in groups, each of which becomes a separate alternative.
A server's vocabulary has slices for exactly these groups (`word_slices` in
serving/vllm_patches.py). With them, a mask within an invented name takes a quarter of
the time.
"""
_FIRST = tuple(frozenset(letters) for letters in FIRST_LETTERS)
_LATER = (frozenset("".join(FIRST_LETTERS) + "0123456789_-"),)


class Rules:
    """Collects rules and terminals; `grammar` combines them with the project's grammar
    files.

    `forced_prefix` is the fixed text with which the stage begins, if there is any. It
    comes before the text that the grammar describes, and it need not be sampled.
    `comment` has the terminal for a comment in a list, if the layout allows comments.
    """

    def __init__(self, layout: Layout = "any") -> None:
        self.layout = layout
        self.forced_prefix = ""
        self.comment = ("COMMENT",) if layout == "any" else ()
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


def some(rule: str, most: int) -> str:
    """Returns a repetition such as "rule ~ 0 .. 5"; "" if `rule` is ""."""
    return f"{rule} ~ 0 .. {most}" if rule else ""


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


# ---- Patterns of names


def one_of(names: Iterable[str]) -> str:
    """Returns a terminal for exactly these names; there must be at least one."""
    in_json = {json.dumps(name)[1:-1] for name in names}  # without the quotes
    # Longest first: python-lark takes the first alternative that matches.
    words = sorted(in_json, key=lambda word: (-len(word), word))
    patterns = []
    for word in words:
        pattern = re.escape(word)
        patterns.append(pattern.replace("/", r"\/"))
    return f"/{'|'.join(patterns)}/"


def name_except(words: Iterable[str] = ()) -> str:
    """Returns a terminal for a name that is none of `words`, in any case. If a word
    ends with ANY, the name must not begin with that word either.

    llguidance has no look-ahead. So each branch spells out how a name departs from the
    words.
    """
    lower = frozenset([word.lower() for word in words])
    return f"/{_leaving(lower, _FIRST, MOST_LETTERS - 1)}/"


@functools.lru_cache(maxsize=4096)  # a grammar excludes the same words in many places
def _leaving(
    words: frozenset[str], groups: tuple[frozenset[str], ...], left: int
) -> str:
    """Returns the pattern of the rest of a name. `words` has the rests of the words
    that began like it. The next letter is in one of the `groups`, and at most `left`
    letters follow that letter.
    """
    rests_after: dict[str, set[str]] = {}
    for word in sorted(words):
        if word:
            rests_after.setdefault(word[0], set()).add(word[1:])

    branches = []
    for group in groups:
        free = group.difference(rests_after)
        if free:
            tail = f"[a-zA-Z0-9_-]{{0,{left}}}" if left else ""
            branches.append(one_letter(free) + tail)

    allowed = frozenset[str]().union(*groups)
    for letter, rests in rests_after.items():
        is_banned = ANY in rests
        if is_banned or letter not in allowed:
            continue
        first = one_letter(frozenset(letter))
        rest = _leaving(frozenset(rests), _LATER, left - 1) if left else ""
        must_go_on = "" in rests  # after this letter, the name would be a word
        if not must_go_on:
            branches.append(f"{first}({rest})?" if rest else first)
        elif rest:
            branches.append(first + rest)
    return f"({'|'.join(branches)})"


@functools.cache
def one_letter(letters: frozenset[str]) -> str:
    """Returns a character class for the letters in either case. Runs of letters become
    ranges; "-" is last, where it stands for itself.
    """
    upper = "".join(letters).upper()
    runs: list[str] = []
    for character in sorted(letters.union(upper) - {"-"}):
        before = chr(ord(character) - 1)
        if runs and runs[-1].endswith(before):
            runs[-1] += character
        else:
            runs.append(character)
    ranges = []
    for run in runs:
        ranges.append(run if len(run) == 1 else f"{run[0]}-{run[-1]}")
    if "-" in letters:
        ranges.append("-")
    return f"[{''.join(ranges)}]"
