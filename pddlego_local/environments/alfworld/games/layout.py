"""Reads ALFRED's floor plans, and the tables of what goes where, from the `alfworld`
package.

Everything is read from the installed package; neither its simulator nor TextWorld is
imported. The package's tables are sets. Everything that this module returns is sorted,
so that draws depend on a seed alone.
"""

import json
import runpy
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
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
    rooms: Mapping[str, Container[str]]
    """Task type → the kinds of rooms in which ALFRED sets it."""
    seen: tuple[int, ...]
    """The floor plans that are not reserved for ALFRED's unseen splits (UNSEEN)."""


@cache
def catalogue() -> Catalogue:
    """Reads the tables. Raises MissingPart if `alfworld` is not installed."""
    tables = _tables("constants")
    movable = frozenset(tables.MOVABLE_RECEPTACLES)
    holds = {}
    for kind, objects in sorted(tables.VAL_RECEPTACLE_OBJECTS.items()):
        if kind not in movable:
            holds[kind] = frozenset(
                name for name in objects if not name.endswith("Sliced")
            )
    able = {}
    for ability in ("Cleanable", "Heatable", "Coolable", "Sliceable"):
        able[ability.lower()] = frozenset(tables.VAL_ACTION_OBJECTS[ability])
    slices = [kind for kind in able["sliceable"] if f"{kind}Sliced" in able["coolable"]]
    able["isReceptacleObject"] = movable
    scenes = sorted(tables.TRAIN_SCENE_NUMBERS) + sorted(tables.TEST_SCENE_NUMBERS)
    seen = [number for number in scenes if number not in UNSEEN]
    every_object = frozenset[str]().union(*holds.values())
    return Catalogue(
        holds=holds,
        objects=tuple(sorted(every_object)),
        able=able,
        slices=frozenset(slices),
        rooms=tables.GOALS_VALID,
        seen=tuple(seen),
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
    kinds = {}
    for role, of in _ROLES.items():
        kinds[role] = parameters[f"{of}_target"]
    spoken = {role: kind.lower() for role, kind in kinds.items()}
    template: str = rng.choice(goal["templates"])
    sentence = template.format(**spoken)
    condition: str = goal["pddl"].format(**kinds)
    return sentence, condition.replace("#", "-")


@cache
def floor_plan(number: int) -> FloorPlan:
    """Returns the floor plan with all receptacles that do not share a spot.

    "go to" fails from one receptacle to another at the same spot, so the receptacle of
    the rarer kind stays.
    """
    by_place: dict[str, Receptacle] = {}
    for receptacle in listed(number):
        by_place.setdefault(receptacle.place, receptacle)
    return plan_with(number, [*by_place.values(), *unlisted(number)])


def plan_with(number: int, receptacles: Sequence[Receptacle]) -> FloorPlan:
    """Returns the floor plan with these receptacles."""
    rooms_of_kind = _tables("constants").SCENE_TYPE.items()
    rooms = [room for room, numbers in rooms_of_kind if number in numbers]
    present = kinds_in(number)
    objects = [kind for kind in catalogue().objects if kind in present]
    return FloorPlan(
        number=number,
        room=rooms[0],
        receptacles=tuple(receptacles),
        objects=tuple(objects),
        lamp=LAMP in present,
    )


def listed(number: int) -> list[Receptacle]:
    """Returns the receptacles for which the package lists a place, the rarest kinds
    first.
    """
    opening = _tables("constants").OPENABLE_CLASS_SET
    receptacles = []
    for name, spot in _layout(number, "openable").items():
        kind = kind_of(name)
        if kind in catalogue().holds:
            receptacles.append(
                Receptacle(name, kind, _place(*spot), opens=kind in opening)
            )
    amount = Counter(receptacle.kind for receptacle in receptacles)
    return sorted(receptacles, key=lambda place: (amount[place.kind], place.id))


def unlisted(number: int) -> list[Receptacle]:
    """Returns the receptacles for which the package lists no place: stoves, toasters,
    towel holders and the like. There is one of each kind that the room has, at a place
    off the grid.
    """
    kinds = kinds_in(number).intersection(catalogue().holds)
    kinds -= {receptacle.kind for receptacle in listed(number)}
    kinds -= _tables("constants").OPENABLE_CLASS_SET
    return [
        Receptacle(unlisted_identifier(kind), kind, off_grid(rank), opens=False)
        for rank, kind in enumerate(sorted(kinds), start=1)
    ]


def kinds_in(number: int) -> set[str]:
    """Returns the kinds of things in a room, receptacles included."""
    return set(_layout(number, "objects"))


def _layout(number: int, what: str) -> Any:
    """Returns what the package says of a floor plan: "objects" lists the kinds of
    things in it, and "openable" maps its receptacles to places.
    """
    layouts = find_package() / "gen" / "layouts"
    file = layouts / f"FloorPlan{number}-{what}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def off_grid(rank: int) -> str:
    """Returns a place that no floor plan has. Agents start at rank 0, in the middle of
    the room.
    """
    step = 100 + rank
    return f"loc|{step}|{step}|0|30"


def _place(x: float, z: float, rotation: float, horizon: float) -> str:
    """Converts metres and degrees to a location as ALFRED writes it: grid steps,
    quarter turns, degrees.
    """
    column = round(x / STEP_M)
    row = round(z / STEP_M)
    turns = round(rotation / 90)
    return f"loc|{column}|{row}|{turns}|{round(horizon)}"


@cache
def _tables(name: str) -> Any:
    """Runs one of the package's modules that contain only tables, from its file.
    Importing it by name would import `alfworld` itself, which makes a data folder in
    the user's home and sets ALFWORLD_DATA for the whole process.
    """
    file = find_package() / "gen" / f"{name}.py"
    return SimpleNamespace(**runpy.run_path(str(file)))


# ---- ALFRED's identifiers


def pddl_name(identifier: str) -> str:
    """Returns "Apple_bar__minus_00_dot_14_bar__plus_00_dot_96" for
    "Apple|-00.14|+00.96".
    """
    return identifier.translate(_SIGNS)


def kind_of(identifier: str) -> str:
    """Returns "Cabinet" for "Cabinet|+00.41|…", and "SinkBasin" for
    "Sink|+00.00|+00.89|-01.44|SinkBasin". The first part of the identifier decides, as
    in the games: "Bathtub|…|SinkBasin" is a BathtubBasin.
    """
    first, *_, last = identifier.split("|")
    return f"{first}{_BASIN}" if last.endswith(_BASIN) else first


def unlisted_identifier(kind: str) -> str:
    """Returns the identifier of a receptacle that the floor plan does not list."""
    identifier = f"{kind.removesuffix(_BASIN)}|+00.00|+00.00|+00.00"
    if kind.endswith(_BASIN):
        identifier += f"|{kind}"
    return identifier
