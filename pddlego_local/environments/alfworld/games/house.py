"""The furnished room of a game: its receptacles, and the receptacle in which each
object lies.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from pddlego_local.environments.alfworld.games.layout import (
    LAMP,
    STANDS,
    FloorPlan,
    Receptacle,
    catalogue,
    off_grid,
    pddl_name,
)

SEARCH_LIMIT = 28
"""The maximum number of commands that show everything in a house: "go to" for each
receptacle, and "open" for a closed one.
"""

MOST_OF_A_KIND = 3
"""ALFRED places up to three objects of each kind (MAX_NUM_OF_OBJ_INSTANCES)."""


@dataclass(frozen=True)
class Thing:
    """An object: "Apple|-00.14|+00.96|+02.93" of kind "Apple". `inside` is the
    receptacle where it lies. In a wide room, `also` may be a second receptacle that
    lists it.
    """

    id: str
    kind: str
    inside: Receptacle
    also: Receptacle | None = None


@dataclass(frozen=True)
class House:
    """The start of a game. All receptacles that can be opened are closed, and the hands
    are empty.
    """

    plan: FloorPlan
    receptacles: tuple[Receptacle, ...]
    things: tuple[Thing, ...]

    def problem(self, name: str, goal: str) -> str:
        """Returns the PDDL problem for the package's domain. `goal` is the text that
        closes the problem, as in the goal library.
        """
        facts = [f"({fact})" for fact in self._facts()]
        lines = [
            f"(define (problem {name})",
            "(:domain alfred)",
            "(:objects",
            *self._objects(),
            ")",
            "(:init",
            *facts,
            ")",
            goal,
        ]
        return "\n".join(lines)

    def _objects(self) -> Iterator[str]:
        classes = catalogue()
        kinds = {thing.kind for thing in self.things}
        further = sorted(kinds.difference(classes.objects, [LAMP]))
        yield "agent1 - agent"
        for kind in (*classes.objects, LAMP, *further):
            yield f"{kind}Type - otype"
        for kind in classes.holds:
            yield f"{kind}Type - rtype"
        for thing in self.things:
            yield f"{pddl_name(thing.id)} - object"
        for receptacle in self.receptacles:
            yield f"{pddl_name(receptacle.id)} - receptacle"
        places = [receptacle.place for receptacle in self.receptacles]
        for place in dict.fromkeys([off_grid(0), *places]):
            yield f"{pddl_name(place)} - location"

    def _facts(self) -> Iterator[str]:
        yield f"atLocation agent1 {pddl_name(off_grid(0))}"
        for receptacle in self.receptacles:
            name = pddl_name(receptacle.id)
            place = pddl_name(receptacle.place)
            yield f"receptacleType {name} {receptacle.kind}Type"
            yield f"receptacleAtLocation {name} {place}"
            if receptacle.opens:
                yield f"openable {name}"
        kinds = {receptacle.kind for receptacle in self.receptacles}
        for kind in sorted(kinds):
            for held in sorted(catalogue().holds[kind]):
                yield f"canContain {kind}Type {held}Type"
        for thing in self.things:
            yield from _facts_of(thing)


def _facts_of(thing: Thing) -> Iterator[str]:
    name = pddl_name(thing.id)
    inside = pddl_name(thing.inside.id)
    place = pddl_name(thing.inside.place)
    yield f"objectType {name} {thing.kind}Type"
    yield f"inReceptacle {name} {inside}"
    if thing.also:
        also = pddl_name(thing.also.id)
        yield f"inReceptacle {name} {also}"
    yield f"objectAtLocation {name} {place}"
    for ability in _abilities(thing.kind):
        yield f"{ability} {name}"


def _abilities(kind: str) -> Iterator[str]:
    if kind == LAMP:
        yield "toggleable"
    if kind in catalogue().objects:
        yield "pickupable"
    for ability, kinds in catalogue().able.items():
        if kind in kinds:
            yield ability


def draw_receptacles(
    rng: Random,
    plan: FloorPlan,
    needed: Sequence[str],
    limit: int = SEARCH_LIMIT,
) -> tuple[Receptacle, ...]:
    """Draws one receptacle of each needed kind, then others as long as `limit` commands
    show everything.
    """
    shuffled = rng.sample(plan.receptacles, len(plan.receptacles))
    first_of_kind = {place.kind: place for place in reversed(shuffled)}
    drawn = [first_of_kind[kind] for kind in dict.fromkeys(needed)]
    commands = sum(map(_commands, drawn))
    for receptacle in shuffled:
        more = _commands(receptacle)
        if receptacle not in drawn and commands + more <= limit:
            drawn.append(receptacle)
            commands += more
    return tuple(sorted(drawn, key=lambda receptacle: receptacle.id))


def _commands(receptacle: Receptacle) -> int:
    """Returns how many commands show what is in it: "go to", and "open"."""
    return 2 if receptacle.opens else 1


def draw_things(
    rng: Random,
    plan: FloorPlan,
    receptacles: Sequence[Receptacle],
    least: Callable[[str], int],
    most: Callable[[str], int],
    allowed: Callable[[str, str], bool],
) -> tuple[Thing, ...]:
    """Draws objects of each kind of the floor plan, and a lamp if the floor plan has
    one. `least(kind)` and `most(kind)` are the limits of the number of objects of a
    kind, and `allowed(kind, receptacle_kind)` says where they may lie. A kind that no
    receptacle of the house may hold is left out.
    """
    things = []
    for kind in plan.objects:
        holders = [place for place in receptacles if allowed(kind, place.kind)]
        if holders:
            count = rng.randint(least(kind), most(kind))
            for rank in range(count):
                holder = _draw_holder(rng, holders)
                things.append(_thing(kind, holder, rank))
    stands = [place for place in receptacles if place.kind in STANDS]
    if plan.lamp and stands:
        for rank in range(most(LAMP)):
            stand = rng.choice(stands)
            things.append(_thing(LAMP, stand, rank))
    return tuple(things)


def most_of(kind: str) -> int:
    """Returns the maximum number of objects of a kind."""
    return 1 if kind == LAMP else MOST_OF_A_KIND


def _draw_holder(rng: Random, holders: Sequence[Receptacle]) -> Receptacle:
    """Draws a kind first and then one receptacle of the kind, so that a table holds
    more than each of ten drawers.
    """
    kinds = {receptacle.kind for receptacle in holders}
    kind = rng.choice(sorted(kinds))
    of_kind = [receptacle for receptacle in holders if receptacle.kind == kind]
    return rng.choice(of_kind)


def _thing(kind: str, inside: Receptacle, rank: int) -> Thing:
    """Names an object after its position, as in ALFRED. Objects of one kind lie at
    different heights.
    """
    _, x, y, z, *_ = inside.id.split("|")
    height = float(y) + 0.01 * (rank + 1)
    position = [float(x), height, float(z)]
    written = "|".join(f"{number:+06.2f}" for number in position)
    return Thing(f"{kind}|{written}", kind, inside)
