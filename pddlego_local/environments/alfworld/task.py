"""What an ALFWorld game asks for: its task sentence, one of the templates that ALFWorld fills in,
and the goals that follow from it for the hand-written domain (domain.pddl).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from pddlego_local.core.errors import EnvironmentFault
from pddlego_local.core.nouns import Goal, Turn
from pddlego_local.environments import family
from pddlego_local.environments.alfworld.room_map import RoomMap, class_of, of_class, pddl_name

Kind = Literal["put", "clean", "heat", "cool", "look"]
TOOLS = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}
STATES = {"clean": "clean", "heat": "hot", "cool": "cool", "slice": "sliced", "turn on": "used"}
"""What an object is after each treatment: the predicates' names."""

_KINDS: dict[str, Kind] = {"clean": "clean", "hot": "heat", "heat": "heat", "cool": "cool"}
_SENTENCES = [
    re.compile(sentence.replace("OBJ", r"(?P<object>\w+)").replace("RECEP", r"(?P<place>\w+)"))
    for sentence in family.words(__package__, "sentences.yaml")["sentences"]
]

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
    """`object`, `receptacle` and `lamp` are classes ("mug"), not single things ("mug 2").
    `receptacle` is "" for the kind "look", `lamp` for all others. `count` objects are to be put
    into one receptacle."""

    kind: Kind
    object: str
    receptacle: str = ""
    lamp: str = ""
    count: int = 1
    sliced: bool = False

    @property
    def treatments(self) -> tuple[str, ...]:
        """What has to be done to the object, in order: ("slice", "heat")."""
        return ("slice",) * self.sliced + (self.kind,) * (self.kind in ("clean", "heat", "cool"))


def parse_task(sentence: str) -> Task:
    """Reads "heat some mug and put it in cabinet". Raises EnvironmentFault for other sentences:
    "put all …", and carrying things in a bowl or the like, for which the game has no action."""
    words = sentence.strip().removesuffix(".").lower()
    for template in _SENTENCES:
        if match := template.fullmatch(words):
            parts = match.groupdict(default="")
            kind = _KINDS[parts["state"]] if "state" in parts else "put"
            return Task(
                "look" if "lamp" in parts else kind,
                parts["object"],
                parts.get("place", ""),
                parts.get("lamp", ""),
                2 if "two" in parts else 1,
                bool(parts.get("sliced")),
            )
    raise EnvironmentFault(
        f"this ALFWorld game sets a task that cannot be read: {sentence!r}. "
        "Leave the game out: only sentences from the templates of ALFWorld's six kinds are played."
    )


def read_task(memory: Sequence[Turn]) -> Task:
    """The task that the first observation tells. EnvironmentFault if it tells none."""
    match = re.search(r"Your task is to: (.+)", memory[0].text)
    if not match:
        raise EnvironmentFault(f"the first look tells no task: {memory[0].text!r}")
    return parse_task(match[1])


def goals(memory: Sequence[Turn]) -> tuple[Goal, ...]:
    """For domain.pddl: the end goal, then what is missing for it, then exploring (PDDLego §2).

    Exploring names one place, because a planner that may choose takes any: surfaces before what is
    closed and comes by the dozen (search.yaml, by hand). A closed place is opened when the player
    stands at it; what shares this spot comes last; a player who carries the task's object begins
    with the receptacles that it is wanted in. Where the model has not declared the place, any other
    will do. Only the end goal can be already true.
    """
    task, room = read_task(memory), RoomMap.of(memory)
    end = _look(task) if task.kind == "look" else _put(task, task.count)
    carries = class_of(room.held) == task.object
    place = room.next_place(task.receptacle if carries else "")
    exploring = [_explore(place, closed=place in room.closed)] if place else []
    return (end, *_missing(task, room), *exploring, OPEN_ANY, VISIT_ANY)


def _missing(task: Task, room: RoomMap) -> Iterator[Goal]:
    """What can be done now, as far as the things for it were seen."""
    if not of_class(task.object, room.objects):
        return
    sliced = len(of_class(task.object, room.treated["slice"]))
    if task.sliced and sliced < task.count:
        yield _slice(task, sliced + 1)
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
        return Goal(f"look into {place}", f"(and (opened {name}) (not (explored {name})))")
    return Goal(f"be at {place}", f"(and (at {name}) (not (visited {name})))")


def _variables(count: int) -> list[str]:
    return [f"?o{number}" for number in range(1, count + 1)]


def _put(task: Task, count: int) -> Goal:
    things = _variables(count)
    states = "".join(f"{STATES[treatment]} " for treatment in task.treatments)
    what = f"{count if count > 1 else 'a'} {states}{task.object}"
    return Goal(f"put {what} in or on one {task.receptacle}", _exists(task, things, things))


def _hold(task: Task, placed: int) -> Goal:
    """Hold one more; those that are placed stay where they are."""
    there = _variables(placed)
    condition = _exists(task, ["?held", *there], there, "(holding ?held)")
    return Goal(f"hold {'another' if placed else 'a'} {task.object}", condition)


def _slice(task: Task, count: int) -> Goal:
    things = _variables(count)
    condition = _exists(task, things, (), *(f"(sliced {thing})" for thing in things))
    return Goal(f"slice {count if count > 1 else 'a'} {task.object}", condition)


def _look(task: Task) -> Goal:
    """The lamp has to be here when the game looks, so that using it comes last."""
    sliced = "(sliced ?o) " * task.sliced
    return Goal(
        f"hold a {task.object} beside a {task.lamp} that was turned on",
        f"(exists (?o - {task.object} ?l - {task.lamp} ?r - receptacle)"
        f" (and {sliced}(holding ?o) (used ?l) (in ?l ?r) (at ?r)))",
    )


def _exists(task: Task, things: Sequence[str], placed: Sequence[str], *conditions: str) -> str:
    """There are different `things`, those `placed` treated and together in one receptacle."""
    variables = f"{' '.join(things)} - {task.object}"
    if placed:
        variables += f" ?r - {task.receptacle}"
    different = [f"(not (= {first} {second}))" for first, second in combinations(things, 2)]
    states = [f"({STATES[done]} {thing})" for thing in placed for done in task.treatments]
    together = [f"(in {thing} ?r)" for thing in placed]
    return f"(exists ({variables}) (and {' '.join([*different, *conditions, *states, *together])}))"


def placed_best(task: Task, room: RoomMap) -> list[str]:
    """The most objects that lie in one receptacle as the task wants them there, treated as it says.
    Never all of them in a game that goes on: the game ends with the last."""
    return max((fitting(task, room, place) for place in room.inside), key=len, default=[])


def fitting(task: Task, room: RoomMap, place: str) -> list[str]:
    """The objects in this receptacle that count for the task: none if it is of another class."""
    return [
        thing
        for thing in of_class(task.object, room.inside.get(place, ()))
        if class_of(place) == task.receptacle
        and all(thing in room.treated[treatment] for treatment in task.treatments)
    ]
