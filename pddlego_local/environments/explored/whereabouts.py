"""Where the player of a partly seen world is, and where its things are.

`here` names the places of the movers, all of which are the player's. A mover that it
places nowhere is where the thing is with which a fact names it: the driver in a truck
is where the truck is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pddlego_local.pddl.conditions import Atomic, Fact, Facts, conjuncts
from pddlego_local.pddl.state import Schema


class Located(NamedTuple):
    """A predicate that says where a thing is: the positions of the thing and of its
    place among predicate and arguments.
    """

    thing: int
    place: int


class Anchor(NamedTuple):
    """Where an action is carried out: the variable of the place, and the conditions
    that put the player there.
    """

    place: str
    conditions: Sequence[Atomic]


@dataclass(frozen=True)
class Whereabouts:
    """Where everything is. `here` is the predicate whose last argument is the player's
    place, and `here_movers` are the objects that each of its other arguments may be.

    `all_places` are all objects of the place's type. `located` are the predicates that
    say where a thing is, and `placeable` the objects that can be somewhere.
    `places_movers_alone` says that nothing but a mover can stand in `here`.
    """

    here: str
    here_movers: Sequence[frozenset[str]]
    all_places: frozenset[str]
    located: Mapping[str, Located]
    placeable: frozenset[str]
    places_movers_alone: bool

    @cached_property
    def movers(self) -> frozenset[str]:
        return frozenset().union(*self.here_movers)

    def is_here(self, fact: Fact) -> bool:
        """Returns whether a fact says where movers are."""
        if fact[0] != self.here or len(fact) != len(self.here_movers) + 2:
            return False
        movers = zip(fact[1:-1], self.here_movers, strict=True)
        return all(name in allowed for name, allowed in movers)

    def standing(self, facts: Iterable[Fact]) -> dict[str, str]:
        """Returns the place of each mover that is somewhere; the empty name stands for
        the player if `here` names no mover.
        """
        true = sorted(facts)
        places: dict[str, str] = {}
        for fact in true:
            if self.is_here(fact):
                places |= dict.fromkeys(fact[1:-1] or ("",), fact[-1])
        found = Facts(true)
        for mover in sorted(self.movers - places.keys()):
            place = self._place_around(mover, true, found)
            if place is not None:
                places[mover] = place
        return places

    def _place_around(
        self, mover: str, facts: Iterable[Fact], found: Facts
    ) -> str | None:
        """Returns where the thing is with which a fact names the mover; None if there
        is none.
        """
        for fact in facts:
            if mover not in fact[1:]:
                continue
            for name in fact[1:]:
                place = next(self.of(name, found), None)
                if name != mover and place is not None:
                    return place
        return None

    def places(self, facts: Iterable[Fact]) -> frozenset[str]:
        """Returns the places where the player is."""
        return frozenset(self.standing(facts).values())

    def of(self, thing: str, facts: Facts) -> Iterator[str]:
        """Yields the places where a thing is."""
        for name, where in self.located.items():
            pattern = [name, "", ""]
            pattern[where.thing] = thing
            for fact in facts.matching(tuple(pattern)):
                if len(fact) == len(pattern) and fact[where.thing] == thing:
                    yield fact[where.place]

    def can_be_somewhere(self, name: str) -> bool:
        return name in self.placeable

    def anchors(self, schema: Schema) -> list[Anchor]:
        """Returns where an action is carried out; nothing if it needs nobody at a
        place.
        """
        parts = [
            part
            for part in conjuncts(schema.condition)
            if isinstance(part, Atomic) and not part.negated
        ]
        anchors = [
            Anchor(part.pattern[-1], [part])
            for part in parts
            if self._is_here_pattern(part.pattern, schema)
        ]
        return anchors or [*self._anchors_of_riders(parts, schema)]

    def _is_here_pattern(self, pattern: Fact, schema: Schema) -> bool:
        if pattern[0] != self.here or len(pattern) != len(self.here_movers) + 2:
            return False
        movers = zip(pattern[1:-1], self.here_movers, strict=True)
        return all(self._is_among(term, schema, allowed) for term, allowed in movers)

    def _anchors_of_riders(
        self, parts: Sequence[Atomic], schema: Schema
    ) -> Iterator[Anchor]:
        """Yields the places of things with which a mover is named, as in `(driving ?d
        ?t) (at ?t ?p)`.
        """
        for part in parts:
            where = self.located.get(part.pattern[0])
            if where is None or len(part.pattern) != 3:
                continue
            thing = part.pattern[where.thing]
            for other in parts:
                terms = other.pattern[1:]
                rides = thing in terms and any(
                    self._is_among(term, schema, self.movers)
                    for term in terms
                    if term != thing
                )
                if other is not part and rides:
                    yield Anchor(part.pattern[where.place], [part, other])

    def _is_among(self, term: str, schema: Schema, allowed: frozenset[str]) -> bool:
        """Returns whether a term can only stand for these objects."""
        names = schema.choices.get(term, {term: None})
        return bool(names) and allowed.issuperset(names)
