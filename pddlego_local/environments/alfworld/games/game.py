"""One generated game: its task (what to put where, and how treated), and its house."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import NamedTuple

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.alfworld.games.house import (
    House,
    draw_receptacles,
    draw_things,
    most_of,
)
from pddlego_local.environments.alfworld.games.layout import (
    ALFRED,
    KNIVES,
    LAMP,
    STANDS,
    UNSEEN,
    FloorPlan,
    catalogue,
    draw_goal,
    floor_plan,
    rules,
)
from pddlego_local.environments.alfworld.process import AlfworldGame

PLAIN_TYPES: tuple[str, ...] = tuple(ALFRED["task_types"])
SLICED = "+slice"
TASK_TYPES = (
    *PLAIN_TYPES,
    *(kind + SLICED for kind in PLAIN_TYPES if not kind.startswith("look")),
)
"""ALFWorld's six task types, and the five that ALFRED also has with a slice."""

SPLITS = ("train", "valid_seen", "valid_unseen")


class Treatment(NamedTuple):
    """What is done to an object before it is placed, and the kind of receptacle where
    it is done, such as ("heat", "Microwave"). Both are "" if nothing is done.
    """

    verb: str = ""
    tool: str = ""


_TREATMENTS = {kind: Treatment(*pair) for kind, pair in ALFRED["treatments"].items()}


@dataclass(frozen=True)
class Task:
    """The task of a game: put objects of `kind` into a receptacle of kind `target`,
    which is "" for tasks with a lamp.
    """

    plain: str
    sliced: bool
    kind: str
    target: str

    @property
    def amount(self) -> int:
        return 2 if self.plain == "pick_two_obj_and_place" else 1

    @property
    def treatment(self) -> Treatment:
        return _TREATMENTS.get(self.plain, Treatment())

    @property
    def parameters(self) -> dict[str, str | bool]:
        """Returns what the data set calls the parameters of the task."""
        return {
            "mrecep_target": "",
            "object_sliced": self.sliced,
            "object_target": self.kind,
            "parent_target": self.target,
            "toggle_target": "" if self.target else LAMP,
        }

    def allows(self, kind: str, holder: str) -> bool:
        """Returns whether an object of `kind` may lie in a receptacle of kind `holder`
        at the start.
        """
        if kind == self.kind and holder == self.target:
            return False
        return kind in catalogue().holds[holder]

    def least(self, kind: str) -> int:
        """Returns the minimum number of objects of `kind` in the house."""
        return self.amount if kind == self.kind else 1

    def needed(self, rng: Random, plan: FloorPlan) -> list[str]:
        """Returns the kinds of receptacles without which the task cannot be done."""
        needed = [kind for kind in (self.target, self.treatment.tool) if kind]
        for kinds in self._choices(plan):
            needed.append(rng.choice(kinds))
        return needed

    def fits(self, plan: FloorPlan) -> bool:
        """Returns whether the floor plan has everything that the task needs."""
        tool = self.treatment.tool
        if tool and tool not in plan.kinds:
            return False
        return all(self._choices(plan))

    def _choices(self, plan: FloorPlan) -> list[list[str]]:
        """Returns a list for the object, and for a knife and a lamp if they are needed:
        the kinds of receptacles that may hold it. A house needs one receptacle from
        each list.
        """
        choices = [self._holders([self.kind], plan)]
        if self.sliced:
            knives = [knife for knife in KNIVES if knife in plan.objects]
            choices.append(self._holders(knives, plan))
        if not self.target:
            stands = [kind for kind in plan.kinds if kind in STANDS]
            choices.append(stands if plan.lamp else [])
        return choices

    def _holders(self, kinds: Sequence[str], plan: FloorPlan) -> list[str]:
        return [
            holder
            for holder in plan.kinds
            if any(self.allows(kind, holder) for kind in kinds)
        ]


PlanOf = Callable[[int], FloorPlan]
"""Returns the floor plan of a number."""


def draw_task(
    rng: Random, task_type: str, split: str, plan_of: PlanOf = floor_plan
) -> tuple[FloorPlan, Task]:
    """Draws a floor plan first, then an object, then a target, so that a kind of object
    with fewer possible targets is not drawn less often.
    """
    offers = _offers(task_type, split, plan_of)
    number = rng.choice(list(offers))
    by_kind = offers[number]
    kind = rng.choice(list(by_kind))
    return plan_of(number), rng.choice(by_kind[kind])


@cache
def _offers(
    task_type: str, split: str, plan_of: PlanOf
) -> dict[int, dict[str, list[Task]]]:
    """Returns every possible task of the type, by floor plan and then by the kind of
    object.
    """
    seen = catalogue().seen
    numbers = dict.fromkeys(SPLITS, seen)
    numbers["valid_unseen"] = UNSEEN
    numbers[""] = tuple(sorted(seen + UNSEEN))
    if split not in numbers:
        raise ConfigError(
            f"there is no split {split!r}; the splits are: {', '.join(SPLITS)}"
        )
    offers = {}
    for number in numbers[split]:
        by_kind: dict[str, list[Task]] = {}
        for task in _tasks(task_type, plan_of(number)):
            by_kind.setdefault(task.kind, []).append(task)
        if by_kind:
            offers[number] = by_kind
    return offers


def _tasks(task_type: str, plan: FloorPlan) -> Iterator[Task]:
    classes = catalogue()
    plain = task_type.removesuffix(SLICED)
    if plan.room not in classes.rooms[plain]:
        return
    treatment = _TREATMENTS.get(plain, Treatment())
    sliced = task_type.endswith(SLICED)
    kinds = set(plan.objects)
    if treatment.verb:
        kinds &= classes.able[f"{treatment.verb}able"]
    if sliced:
        kinds &= classes.slices
    for kind in sorted(kinds):
        targets = [""]
        if not plain.startswith("look"):
            holders = [holder for holder in plan.kinds if kind in classes.holds[holder]]
            targets = [holder for holder in holders if holder != treatment.tool]
        for target in targets:
            task = Task(plain, sliced, kind, target)
            if task.fits(plan):
                yield task


@dataclass(frozen=True, kw_only=True)
class GeneratedGame(AlfworldGame):
    """One generated game, in memory. `sentence` is the task in words."""

    house: House
    task: Task
    sentence: str


def make_game(seed: int, task_type: str, split: str = "") -> GeneratedGame:
    """Returns the game of this seed and task type (TASK_TYPES). The same arguments give
    the same game. `split` selects the floor plans that the data set keeps for it; ""
    selects all. Raises ConfigError for a negative seed and for an unknown task type or
    split, and MissingPart without `alfworld`.
    """
    if seed < 0:
        raise ConfigError(f"the seed of a game cannot be negative: {seed}")
    if task_type not in TASK_TYPES:
        raise ConfigError(
            f"no task type {task_type!r}; the types are: {', '.join(TASK_TYPES)}"
        )
    rng = Random(f"{task_type} {seed}")
    plan, task = draw_task(rng, task_type, split)
    needed = task.needed(rng, plan)
    receptacles = draw_receptacles(rng, plan, needed)
    things = draw_things(rng, plan, receptacles, task.least, most_of, task.allows)
    house = House(plan, receptacles, things)
    return game_in(rng, house, task, f"plan_trial_{seed:08d}")


def game_in(rng: Random, house: House, task: Task, name: str) -> GeneratedGame:
    """Draws the sentence of the task, and returns the game."""
    sentence, goal = draw_goal(rng, task.plain, task.parameters)
    domain, grammar = rules(sentence)
    return GeneratedGame(
        task_type=task.plain + (SLICED if task.sliced else ""),
        domain=domain,
        grammar=grammar,
        problem=house.problem(name, goal),
        floor_plan=f"FloorPlan{house.plan.number}",
        house=house,
        task=task,
        sentence=sentence,
    )
