"""The steps of an ALFWorld task: their words, which remain, what each needs and leads to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pddlego_local.environments.alfworld.room_map import RoomMap, class_of, of_class
from pddlego_local.environments.alfworld.task import STATES, TOOLS, Task, fitting, placed_best
from pddlego_local.environments.writing import Fact

KNIVES = ("knife", "butterknife")


@dataclass(frozen=True)
class Step:
    """What is done to the `number`-th object of the task."""

    verb: Literal["slice", "take", "clean", "heat", "cool", "look", "put"]
    number: int
    words: str


def steps(task: Task) -> Iterator[Step]:
    """All steps of the task in order."""
    thing = f"sliced {task.object}" if task.sliced else task.object
    for number in range(1, task.count + 1):
        a, the, where = ("a", "the", "a") if number == 1 else ("another", "the other", "the same")
        if task.sliced:
            yield Step("slice", number, f"slice {a} {task.object} with a knife")
        yield Step("take", number, f"find and take {a} {thing}")
        if task.kind == "look":
            yield Step("look", number, f"look at {the} {thing} under a {task.lamp}")
            continue
        if task.kind != "put":
            yield Step(task.kind, number, f"{task.kind} {the} {thing} with a {TOOLS[task.kind]}")
        yield Step("put", number, f"put {the} {thing} in/on {where} {task.receptacle}")


@dataclass(frozen=True)
class Progress:
    """A task and what is known of the room while it is carried out."""

    task: Task
    room: RoomMap

    def remaining(self) -> list[Step]:
        return [step for step in steps(self.task) if not self.done(step)]

    def done(self, step: Step) -> bool:
        placed = len(placed_best(self.task, self.room))
        if step.number != placed + 1:
            return step.number <= placed
        thing = self.subject(step)
        if step.verb == "take":
            return thing == self.room.held != "" and (
                not self.task.sliced or thing in self.room.treated["slice"]
            )
        return thing in self.room.treated[step.verb]

    def subject(self, step: Step) -> str:
        """The object that a step is about: the furthest on, the nearest; "" if none was seen."""
        placed = placed_best(self.task, self.room)
        if step.number <= len(placed):
            return placed[step.number - 1]
        objects = of_class(self.task.object, self.room.objects)
        others = [thing for thing in objects if thing not in placed]
        return max(others, key=self._progress_of, default="")

    def destination(self, thing: str = "") -> str:
        """Where to put a thing: where most are already, what is open, where the thing lies, or here
        if it is in the hand. "" if none is known, that is seen open or closed.

        Where one stands does not count while the thing lies elsewhere: on the way to it the choice
        would change, and one action at a time would lead back and forth.
        """
        room = self.room
        near = room.where(thing) or room.here

        def rank(place: str) -> tuple[int, bool, bool]:
            return len(fitting(self.task, room, place)), place in room.inside, place == near

        places = of_class(self.task.receptacle, room.receptacles)
        seen = [place for place in places if place in room.inside or place in room.closed]
        return max(seen, key=rank, default="")

    def sought(self, step: Step) -> str:
        """The class of what a step needs and nobody has seen; "" if the step can be planned."""
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
        """An object of these classes: held, or here, or anywhere; "" if none was seen."""
        things = [thing for thing in self.room.objects if class_of(thing) in classes]
        return max(things, key=self._nearness, default="")

    def result(self, planned: Sequence[Step]) -> list[Fact]:
        """What is true after these steps, all about one object."""
        thing = self.subject(planned[0])
        if planned[0].number <= len(placed_best(self.task, self.room)):
            return [("in", thing, self.destination(thing))]
        states: list[Fact] = []
        place: list[Fact] = []
        for step in planned:
            if step.verb == "take":
                place = [("holding", thing)]
            elif step.verb == "put":
                place = [("in", thing, self.destination(thing))]
            elif step.verb == "look":
                lamp = self.nearest([self.task.lamp])
                place = [("holding", thing), ("used", lamp), ("at", self.room.where(lamp))]
            else:
                states.append((STATES[step.verb], thing))
        return states + place

    def _progress_of(self, thing: str) -> tuple[int, int]:
        done = sum(thing in self.room.treated[treatment] for treatment in self.task.treatments)
        return done, self._nearness(thing)

    def _nearness(self, thing: str) -> int:
        """2 in the hand, 1 here, 0 elsewhere."""
        if thing == self.room.held:
            return 2
        return int(bool(self.room.here) and self.room.where(thing) == self.room.here)
