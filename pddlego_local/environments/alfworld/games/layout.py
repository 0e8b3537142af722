"""Reads ALFRED's floor plans, and the tables of what goes where, from the `alfworld`
package.

Everything is read from the installed package; neither its simulator nor TextWorld is
imported. The package's tables are sets. Everything that this module returns is sorted,
so that draws depend on a seed alone.
"""

import json
import runpy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from types import SimpleNamespace
from typing import Any

from pddlego_local.environments import family
from pddlego_local.environments.alfworld.installation import find_package

LAMP = "DeskLamp"
KNIVES = ("ButterKnife", "Knife")
_ROLES = {"obj": "object", "recep": "parent", "toggle": "toggle", "mrecep": "mrecep"}
ALFRED = family.words(__package__, "alfred.yaml")
STANDS: list[str] = ALFRED["stands"]
FIXTURES: dict[str, list[str]] = ALFRED["fixtures"]
UNTOUCHED = frozenset({LAMP, *FIXTURES})
TWICE: dict[str, list[str]] = ALFRED["twice"]
AMOUNT: dict[str, list[int]] = ALFRED["amount"]
MANY_CABINETS: int = ALFRED["many_cabinets"]
UNSEEN: tuple[int, ...] = tuple(ALFRED["unseen"])
STEP_M = 0.25  # ALFRED writes locations in steps of its grid of 25 cm

_BASIN = "Basin"  # the part of a sink or bathtub that things are put in
_SIGNS = str.maketrans(
    {"-": "_minus_", "+": "_plus_", "|": "_bar_", ".": "_dot_", ",": "_comma_"}
)


@dataclass(frozen=True)
class Receptacle:
    """Something that holds objects: "Cabinet|+00.41|+00.48|+00.45" of kind "Cabinet".
    `place` is where the agent stands in front of it: "loc|5|4|3|30".
    """

    id: str
    kind: str
    place: str
    opens: bool


@dataclass(frozen=True)
class FloorPlan:
    """One of ALFRED's 120 rooms: its receptacles, and the kinds of objects found in
    it.
    """

    number: int
    room: str
    receptacles: tuple[Receptacle, ...]
    objects: tuple[str, ...]
    lamp: bool

    @property
    def kinds(self) -> list[str]:
        """Returns the kinds of its receptacles."""
        return sorted({receptacle.kind for receptacle in self.receptacles})


@dataclass(frozen=True)
class Catalogue:
    """The tables of the `alfworld` package."""

    holds: Mapping[str, frozenset[str]]
    """Kind of receptacle → the kinds of objects that it may hold."""
    objects: tuple[str, ...]
    able: Mapping[str, frozenset[str]]
    """Ability, such as "heatable" → the kinds of objects that have it."""
    slices: frozenset[str]
    """The kinds that ALFRED asks slices of. Eggs can be cut too, but there is no sliced
    egg.
    """
    rooms: Mapping[str, frozenset[str]]
    """Task type → the kinds of rooms in which ALFRED sets it."""
    seen: tuple[int, ...]
    """The floor plans that are not reserved for ALFRED's unseen splits (UNSEEN)."""


@cache
def catalogue() -> Catalogue:
    """Reads the tables. Raises MissingPart if `alfworld` is not installed."""
    tables: Any = _tables("constants")
    movable = frozenset(tables.MOVABLE_RECEPTACLES)
    holds: dict[str, frozenset[str]] = {}
    for kind, objects in sorted(tables.VAL_RECEPTACLE_OBJECTS.items()):
        if kind not in movable:
            holds[kind] = frozenset(o for o in objects if not o.endswith("Sliced"))
    actions = {
        name: frozenset(kinds) for name, kinds in tables.VAL_ACTION_OBJECTS.items()
    }
    coolable, sliceable = actions["Coolable"], actions["Sliceable"]
    every = sorted(tables.TRAIN_SCENE_NUMBERS) + sorted(tables.TEST_SCENE_NUMBERS)
    return Catalogue(
        holds=holds,
        objects=tuple(sorted(frozenset().union(*holds.values()))),
        able={
            "cleanable": actions["Cleanable"],
            "heatable": actions["Heatable"],
            "coolable": coolable,
            "sliceable": sliceable,
            "isReceptacleObject": movable,
        },
        slices=frozenset(kind for kind in sliceable if f"{kind}Sliced" in coolable),
        rooms={task: frozenset(rooms) for task, rooms in tables.GOALS_VALID.items()},
        seen=tuple(number for number in every if number not in UNSEEN),
    )


def rules(sentence: str) -> tuple[str, str]:
    """Returns (the PDDL domain of every game, the grammar of the texts of a game with
    this task sentence). Raises MissingPart if `alfworld` is not installed.
    """
    data = find_package() / "data"
    domain = (data / "alfred.pddl").read_text(encoding="utf-8")
    grammar = (data / "alfred.twl2").read_text(encoding="utf-8")
    return domain, grammar.replace("UNKNOWN GOAL", sentence)


def draw_goal(
    rng: Random, task_type: str, parameters: Mapping[str, Any]
) -> tuple[str, str]:
    """Returns (one of the package's sentences for the task, its goal in PDDL, which
    closes a problem). `task_type` and `parameters` are as in `traj_data.json`, where
    the parameters are called `pddl_params`.
    """
    name = f"{task_type}_slice" if parameters["object_sliced"] else task_type
    goal = _tables("goal_library").gdict[name]
    kinds: dict[str, str] = {
        role: parameters[f"{of}_target"] for role, of in _ROLES.items()
    }
    spoken = {role: kind.lower() for role, kind in kinds.items()}
    sentence: str = rng.choice(goal["templates"]).format(**spoken)
    return sentence, goal["pddl"].format(**kinds).replace("#", "-")


@cache
def floor_plan(number: int, *, shared: bool = False) -> FloorPlan:
    """Returns the floor plan with all receptacles that do not share a spot. With
    `shared`, it also has the receptacles that share one, and the other parts of a wide
    room: cabinets, burners and holders.

    "go to" fails from one receptacle to another at the same spot, so the receptacle of
    the rarer kind stays. The package lists no place for stoves, toasters, towel holders
    and the like. Such a kind is added once if the room has it, at a place off the grid.
    """
    listed = _layout(number, "openable")
    present = set(_layout(number, "objects"))
    tables: Any = _tables("constants")
    classes = catalogue()
    amount = Counter(map(kind_of, listed))
    by_place: dict[str, Receptacle] = {}
    for name in sorted(listed, key=lambda name: (amount[kind_of(name)], name)):
        kind, place = kind_of(name), _place(*listed[name])
        opens = kind in tables.OPENABLE_CLASS_SET
        if kind in classes.holds:
            receptacle = Receptacle(name, kind, place, opens)
            by_place.setdefault(name if shared else place, receptacle)
    drawn = list(by_place.values())
    kinds = present & classes.holds.keys()
    unlisted = sorted(kinds - amount.keys() - tables.OPENABLE_CLASS_SET)
    added = [
        Receptacle(unlisted_identifier(kind), kind, off_grid(rank), opens=False)
        for rank, kind in enumerate(unlisted, start=1)
    ]
    objects = [kind for kind in classes.objects if kind in present]
    if shared:
        tops = [place.place for place in drawn if place.kind == "CounterTop"]
        added = [*_crowded(added, tops[number % 3 :], number), *_more_cabinets(drawn)]
        objects += [kind for kind in FIXTURES if kind in present]
    rooms = [room for room, plans in tables.SCENE_TYPE.items() if number in plans]
    return FloorPlan(
        number=number,
        room=rooms[0],
        receptacles=(*drawn, *added),
        objects=tuple(objects),
        lamp=LAMP in present,
    )


def _layout(number: int, what: str) -> Any:
    """Returns what the package says of a floor plan: "objects" lists the kinds of
    things in it, and "openable" maps its receptacles to places.
    """
    file = find_package() / "gen" / "layouts" / f"FloorPlan{number}-{what}.json"
    return json.loads(file.read_text(encoding="utf-8"))


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
        amounts = AMOUNT.get(receptacle.kind, (1,))
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


def off_grid(rank: int) -> str:
    """Returns a place that no floor plan has. Agents start at rank 0, in the middle of
    the room.
    """
    return f"loc|{100 + rank}|{100 + rank}|0|30"


def _place(x: float, z: float, rotation: float, horizon: float) -> str:
    """Converts metres and degrees to a location as ALFRED writes it: grid steps,
    quarter turns, degrees.
    """
    steps = f"{round(x / STEP_M)}|{round(z / STEP_M)}"
    return f"loc|{steps}|{round(rotation / 90)}|{round(horizon)}"


@cache
def _tables(name: str) -> Any:
    """Runs one of the package's modules that contain only tables, from its file.
    Importing it by name would import `alfworld` itself, which makes a data folder in
    the user's home and sets ALFWORLD_DATA for the whole process.
    """
    return SimpleNamespace(**runpy.run_path(str(find_package() / "gen" / f"{name}.py")))


# ---- ALFRED's identifiers, and their names in PDDL and in the games


def pddl_name(identifier: str) -> str:
    """Returns "Apple_bar__minus_00_dot_14_bar__plus_00_dot_96" for
    "Apple|-00.14|+00.96".
    """
    return identifier.translate(_SIGNS)


def sorting_key(identifier: str) -> str:
    """Returns what the games sort things by."""
    return pddl_name(identifier).lower()


def spoken_names(identifiers: Iterable[str]) -> dict[str, str]:
    """Returns the game's name for every object and receptacle: "apple 1". The games
    number each kind downwards in the order of the PDDL names, in lower case
    (alfworld.agents.utils.misc.Demangler).
    """
    downwards = sorted(identifiers, key=sorting_key, reverse=True)
    amount: Counter[str] = Counter()
    names = {}
    for identifier in downwards:
        kind = kind_of(identifier).lower()
        amount[kind] += 1
        names[identifier] = f"{kind} {amount[kind]}"
    return names


def kind_of(identifier: str) -> str:
    """Returns "Cabinet" for "Cabinet|+00.41|…", and "SinkBasin" for
    "Sink|+00.00|+00.89|-01.44|SinkBasin". The first part of the identifier decides, as
    in the games: "Bathtub|…|SinkBasin" is a BathtubBasin.
    """
    first, *_, last = identifier.split("|")
    return f"{first}{_BASIN}" if last.endswith(_BASIN) else first


def unlisted_identifier(kind: str) -> str:
    """Returns the identifier of a receptacle that the floor plan does not list."""
    first = kind.removesuffix(_BASIN)
    position = "|+00.00|+00.00|+00.00"
    return f"{first}{position}|{kind}" if kind != first else f"{kind}{position}"
