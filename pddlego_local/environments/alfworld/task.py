"""Reads an ALFWorld game's task sentence, which is a filled-in template of ALFWorld's,
and derives the goals for the hand-written domain (domain.pddl).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from pddlego_local.core.errors import EnvironmentFault
from pddlego_local.core.nouns import Goal, Turns
from pddlego_local.environments import family
from pddlego_local.environments.alfworld.room_map import (
    RoomMap,
    class_of,
    of_class,
    pddl_name,
)

Kind = Literal["put", "clean", "heat", "cool", "look"]
TOOLS = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}
STATES = {
    "clean": "clean",
    "heat": "hot",
    "cool": "cool",
    "slice": "sliced",
    "turn on": "used",
}
"""Treatment → the predicate that holds for an object after it."""

_KINDS: dict[str, Kind] = {
    "clean": "clean",
    "hot": "heat",
    "heat": "heat",
    "cool": "cool",
}
_SENTENCES: list[str] = family.words(__package__, "sentences.yaml")["sentences"]

OPEN_ANY = Goal(
    "look into a closed receptacle",
    "(exists (?r - receptacle) (and (opened ?r) (not (explored ?r))))",
)
VISIT_ANY = Goal(
    "be at a receptacle that is not visited yet",
    "(exists (?r - receptacle) (and (at ?r) (not (visited ?r))))",
)


@dataclass(frozen=True)
class Task:
    """The task of a game. `object`, `receptacle` and `lamp` are classes ("mug"), not
    single things ("mug 2"). `receptacle` is "" for the kind "look", and `lamp` is ""
    for all other kinds. `count` objects are to be put into one receptacle.
    """

    kind: Kind
    object: str
    receptacle: str = ""
    lamp: str = ""
    count: int = 1
    sliced: bool = False

    @property
    def treatments(self) -> tuple[str, ...]:
        """Returns what has to be done to the object, in order, such as ("slice",
        "heat").
        """
        treatments = []
        if self.sliced:
            treatments.append("slice")
        if self.kind in TOOLS:
            treatments.append(self.kind)
        return tuple(treatments)


def parse_task(sentence: str) -> Task:
    """Reads a sentence such as "heat some mug and put it in cabinet". Raises
    EnvironmentFault for other sentences: "put all …", and carrying things in a bowl or
    the like, for which the game has no action.
    """
    words = sentence.strip().removesuffix(".").lower()
    for sentence_form in _SENTENCES:
        pattern = sentence_form.replace("OBJ", r"(?P<object>\w+)")
        pattern = pattern.replace("RECEP", r"(?P<place>\w+)")
        if match := re.fullmatch(pattern, words):
            return _task_of(match.groupdict(default=""))
    raise EnvironmentFault(
        f"the task of this ALFWorld game cannot be read: {sentence!r}. Leave the game"
        " out: only sentences from the templates of ALFWorld's six kinds of tasks can"
        " be played."
    )


def _task_of(parts: Mapping[str, str]) -> Task:
    """Returns the task of a sentence with these named parts."""
    kind: Kind = "put"
    if "state" in parts:
        kind = _KINDS[parts["state"]]
    elif "lamp" in parts:
        kind = "look"
    return Task(
        kind=kind,
        object=parts["object"],
        receptacle=parts.get("place", ""),
        lamp=parts.get("lamp", ""),
        count=2 if "two" in parts else 1,
        sliced=bool(parts.get("sliced")),
    )


def read_task(memory: Turns) -> Task:
    """Returns the task in the first observation. Raises EnvironmentFault if the
    observation has none.
    """
    match = re.search(r"Your task is to: (.+)", memory[0].text)
    if not match:
        raise EnvironmentFault(
            f"the first observation states no task: {memory[0].text!r}"
        )
    return parse_task(match[1])


def goals(memory: Turns) -> tuple[Goal, ...]:
    """Returns the goals for domain.pddl: the end goal, then what is missing for it,
    then exploring (PDDLego §2).

    Exploring names one place, because a planner that may choose takes any place. Open
    surfaces come before the closed receptacles of which a room has many; the order is
    in search.yaml and was made by hand. A closed receptacle is opened when the player
    stands at it. Receptacles that share the player's spot come last. A player who
    carries the task's object begins with the receptacles that it has to be put into. If
    the model has not declared the place, any other place is accepted. Only the end goal
    can be already true.
    """
    task = read_task(memory)
    room = RoomMap.of(memory)
    found = [_end(task), *_missing(task, room)]
    carries = class_of(room.held) == task.object
    place = room.next_place(task.receptacle if carries else "")
    if place:
        found.append(_explore(place, closed=place in room.closed))
    return (*found, OPEN_ANY, VISIT_ANY)


def _end(task: Task) -> Goal:
    if task.kind == "look":
        return _look(task)
    return _put(task, task.count)


def _missing(task: Task, room: RoomMap) -> Iterator[Goal]:
    """Yields what can be done now with the things that were seen."""
    if not of_class(task.object, room.objects):
        return
    slices = of_class(task.object, room.treated["slice"])
    if task.sliced and len(slices) < task.count:
        yield _slice(task, len(slices) + 1)
        if "knife" not in class_of(room.held):
            yield Goal("hold a knife", "(exists (?k - sharpObject) (holding ?k))")
        return
    placed = len(placed_best(task, room))
    for count in range(task.count - 1, placed, -1):
        yield _put(task, count)
    if class_of(room.held) != task.object:
        yield _hold(task, placed)


def _explore(place: str, *, closed: bool) -> Goal:
    name = pddl_name(place)
    if closed:
        words = f"look into {place}"
        condition = f"(and (opened {name}) (not (explored {name})))"
    else:
        words = f"be at {place}"
        condition = f"(and (at {name}) (not (visited {name})))"
    return Goal(words, condition)


def _variables(count: int) -> list[str]:
    return [f"?o{number}" for number in range(1, count + 1)]


def _put(task: Task, count: int) -> Goal:
    things = _variables(count)
    states = [STATES[treatment] for treatment in task.treatments]
    what = " ".join([_amount(count), *states, task.object])
    condition = _exists(task, things, things)
    return Goal(f"put {what} in or on one {task.receptacle}", condition)


def _hold(task: Task, placed: int) -> Goal:
    """Requires one more object in the hand; the placed objects stay where they are."""
    there = _variables(placed)
    condition = _exists(task, ["?held", *there], there, ["(holding ?held)"])
    which = "another" if placed else "a"
    return Goal(f"hold {which} {task.object}", condition)


def _slice(task: Task, count: int) -> Goal:
    things = _variables(count)
    sliced = [f"(sliced {thing})" for thing in things]
    condition = _exists(task, things, (), sliced)
    return Goal(f"slice {_amount(count)} {task.object}", condition)


def _amount(count: int) -> str:
    return str(count) if count > 1 else "a"


def _look(task: Task) -> Goal:
    """Requires the lamp to be where the player is when the game checks the task, so
    that using the lamp comes last.
    """
    sliced = "(sliced ?o) " if task.sliced else ""
    return Goal(
        f"hold a {task.object} beside a {task.lamp} that was turned on",
        f"(exists (?o - {task.object} ?l - {task.lamp} ?r - receptacle)"
        f" (and {sliced}(holding ?o) (used ?l) (in ?l ?r) (at ?r)))",
    )


def _exists(
    task: Task,
    things: Sequence[str],
    placed: Sequence[str],
    conditions: Sequence[str] = (),
) -> str:
    """Returns a condition on different `things`: those in `placed` are treated and
    together in one receptacle.
    """
    variables = f"{' '.join(things)} - {task.object}"
    if placed:
        variables += f" ?r - {task.receptacle}"
    facts = []
    for first, second in combinations(things, 2):
        facts.append(f"(not (= {first} {second}))")
    facts += conditions
    states = [STATES[treatment] for treatment in task.treatments]
    for thing in placed:
        facts += [f"({state} {thing})" for state in states]
    facts += [f"(in {thing} ?r)" for thing in placed]
    condition = " ".join(facts)
    return f"(exists ({variables}) (and {condition}))"


def placed_best(task: Task, room: RoomMap) -> list[str]:
    """Returns the largest group of objects that lie in one receptacle as the task
    requires, treated as it requires. The group is never complete during a game, because
    the game ends with the last object.
    """
    groups = [fitting(task, room, place) for place in room.inside]
    return max(groups, key=len, default=[])


def fitting(task: Task, room: RoomMap, place: str) -> list[str]:
    """Returns the objects in this receptacle that satisfy the task. There are none if
    the receptacle is of another class.
    """
    if class_of(place) != task.receptacle:
        return []
    objects = of_class(task.object, room.inside.get(place, ()))
    for treatment in task.treatments:
        objects = [thing for thing in objects if thing in room.treated[treatment]]
    return objects
