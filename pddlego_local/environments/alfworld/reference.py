"""The answers of a perfect model in ALFWorld: PDDL, problem files, sub-goals.

They come from rules, not from a language model. The rules read the same memory that a
prompt shows. Each plan does everything that can be done with what is known, or else
looks into the likeliest place. The order of the search is data (search.yaml), and it is
the same for everything that is sought. Separate orders for every class of objects ("an
egg is in the fridge") were tried on 140 real games and were no better, because objects
lie anywhere.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from typing import Literal

from pddlego_local.core.nouns import Turns
from pddlego_local.environments import family
from pddlego_local.environments.alfworld.game import command as command
from pddlego_local.environments.alfworld.room_map import (
    MIDDLE,
    RoomMap,
    class_of,
    of_class,
    pddl_name,
)
from pddlego_local.environments.alfworld.task import (
    STATES,
    TOOLS,
    Task,
    fitting,
    placed_best,
    read_task,
)
from pddlego_local.environments.tables import domain_text
from pddlego_local.environments.writing import (
    Fact,
    atoms,
    of_each,
    of_pairs,
    problem_file,
)

KNIVES = ("knife", "butterknife")
DOMAIN = domain_text(__package__, "reference.pddl")
TYPES = {tool: f"{tool}Receptacle" for tool in TOOLS.values()}
TYPES |= dict.fromkeys(KNIVES, "sharpObject")
_HAND_WRITTEN = family.text(__package__, "domain.pddl")
CLASSES = frozenset(re.findall(r"\b[a-z]+\b", _HAND_WRITTEN))
"""The words of the hand-written domain. Among them are the classes that it has as
types, by their own names.
"""
KNIFE_PLACES = (
    "coffeetable",
    "countertop",
    "diningtable",
    "drawer",
    "sidetable",
    "sinkbasin",
)
"""The classes of receptacles into which ALFWorld allows a knife to be put."""

Verb = Literal["slice", "take", "clean", "heat", "cool", "look", "put"]
WORDS: Mapping[Verb, str] = {
    "slice": "slice {a} {object} with a knife",
    "take": "find and take {a} {thing}",
    "clean": "clean {the} {thing} with a sinkbasin",
    "heat": "heat {the} {thing} with a microwave",
    "cool": "cool {the} {thing} with a fridge",
    "look": "look at {the} {thing} under a {lamp}",
    "put": "put {the} {thing} in/on {where} {receptacle}",
}


@dataclass(frozen=True)
class Step:
    """One action on the `number`-th object of the task."""

    verb: Verb
    number: int
    words: str


def steps(task: Task) -> Iterator[Step]:
    """Yields all steps of the task in order."""
    verbs: list[Verb] = ["take"]
    if task.sliced:
        verbs.insert(0, "slice")
    if task.kind != "put":
        verbs.append(task.kind)
    if task.kind != "look":
        verbs.append("put")
    words = asdict(task)
    words["thing"] = f"sliced {task.object}" if task.sliced else task.object
    for number in range(1, task.count + 1):
        if number == 1:
            words.update(a="a", the="the", where="a")
        else:
            words.update(a="another", the="the other", where="the same")
        for verb in verbs:
            yield Step(verb, number, WORDS[verb].format(**words))


@dataclass(frozen=True)
class Progress:
    """A task and what is known of the room while it is carried out."""

    task: Task
    room: RoomMap

    def remaining(self) -> list[Step]:
        return [step for step in steps(self.task) if not self.done(step)]

    def done(self, step: Step) -> bool:
        placed = len(self.placed)
        if step.number <= placed:
            return True
        if step.number > placed + 1:
            return False
        thing = self.subject(step)
        treated = self.room.treated
        if step.verb != "take":
            return thing in treated[step.verb]
        if self.task.sliced and thing not in treated["slice"]:
            return False
        return bool(thing) and thing == self.room.held

    @property
    def placed(self) -> list[str]:
        """Returns the objects that are where they have to be."""
        return placed_best(self.task, self.room)

    def subject(self, step: Step) -> str:
        """Returns the object that a step is about: the one that is treated furthest,
        then the nearest; "" if none was seen.
        """
        placed = self.placed
        if step.number <= len(placed):
            return placed[step.number - 1]
        objects = of_class(self.task.object, self.room.objects)
        others = [thing for thing in objects if thing not in placed]
        return max(others, key=self._progress_of, default="")

    def destination(self, thing: str = "") -> str:
        """Returns the receptacle to put a thing into; "" if none was seen, open or
        closed.

        Receptacles with the most placed objects are preferred, then open ones, then the
        one where the thing lies, or the one here if the thing is in the hand. While the
        thing lies elsewhere, the player's place is ignored. Otherwise the choice would
        change on the way to the thing, and a method that plans one action at a time
        would walk back and forth.
        """
        room = self.room
        near = room.where(thing) or room.here

        def rank(place: str) -> tuple[int, bool, bool]:
            placed = fitting(self.task, room, place)
            return len(placed), place in room.inside, place == near

        places = of_class(self.task.receptacle, room.receptacles)
        known = room.closed.union(room.inside)
        seen = [place for place in places if place in known]
        return max(seen, key=rank, default="")

    def sought(self, step: Step) -> str:
        """Returns the class of what a step needs and was not seen yet; "" if the step
        can be planned.
        """
        if not self.subject(step):
            return self.task.object
        if step.verb == "slice" and not self.nearest(KNIVES):
            return KNIVES[0]
        if step.verb == "look" and not self.nearest([self.task.lamp]):
            return self.task.lamp
        if step.verb == "put" and not self.destination():
            return self.task.receptacle
        return ""

    def nearest(self, classes: Sequence[str]) -> str:
        """Returns an object of these classes, preferably held, then here, then
        anywhere; "" if none was seen.
        """
        things = [thing for thing in self.room.objects if class_of(thing) in classes]
        return max(things, key=self._nearness, default="")

    def result(self, planned: Sequence[Step]) -> list[Fact]:
        """Returns the facts that hold after these steps, which are all about one
        object.
        """
        thing = self.subject(planned[0])
        put: Fact = ("in", thing, self.destination(thing))
        if planned[0].number <= len(self.placed):
            return [put]
        states: list[Fact] = []
        place: list[Fact] = []
        for step in planned:
            match step.verb:
                case "take":
                    place = [("holding", thing)]
                case "put":
                    place = [put]
                case "look":
                    place = [("holding", thing), *self._under_lamp()]
                case treatment:
                    states.append((STATES[treatment], thing))
        return states + place

    def _under_lamp(self) -> list[Fact]:
        lamp = self.nearest([self.task.lamp])
        return [("used", lamp), ("at", self.room.where(lamp))]

    def _progress_of(self, thing: str) -> tuple[int, int]:
        treated = self.room.treated
        done = [kind for kind in self.task.treatments if thing in treated[kind]]
        return len(done), self._nearness(thing)

    def _nearness(self, thing: str) -> int:
        """Returns 2 for a thing in the hand, 1 for a thing here, and 0 for others."""
        room = self.room
        if thing == room.held:
            return 2
        is_here = room.here and room.where(thing) == room.here
        return 1 if is_here else 0


def formalize(
    memory: Turns, goal: str = "", offered: Sequence[str] = ()
) -> tuple[str, str]:
    """Returns (domain, problem) whose plan is the next part of the way to the end of
    the task.

    `goal` is a sub-goal that `subgoals` has returned in this game (KeyError otherwise).
    The plan then leads to this sub-goal alone, and is empty if the sub-goal is already
    reached. A receptacle that no `offered` command leads to shares the player's spot,
    and is looked into last.
    """
    task = read_task(memory)
    progress = Progress(task, RoomMap.of(memory, offered))
    ahead = progress.remaining()
    if goal:
        by_words = {step.words: step for step in steps(task)}
        ahead = [by_words[goal]]
    return DOMAIN, _problem(progress, _next_goal(progress, ahead))


def problem(memory: Turns) -> str:
    """Returns everything that is known, for the hand-written domain. The goal is only a
    placeholder."""
    room = RoomMap.of(memory)
    own = {name: name for name in CLASSES}
    typed = {MIDDLE: "receptacle"}
    typed |= _typed(room.receptacles, own, "receptacle")
    typed |= _typed(room.objects, own, "bluntObject")
    state = [
        *_facts(room, room.objects, room.receptacles),
        *of_each("visited", dict.fromkeys([MIDDLE, *room.visited])),
        *of_each("explored", room.inside),
    ]
    return _written("alfworld", typed, state, [_here(room)])


def _typed(
    things: Iterable[str], types: Mapping[str, str], otherwise: str
) -> dict[str, str]:
    """Returns the types of things by those of their classes."""
    return {thing: types.get(class_of(thing), otherwise) for thing in things}


def subgoals(memory: Turns) -> tuple[str, ...]:
    """Returns what remains to be done, in order, in words."""
    progress = Progress(read_task(memory), RoomMap.of(memory))
    return tuple(step.words for step in progress.remaining())


def _next_goal(progress: Progress, ahead: Sequence[Step]) -> list[Fact]:
    """Returns what is true after the steps that can be planned now, or else after
    looking into one more place.
    """
    room = progress.room
    plannable: list[Step] = []
    for step in ahead:
        if step.number != ahead[0].number or progress.sought(step):
            break
        plannable.append(step)
    if plannable:
        return progress.result(plannable)
    if not ahead:
        return [_here(room)]
    place = room.next_place(progress.sought(ahead[0]))
    if not place:
        return [_here(room)]
    return [("opened" if place in room.closed else "visited", place)]


def _problem(progress: Progress, goal: Sequence[Fact]) -> str:
    """Declares only what the goal is about: where it is, where it is treated, where it
    may be put.
    """
    room = progress.room
    named: set[str] = set()
    for fact in goal:
        named.update(fact)
    knife = progress.nearest(KNIVES) if "sliced" in named else ""
    needed = {*named, room.held, knife}
    things = [thing for thing in room.objects if thing in needed]
    origins = {}
    for thing in things:
        origins[thing] = room.where(thing) or room.taken_from[thing]
    places = _places(room, named, {*origins.values()})
    typed = _typed(places, TYPES, "receptacle")
    typed |= _typed(things, TYPES, "object")
    if not room.here:
        typed[MIDDLE] = "receptacle"
    visited = [place for place in places if place in room.visited]
    facts = [
        *_facts(room, things, places),
        *of_pairs("fits", origins.items()),
        *_further_fits(goal, knife, places),
        *of_each("visited", visited),
    ]
    return _written("household", typed, dict.fromkeys(facts), goal)


def _further_fits(
    goal: Sequence[Fact], knife: str, places: Sequence[str]
) -> Iterator[Fact]:
    """Yields what may be put where, besides everything where it comes from."""
    for predicate, *placed in goal:
        if predicate == "in":
            yield ("fits", *placed)
    for place in places:
        if knife and class_of(place) in KNIFE_PLACES:
            yield ("fits", knife, place)


def _places(room: RoomMap, named: Set[str], origins: Set[str]) -> list[str]:
    """Returns the receptacles that the goal names, that things come from, and that are
    needed to bring the goal about.
    """
    needed = {*named, *origins, room.here}
    tools = [tool for treatment, tool in TOOLS.items() if STATES[treatment] in named]
    places = [
        place
        for place in room.receptacles
        if place in needed or class_of(place) in tools
    ]
    unseen = [place for place in places if place not in room.visited]
    if any(room.beside(room.here, place) for place in unseen):
        # To see a receptacle at this spot, the player leaves and returns: add a place
        # to go to.
        others = room.receptacles
        apart = [place for place in others if not room.beside(room.here, place)]
        places += apart[:2]
    return places


def _here(room: RoomMap) -> Fact:
    return ("at", room.here or MIDDLE)


def _facts(
    room: RoomMap, things: Sequence[str], places: Sequence[str]
) -> Iterator[Fact]:
    """Yields what is known about these things and places, and about the player."""
    yield _here(room)
    if room.held:
        yield ("holding", room.held)
        yield ("hands-full",)
    for place in places:
        if place in room.closed:
            yield ("closed", place)
        elif place in room.inside:
            yield ("opened", place)
        elif room.beside(room.here, place):
            yield ("beside", room.here, place)
        for thing in room.inside.get(place, ()):
            if thing in things:
                yield ("in", thing, place)
    for treatment, state in STATES.items():
        for thing in things:
            if thing in room.treated[treatment]:
                yield (state, thing)


def _written(
    domain: str, typed: Mapping[str, str], facts: Iterable[Fact], goal: Sequence[Fact]
) -> str:
    """Returns the problem file. `typed` maps the objects to their types."""
    objects = []
    for thing, kind in typed.items():
        objects.append(f"{pddl_name(thing)} - {kind}")
    wanted = " ".join(atoms(goal, pddl_name))
    return problem_file(
        name=f"{domain}-now",
        domain=domain,
        objects=objects,
        facts=atoms(facts, pddl_name),
        goal=f"(and {wanted})",
    )
