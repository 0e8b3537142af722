"""The furnished room of a game: its receptacles, and the receptacle in which each
object lies.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from pddlego_local.environments.alfworld.games.layout import (
    FIXTURES,
    LAMP,
    STANDS,
    TWICE,
    UNTOUCHED,
    FloorPlan,
    Receptacle,
    catalogue,
    off_grid,
    pddl_name,
    spoken_names,
)

SEARCH_LIMIT = 28
"""The maximum number of commands that show everything in a house: "go to" for each
receptacle, and "open" for a closed one.
"""

MOST_OF_A_KIND = 3
"""ALFRED places up to three objects of each kind (MAX_NUM_OF_OBJ_INSTANCES)."""
MOST_IN_WIDE = {(1, 3): 24, (2, 4): 8, (3, 7): 2}
"""(maximum of a fixture or lamp, maximum of another kind) → weight in the draw. A room
can have more than MOST_OF_A_KIND, because ALFRED's scenes also contain objects that
ALFRED did not place.
"""


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

    @cached_property
    def names(self) -> dict[str, str]:
        """Returns the game's name for each object and receptacle, by identifier: "apple
        1".
        """
        things: tuple[Thing | Receptacle, ...] = self.things
        return spoken_names(part.id for part in self.receptacles + things)

    def problem(self, name: str, goal: str) -> str:
        """Returns the PDDL problem for the package's domain. `goal` is the text that
        closes the problem, as in the goal library.
        """
        facts = [f"({fact})" for fact in self._facts()]
        lines = [f"(define (problem {name})", "(:domain alfred)"]
        lines += ["(:objects", *self._objects(), ")", "(:init", *facts, ")", goal]
        return "\n".join(lines)

    def _objects(self) -> Iterator[str]:
        classes = catalogue()
        kinds = {thing.kind for thing in self.things}
        fixtures = sorted(kinds & FIXTURES.keys())
        yield "agent1 - agent"
        for kind in (*classes.objects, LAMP, *fixtures):
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
        classes = catalogue()
        yield f"atLocation agent1 {pddl_name(off_grid(0))}"
        for receptacle in self.receptacles:
            name = pddl_name(receptacle.id)
            yield f"receptacleType {name} {receptacle.kind}Type"
            yield f"receptacleAtLocation {name} {pddl_name(receptacle.place)}"
            if receptacle.opens:
                yield f"openable {name}"
        for kind in sorted({receptacle.kind for receptacle in self.receptacles}):
            for held in sorted(classes.holds[kind]):
                yield f"canContain {kind}Type {held}Type"
        for thing in self.things:
            name = pddl_name(thing.id)
            yield f"objectType {name} {thing.kind}Type"
            for inside in filter(None, (thing.inside, thing.also)):
                yield f"inReceptacle {name} {pddl_name(inside.id)}"
            yield f"objectAtLocation {name} {pddl_name(thing.inside.place)}"
            for ability in _abilities(thing.kind):
                yield f"{ability} {name}"


def _abilities(kind: str) -> Iterator[str]:
    if kind == LAMP:
        yield "toggleable"
    if kind in UNTOUCHED:
        return
    yield "pickupable"
    for ability, kinds in catalogue().able.items():
        if kind in kinds:
            yield ability


def _listed_twice(
    rng: Random, things: Iterable[Thing], receptacles: Sequence[Receptacle]
) -> Iterator[Thing]:
    """Yields the things. Some of them get a second receptacle that lists them, as in a
    wide room.
    """
    for thing in things:
        kinds = TWICE.get(thing.kind, ())
        others = [r for r in receptacles if r.kind in kinds and r != thing.inside]
        if thing.inside.kind in kinds and others and rng.random() < 0.4:
            yield replace(thing, also=rng.choice(others))
        else:
            yield thing


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
    drawn: list[Receptacle] = []
    for kind in dict.fromkeys(needed):
        drawn.append(next(r for r in shuffled if r.kind == kind))
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
    allowed: Callable[[str, str], bool],
    *,
    as_wide: bool = False,
) -> tuple[Thing, ...]:
    """Draws up to three objects of each kind of the floor plan, and a lamp if the floor
    plan has one. With `as_wide`, there are sometimes more, and some are listed in two
    receptacles. `least(kind)` is the minimum number of objects of a kind, and
    `allowed(kind, receptacle_kind)` says where they may lie. A kind that no receptacle
    of the house may hold is left out.
    """
    things: list[Thing] = []
    for kind in plan.objects:
        holders = [r for r in receptacles if allowed(kind, r.kind)]
        if holders:
            count = rng.randint(least(kind), _most(rng, kind, as_wide))
            for rank in range(count):
                things.append(_thing(kind, _draw_holder(rng, holders), rank))
    stands = [r for r in receptacles if r.kind in STANDS]
    if plan.lamp and stands:
        for rank in range(_most(rng, LAMP, as_wide)):
            things.append(_thing(LAMP, rng.choice(stands), rank))
    return tuple(_listed_twice(rng, things, receptacles) if as_wide else things)


def _most(rng: Random, kind: str, as_wide: bool) -> int:
    most = (1, MOST_OF_A_KIND)
    if as_wide:
        most = rng.choices([*MOST_IN_WIDE], [*MOST_IN_WIDE.values()])[0]
    fixtures, others = most
    return fixtures if kind in UNTOUCHED else others


def _draw_holder(rng: Random, holders: Sequence[Receptacle]) -> Receptacle:
    """Draws a kind first and then one receptacle of the kind, so that a table holds
    more than each of ten drawers.
    """
    kind = rng.choice(sorted({receptacle.kind for receptacle in holders}))
    return rng.choice([receptacle for receptacle in holders if receptacle.kind == kind])


def _thing(kind: str, inside: Receptacle, rank: int) -> Thing:
    """Names an object after its position, as in ALFRED. Objects of one kind lie at
    different heights.
    """
    x, y, z = map(float, inside.id.split("|")[1:4])
    height = y + 0.01 * (rank + 1)
    return Thing(f"{kind}|{x:+06.2f}|{height:+06.2f}|{z:+06.2f}", kind, inside)
