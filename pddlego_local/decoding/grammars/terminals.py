"""Terminals of grammars that are made while an answer grows: sets of names, all but a set, and the
names that a model may still give.

A set of names is one terminal and never a rule: as a rule the decoder's masks take milliseconds.
"""

import functools
import json
import re
from collections.abc import Collection, Iterable, Sequence

MOST_LETTERS = 40
"""Of a name that a model makes up; the longest of 114,548 recorded ones has 39."""
ANY = "*"
"""Behind a word, it stands for whatever follows."""

FIRST_LETTERS = ("abc", "def", "ghi", "jkl", "mno", "pqr", "stu", "vwxyz")
"""Of a name, in groups, each an alternative of its own: the vocabulary has slices for just these
(`models.forced_tokens.word_slices`), with which a mask within made-up names costs a quarter."""
_GROUPS = tuple(map(frozenset, FIRST_LETTERS))
_LATER = frozenset[str]().union(*_GROUPS, "0123456789_-")

OPERATORS = frozenset({"and", "exists", "forall", "imply", "increase", "not", "or", "when"})
"""What cannot name a predicate."""
_NO_TYPES = frozenset({"number"})
"""What Fast Downward lets no domain declare as a type."""

_THRICE = re.compile(r"(.*?[^0-9].*?)\1\1")


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
    return f"/{_leaving(words, _GROUPS, MOST_LETTERS - 1)}/"


def _leaving(words: frozenset[str], groups: Sequence[frozenset[str]], left: int) -> str:
    """What may follow where `words` are the rests of the words that began so, the next letter is
    of one of the `groups`, and `left` letters may come behind it."""
    letters = frozenset[str]().union(*groups)
    starts = sorted({word[0] for word in words if word and word[0] in letters})
    tail = f"[a-zA-Z0-9_-]{{0,{left}}}" if left else ""
    free = (group.difference(starts) for group in groups)
    branches = [one_letter(group) + tail for group in free if group]
    for letter in starts:
        rests = frozenset(word[1:] for word in words if word[:1] == letter)
        if ANY in rests:
            continue
        rest = _leaving(rests, (_LATER,), left - 1) if left else ""
        if "" not in rests:
            rest = f"({rest})?" if rest else ""
        elif not rest:
            continue
        branches.append(one_letter(frozenset(letter)) + rest)
    return f"({'|'.join(branches)})"


@functools.cache
def one_letter(letters: frozenset[str]) -> str:
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


def looping_prefix(name: str) -> str:
    """The beginning of a name that says a part three times in a row, to the end of the second time;
    "" for any other name.

    "none-of-none-of-none-of" gives "none-of-none-of", "none-of-none-of-none" gives "". Numbers may
    repeat their digits.
    """
    match = _THRICE.search(name.lower())
    return name[: match.end() - len(match[1])].lower() if match else ""


class NewNames:
    """Terminals for names that an answer declares. Types, predicates, actions and things may share
    a name, as Fast Downward tells them apart by where they stand; a predicate is no operator.

    Constants and objects have `allowed` names; None: the model makes them up. Names that begin as
    one of the `avoided` were loops of the model, and are not permitted again.
    """

    def __init__(self, allowed: Sequence[str] | None = None) -> None:
        self.allowed = allowed
        self.avoided: set[str] = set()

    def avoid_loop(self, name: str) -> bool:
        """Whether a name is a loop; if so, no later name may begin like it."""
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
        """A constant or object; "" if no allowed name is left."""
        return new_name(self.allowed, [*taken, *(self.avoided if self.allowed is None else ())])

    def variable(self, taken: Iterable[str] = ()) -> str:
        """With the blank before it; `taken` begin with "?"."""
        return f'_B1 "?" {name_except([*self.avoided, *(name[1:] for name in taken)])}'
