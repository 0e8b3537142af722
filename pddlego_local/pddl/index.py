"""A set of ground facts in which those that fit a pattern are found quickly.

One object belongs to one evaluation and is not shared between threads.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

Fact = tuple[str, ...]
"""A predicate and its objects, such as ("at", "ball1", "room2")."""
ANY = ""
"""Stands for any object in a pattern."""


class Facts:
    """The parts of the index are made when they are first needed, in the order of the
    facts.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts = dict.fromkeys(facts)
        self._of_predicate: defaultdict[tuple[str, int], list[Fact]] | None = None
        self._at_place: dict[tuple[str, int, int], defaultdict[str, list[Fact]]] = {}

    def __contains__(self, fact: Fact) -> bool:
        return fact in self._facts

    def add(self, fact: Fact) -> None:
        if fact in self._facts:
            return
        self._facts[fact] = None
        if self._of_predicate is not None:
            self._of_predicate[fact[0], len(fact)].append(fact)
        for (name, length, place), having in self._at_place.items():
            if (name, length) == (fact[0], len(fact)):
                having[fact[place]].append(fact)

    def matching(self, pattern: Fact) -> Sequence[Fact]:
        """Returns the facts of the pattern's predicate that have one of its objects in
        its place.

        The place is the one with the fewest facts, so some of them may differ from the
        pattern elsewhere.
        """
        fewest = self._with_predicate(pattern[0], len(pattern))
        for place in range(1, len(pattern)):
            if pattern[place] != ANY and len(fewest) > 1:
                having = self._by_object(pattern[0], len(pattern), place)
                fewest = min(fewest, having.get(pattern[place], ()), key=len)
        return fewest

    def _with_predicate(self, name: str, length: int) -> Sequence[Fact]:
        if self._of_predicate is None:
            self._of_predicate = defaultdict(list)
            for fact in self._facts:
                self._of_predicate[fact[0], len(fact)].append(fact)
        return self._of_predicate.get((name, length), ())

    def _by_object(self, name: str, length: int, place: int) -> dict[str, list[Fact]]:
        having = self._at_place.get((name, length, place))
        if having is None:
            having = self._at_place[name, length, place] = defaultdict(list)
            for fact in self._with_predicate(name, length):
                having[fact[place]].append(fact)
        return having
