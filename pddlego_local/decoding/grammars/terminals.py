"""Terminals of grammars that are made while an answer is written: the names of a set,
all names except those of a set, and the names that a model may still declare.

A set of names is one terminal, never a rule: with a rule, the decoder's masks take
milliseconds.
"""

import functools
import json
import re
from collections.abc import Collection, Iterable, Sequence, Set

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
    pattern = ""
    for letter in word:
        if letter.isalpha():
            pattern += f"[{letter.lower()}{letter.upper()}]"
        else:
            pattern += re.escape(letter)
    return f"/{pattern}/"


def name_except(words: Iterable[str] = ()) -> str:
    """Returns a terminal for a name that is none of `words`, in any case. If a word
    ends with ANY, the name must not begin with that word either.

    llguidance has no look-ahead. So each branch spells out how a name departs from the
    words.
    """
    return _name_except(frozenset(word.lower() for word in words))


@functools.lru_cache(maxsize=256)  # a grammar has one such set in many places
def _one_of(names: frozenset[str]) -> str:
    in_json = {json.dumps(name)[1:-1] for name in names}  # without the quotes
    # Longest first: python-lark takes the first alternative that matches.
    words = sorted(in_json, key=lambda word: (-len(word), word))
    patterns = []
    for word in words:
        pattern = re.escape(word)
        patterns.append(pattern.replace("/", r"\/"))
    return f"/{'|'.join(patterns)}/"


@functools.lru_cache(maxsize=256)
def _name_except(words: frozenset[str]) -> str:
    return f"/{_leaving(words, _FIRST, MOST_LETTERS - 1)}/"


def _leaving(words: Set[str], groups: Sequence[frozenset[str]], left: int) -> str:
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

    for letter, rests in rests_after.items():
        is_banned = ANY in rests
        if is_banned or not any(letter in group for group in groups):
            continue
        first = one_letter(frozenset(letter))
        rest = _leaving(rests, _LATER, left - 1) if left else ""
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
    upper = {letter.upper() for letter in letters}
    runs: list[str] = []
    for character in sorted((letters | upper) - {"-"}):
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


def looping_prefix(name: str) -> str:
    """Returns the beginning of a name that has a part three times in a row, to the end
    of the second time; "" for any other name.

    "none-of-none-of-none-of" gives "none-of-none-of", "none-of-none-of-none" gives "".
    A part that has only digits may be repeated.
    """
    lower = name.lower()
    match = _THRICE.search(lower)
    if match is None:
        return ""
    part = match[1]
    return lower[: match.end() - len(part)]


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
        excluded = {*self.avoided}
        for name in taken:
            excluded.add(name.removeprefix("?"))
        return f'_B1 "?" {name_except(excluded)}'
