"""Terminals of grammars that are made while an answer is written: the names of a set,
all names except those of a set, and the names that a model may still declare.

A set of names is one terminal, never a rule: with a rule, the decoder's masks take
milliseconds.
"""

import functools
import json
import re
from collections.abc import Collection, Iterable, Sequence

from pddlego_local.core.grouping import grouped

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
_GROUPS = tuple(map(frozenset, FIRST_LETTERS))
_LATER = frozenset[str]().union(*_GROUPS, "0123456789_-")

OPERATORS = frozenset(
    {"and", "exists", "forall", "imply", "increase", "not", "or", "when"}
)
"""Words that cannot be the name of a predicate."""
_NO_TYPES = frozenset({"number"})
"""Words that Fast Downward does not allow as the name of a declared type."""

_THRICE = re.compile(r"(.*?[^0-9].*?)\1\1")


def one_of(names: Iterable[str]) -> str:
    """Returns a terminal for exactly these names; there must be at least one."""
    return _one_of(frozenset(names))


def in_any_case(word: str) -> str:
    """Returns a terminal for one word with letters in either case."""
    letters = (
        f"[{c.lower()}{c.upper()}]" if c.isalpha() else re.escape(c) for c in word
    )
    return f"/{''.join(letters)}/"


def name_except(words: Iterable[str] = ()) -> str:
    """Returns a terminal for a name that is none of `words`, in any case. If a word
    ends with ANY, the name must not begin with that word either.

    llguidance has no look-ahead. So each branch spells out how a name departs from the
    words.
    """
    return _name_except(frozenset(word.lower() for word in words))


@functools.lru_cache(maxsize=256)  # a grammar has one such set in many places
def _one_of(names: frozenset[str]) -> str:
    in_json = {json.dumps(name)[1:-1] for name in names}
    # Longest first: python-lark takes the first alternative that matches.
    words = sorted(in_json, key=lambda word: (-len(word), word))
    patterns = [re.escape(word).replace("/", r"\/") for word in words]
    return f"/{'|'.join(patterns)}/"


@functools.lru_cache(maxsize=256)
def _name_except(words: frozenset[str]) -> str:
    return f"/{_leaving(words, _GROUPS, MOST_LETTERS - 1)}/"


def _leaving(words: frozenset[str], groups: Sequence[frozenset[str]], left: int) -> str:
    """Returns the pattern of the rest of a name. `words` has the rests of the words
    that began like it. The next letter is in one of the `groups`, and at most `left`
    letters follow that letter.
    """
    by_letter = grouped((word[0], word[1:]) for word in sorted(words) if word)
    branches = []
    for group in groups:
        free = group.difference(by_letter)
        if free:
            tail = f"[a-zA-Z0-9_-]{{0,{left}}}" if left else ""
            branches.append(one_letter(free) + tail)
    for letter, rests in by_letter.items():
        if ANY in rests or not any(letter in group for group in groups):
            continue
        rest = _leaving(frozenset(rests), (_LATER,), left - 1) if left else ""
        is_a_word = "" in rests  # then the name must go on after the letter
        if is_a_word and not rest:
            continue
        if not is_a_word and rest:
            rest = f"({rest})?"
        branches.append(one_letter(frozenset(letter)) + rest)
    return f"({'|'.join(branches)})"


@functools.cache
def one_letter(letters: frozenset[str]) -> str:
    """Returns a character class for the letters in either case. Runs of letters become
    ranges; "-" is last, where it stands for itself.
    """
    in_both_cases = letters | {letter.upper() for letter in letters}
    runs: list[tuple[str, str]] = []  # the first and last character of each
    for character in sorted(in_both_cases - {"-"}):
        if runs and ord(runs[-1][1]) + 1 == ord(character):
            runs[-1] = runs[-1][0], character
        else:
            runs.append((character, character))
    ranges = [first if first == last else f"{first}-{last}" for first, last in runs]
    if "-" in letters:
        ranges.append("-")
    return f"[{''.join(ranges)}]"


def looping_prefix(name: str) -> str:
    """Returns the beginning of a name that has a part three times in a row, to the end
    of the second time; "" for any other name.

    "none-of-none-of-none-of" gives "none-of-none-of", "none-of-none-of-none" gives "".
    A part that has only digits may be repeated.
    """
    match = _THRICE.search(name.lower())
    return name[: match.end() - len(match[1])].lower() if match else ""


class NewNames:
    """Terminals for the names that an answer declares. Types, predicates, actions and
    objects may share a name, because Fast Downward tells them apart by their position.
    No predicate may have the name of an operator.

    `allowed` has the names for constants and objects; None means that the model invents
    them. `avoided` has the beginnings (`looping_prefix`) of the model's names that were
    loops. No further name may begin in this way.
    """

    def __init__(self, allowed: Sequence[str] | None = None) -> None:
        self.allowed = allowed
        self.avoided: set[str] = set()

    def avoid_loop(self, name: str) -> bool:
        """Returns whether a name is a loop, which has a part three times in a row. If
        so, it bans later names that begin like this one.
        """
        prefix = looping_prefix(name)
        if prefix:
            self.avoided.add(prefix + ANY)
        return bool(prefix)

    def any(self) -> str:
        return name_except(self.avoided)

    def type(self, taken: Collection[str]) -> str:
        return name_except([*_NO_TYPES, *self.avoided, *taken])

    def predicate(self, taken: Collection[str]) -> str:
        return name_except([*OPERATORS, *self.avoided, *taken])

    def thing(self, taken: Collection[str]) -> str:
        """Returns a terminal for a constant or object; "" if no allowed name is
        left.
        """
        if self.allowed is None:
            return name_except([*taken, *self.avoided])
        used = {name.lower() for name in taken}
        left = [name for name in self.allowed if name.lower() not in used]
        return one_of(left) if left else ""

    def variable(self, taken: Iterable[str] = ()) -> str:
        """Returns a pattern for a space and a variable; the `taken` names begin with
        "?".
        """
        names = [name.removeprefix("?") for name in taken]
        return f'_B1 "?" {name_except([*self.avoided, *names])}'
