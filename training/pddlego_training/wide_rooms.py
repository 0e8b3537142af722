"""ALFWorld with generated games in rooms as wide as ALFRED's. Some receptacles share a
spot. Such games cannot be guaranteed to be won in 50 actions.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from random import Random
from typing import Any

from pddlego_local.core.resources import table
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.alfworld.games.game import (
    GeneratedGame,
    Task,
    draw_task,
    game_in,
)
from pddlego_local.environments.alfworld.games.house import (
    House,
    Thing,
    draw_receptacles,
    draw_things,
)
from pddlego_local.environments.alfworld.games.layout import (
    LAMP,
    FloorPlan,
    Receptacle,
    kinds_in,
    listed,
    plan_with,
    unlisted,
)

_TABLES: dict[str, Any] = table(__file__)
FIXTURES: dict[str, list[str]] = _TABLES["fixtures"]
UNTOUCHED = frozenset({LAMP, *FIXTURES})
TWICE: dict[str, list[str]] = _TABLES["twice"]
AMOUNT: dict[str, list[int]] = _TABLES["amount"]
MANY_CABINETS = 15
"""Rooms with at least so many cabinets have more than the package lists: up to 27."""
COMMANDS = (8, 110)
"""The minimum and maximum number of commands that show everything in a room. A room has
a few or all of the receptacles that ALFRED's room has.
"""
MOST_UNTOUCHED = {1: 24, 2: 8, 3: 2}
"""The maximum number of a fixture or lamp → its weight in the draw."""
MOST_OF_OTHERS = {3: 24, 4: 8, 7: 2}
"""The same for the other kinds. A room can have more than ALFRED places, because
ALFRED's scenes also contain objects that ALFRED did not place.
"""


class WideAlfworld(Alfworld):
    """ALFWorld in such rooms. One serves all games of a process, because its engine
    takes seconds to start, and ends with the process.
    """

    def map_of(self, seed: int) -> str:
        """Returns the map of a game that is not played."""
        self._game = self._find(seed)
        return self.map

    def close(self) -> None:
        """Does nothing."""

    def _find(self, seed: int) -> GeneratedGame:
        task_type = self.task_types[seed % len(self.task_types)]
        return make_wide_game(seed, task_type, self.split)


def make_wide_game(seed: int, task_type: str, split: str = "") -> GeneratedGame:
    """Returns the game of this seed and task type, as `make_game` does."""
    rng = Random(f"{task_type} {seed}")
    plan, task = draw_task(rng, task_type, split, wide_plan)
    needed = task.needed(rng, plan)
    commands = rng.randint(*COMMANDS)
    receptacles = draw_receptacles(rng, plan, needed, commands)
    present = kinds_in(plan.number)
    fixtures = [kind for kind in FIXTURES if kind in present]
    things = draw_things(
        rng,
        replace(plan, objects=(*plan.objects, *fixtures)),
        receptacles,
        task.least,
        partial(_most, rng),
        partial(_allows, task),
    )
    both = tuple(_listed_twice(rng, things, receptacles))
    house = House(plan, receptacles, both)
    return game_in(rng, house, task, f"plan_trial_{seed:08d}")


def _most(rng: Random, kind: str) -> int:
    amounts = MOST_UNTOUCHED if kind in UNTOUCHED else MOST_OF_OTHERS
    (drawn,) = rng.choices(list(amounts), list(amounts.values()))
    return drawn


def _allows(task: Task, kind: str, holder: str) -> bool:
    if holder in FIXTURES.get(kind, ()):
        return True
    return task.allows(kind, holder)


@cache
def wide_plan(number: int) -> FloorPlan:
    """Returns the floor plan with the receptacles that share a spot too, and with more
    cabinets, burners and holders.
    """
    drawn = listed(number)
    tops = [place.place for place in drawn if place.kind == "CounterTop"]
    machines = _crowded(unlisted(number), tops[number % 3 :], number)
    return plan_with(number, [*drawn, *machines, *_more_cabinets(drawn)])


def _crowded(
    added: Iterable[Receptacle], tops: Sequence[str], number: int
) -> Iterator[Receptacle]:
    """Puts machines on the first of these countertops, two burners at one place, and
    the other burners at another place.
    """
    for receptacle in added:
        if tops and receptacle.kind in ("Toaster", "CoffeeMachine"):
            yield replace(receptacle, place=tops[0])
            continue
        amounts = AMOUNT.get(receptacle.kind, [1])
        together = 2 if receptacle.kind == "StoveBurner" else 1
        for rank in range(amounts[number % len(amounts)]):
            name = receptacle.id.replace("+00.00", f"+00.{rank:02}", 1)
            place = receptacle.place
            if rank >= together:
                place = place.replace("loc|", "loc|9")
            yield replace(receptacle, id=name, place=place)


def _more_cabinets(listed: Iterable[Receptacle]) -> Iterator[Receptacle]:
    """Adds a cabinet at the place of every second one if there are many."""
    cabinets = [receptacle for receptacle in listed if receptacle.kind == "Cabinet"]
    if len(cabinets) >= MANY_CABINETS:
        for cabinet in cabinets[::2]:
            yield replace(cabinet, id=f"{cabinet.id}|2")


def _listed_twice(
    rng: Random, things: Iterable[Thing], receptacles: Sequence[Receptacle]
) -> Iterator[Thing]:
    """Yields the things. Some of them get a second receptacle that lists them."""
    for thing in things:
        kinds = TWICE.get(thing.kind, ())
        places = [place for place in receptacles if place.kind in kinds]
        others = [place for place in places if place != thing.inside]
        if thing.inside in places and others and rng.random() < 0.4:
            yield replace(thing, also=rng.choice(others))
        else:
            yield thing
