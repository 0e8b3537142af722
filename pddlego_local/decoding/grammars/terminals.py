"""Terminals of grammars that are made while an answer grows: sets of names, and all but a set.

A set of names is one terminal and never a rule: as a rule the decoder's masks take milliseconds.
"""

import functools
import json
import re
from collections.abc import Iterable, Sequence

MOST_LETTERS = 40
"""Of a name that a model makes up; the longest of 114,548 recorded ones has 39."""
ANY = "*"
"""Behind a word, it stands for whatever follows."""

_FIRST = frozenset("abcdefghijklmnopqrstuvwxyz")
_LATER = _FIRST | frozenset("0123456789_-")

OPERATORS = frozenset({"and", "exists", "forall", "imply", "increase", "not", "or", "when"})
"""What cannot name a predicate."""


def one_of(names: Iterable[str]) -> str:
    """A terminal for exactly these names, of which there must be one."""
    return _one_of(frozenset(names))


def in_any_case(word: str) -> str:
    """A terminal for one word, letters in either case."""
    letters = (f"[{c.lower()}{c.upper()}]" if c.isalpha() else re.escape(c) for c in word)
    return f"/{''.join(letters)}/"


def name_except(words: Iterable[str] = ()) -> str:
    """A terminal for a name that is none of `words`, in whatever case; with ANY behind a word, for
    none that begins with it.

    Without look-ahead, which the decoder's engine has not: each branch spells out how a name leaves
    the words.
    """
    return _name_except(frozenset(word.lower() for word in words))


def new_name(allowed: Sequence[str] | None, taken: Iterable[str]) -> str:
    """A terminal for a name that is `allowed` (None: any) and not `taken`; "" if none is left."""
    if allowed is None:
        return name_except(taken)
    used = {name.lower() for name in taken}
    left = [name for name in allowed if name.lower() not in used]
    return one_of(left) if left else ""


@functools.lru_cache(maxsize=256)  # a grammar has one such set in many places
def _one_of(names: frozenset[str]) -> str:
    # Longest first: python-lark takes the first alternative that matches.
    words = sorted({json.dumps(name)[1:-1] for name in names}, key=lambda word: (-len(word), word))
    return f"/{'|'.join(re.escape(word).replace('/', chr(92) + '/') for word in words)}/"


@functools.lru_cache(maxsize=256)
def _name_except(words: frozenset[str]) -> str:
    return f"/{_leaving(words, _FIRST, MOST_LETTERS - 1)}/"


def _leaving(words: frozenset[str], letters: frozenset[str], left: int) -> str:
    """What may follow where `words` are the rests of the words that began so, and `left` letters
    may come behind the next one."""
    starts = sorted({word[0] for word in words if word and word[0] in letters})
    tail = f"[a-zA-Z0-9_-]{{0,{left}}}" if left else ""
    branches = [_one(letters.difference(starts)) + tail]
    for letter in starts:
        rests = frozenset(word[1:] for word in words if word[:1] == letter)
        if ANY in rests:
            continue
        rest = _leaving(rests, _LATER, left - 1) if left else ""
        if "" not in rests:
            rest = f"({rest})?" if rest else ""
        elif not rest:
            continue
        branches.append(_one(frozenset(letter)) + rest)
    return f"({'|'.join(branches)})"


@functools.cache
def _one(letters: frozenset[str]) -> str:
    """A class of characters, letters in either case, runs of them as ranges; "-" is last, where it
    means itself."""
    both = sorted({case for letter in letters for case in (letter, letter.upper())} - {"-"})
    runs: list[str] = []
    for character in both:
        if runs and ord(runs[-1][-1]) + 1 == ord(character):
            runs[-1] = runs[-1][0] + character
        else:
            runs.append(character)
    ranges = "".join("-".join(dict.fromkeys(run)) for run in runs)
    return f"[{ranges}{'-' if '-' in letters else ''}]"
