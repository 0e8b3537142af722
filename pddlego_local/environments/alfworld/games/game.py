"""One generated game: its task (what to put where, and how treated), and its house."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.alfworld.games.house import (
    SEARCH_LIMIT,
    House,
    draw_receptacles,
    draw_things,
)
from pddlego_local.environments.alfworld.games.layout import (
    ALFRED,
    FIXTURES,
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

_TREATMENTS: dict[str, tuple[str, str]] = {
    kind: (verb, tool) for kind, (verb, tool) in ALFRED["treatments"].items()
}

WIDE = (8, 110)
"""The minimum and maximum number of commands that show everything in a wide room. A
wide room has a few or all of the receptacles that ALFRED's room has.
"""


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
    def treatment(self) -> tuple[str, str]:
        """Returns (verb, receptacle kind), such as ("heat", "Microwave"), or two empty
        strings.
        """
        return _TREATMENTS.get(self.plain, ("", ""))

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
        held = catalogue().holds[holder]
        return kind in held or holder in FIXTURES.get(kind, ())

    def least(self, kind: str) -> int:
        """Returns the minimum number of objects of `kind` in the house."""
        return self.amount if kind == self.kind else 1

    def needed(self, rng: Random, plan: FloorPlan) -> list[str]:
        """Returns the kinds of receptacles without which the task cannot be done."""
        fixed = [kind for kind in (self.target, self.treatment[1]) if kind]
        return [*fixed, *(rng.choice(kinds) for kinds in self._choices(plan))]

    def fits(self, plan: FloorPlan) -> bool:
        """Returns whether the floor plan has everything that the task needs."""
        tool = self.treatment[1]
        return (not tool or tool in plan.kinds) and all(self._choices(plan))

    def _choices(self, plan: FloorPlan) -> list[list[str]]:
        """Returns a list for the object, and for a knife and a lamp if they are needed:
        the kinds of receptacles that may hold it. A house needs one receptacle from
        each list.
        """
        choices = [[kind for kind in plan.kinds if self.allows(self.kind, kind)]]
        if self.sliced:
            knives = [knife for knife in KNIVES if knife in plan.objects]
            choices.append(
                [r for r in plan.kinds if any(self.allows(k, r) for k in knives)]
            )
        if not self.target:
            stands = [kind for kind in plan.kinds if kind in STANDS]
            choices.append(stands if plan.lamp else [])
        return choices


def draw_task(
    rng: Random, task_type: str, split: str, *, shared: bool = False
) -> tuple[FloorPlan, Task]:
    """Draws a floor plan first, then an object, then a target, so that a kind of object
    with fewer possible targets is not drawn less often.
    """
    offers = _offers(task_type, split, shared)
    plan = floor_plan(rng.choice(list(offers)), shared=shared)
    kind = rng.choice(list(offers[plan.number]))
    return plan, rng.choice(offers[plan.number][kind])


@cache
def _offers(
    task_type: str, split: str, shared: bool
) -> dict[int, dict[str, list[Task]]]:
    """Returns every possible task of the type, by floor plan and then by the kind of
    object.
    """
    classes = catalogue()
    numbers = {
        "": sorted(classes.seen + UNSEEN),
        **dict.fromkeys(SPLITS, classes.seen),
        "valid_unseen": UNSEEN,
    }
    if split not in numbers:
        raise ConfigError(
            f"there is no split {split!r}; the splits are: {', '.join(SPLITS)}"
        )
    offers: dict[int, dict[str, list[Task]]] = {}
    for number in numbers[split]:
        for task in _tasks(task_type, floor_plan(number, shared=shared)):
            offers.setdefault(number, {}).setdefault(task.kind, []).append(task)
    return offers


def _tasks(task_type: str, plan: FloorPlan) -> Iterator[Task]:
    classes = catalogue()
    plain = task_type.removesuffix(SLICED)
    if plan.room not in classes.rooms[plain]:
        return
    verb, tool = _TREATMENTS.get(plain, ("", ""))
    sliced = task_type.endswith(SLICED)
    kinds = set(plan.objects) - FIXTURES.keys()
    if verb:
        kinds &= classes.able[f"{verb}able"]
    if sliced:
        kinds &= classes.slices
    targets = [kind for kind in plan.kinds if kind != tool]
    if plain.startswith("look"):
        targets = [""]
    for kind in sorted(kinds):
        for target in targets:
            task = Task(plain, sliced, kind, target)
            if (not target or kind in classes.holds[target]) and task.fits(plan):
                yield task


@dataclass(frozen=True, kw_only=True)
class GeneratedGame(AlfworldGame):
    """One generated game, in memory. `sentence` is the task in words."""

    house: House
    task: Task
    sentence: str


def make_game(
    seed: int, task_type: str, split: str = "", *, as_wide: bool = False
) -> GeneratedGame:
    """Returns the game of this seed and task type (TASK_TYPES). The same arguments give
    the same game. `split` selects the floor plans that the data set keeps for it; ""
    selects all. With `as_wide`, rooms are as wide as ALFRED's, and some of their
    receptacles share a spot; such games cannot be guaranteed to be won in 50 actions.
    Raises ConfigError for a negative seed and for an unknown task type or split, and
    MissingPart without `alfworld`.
    """
    if seed < 0:
        raise ConfigError(f"the seed of a game cannot be negative: {seed}")
    if task_type not in TASK_TYPES:
        raise ConfigError(
            f"no task type {task_type!r}; the types are: {', '.join(TASK_TYPES)}"
        )
    rng = Random(f"{task_type} {seed}")
    plan, task = draw_task(rng, task_type, split, shared=as_wide)
    needed = task.needed(rng, plan)
    limit = rng.randint(*WIDE) if as_wide else SEARCH_LIMIT
    receptacles = draw_receptacles(rng, plan, needed, limit)
    things = draw_things(
        rng, plan, receptacles, task.least, task.allows, as_wide=as_wide
    )
    house = House(plan, receptacles, things)
    sentence, goal = draw_goal(rng, task.plain, task.parameters)
    domain, grammar = rules(sentence)
    return GeneratedGame(
        task_type,
        domain,
        grammar,
        house.problem(f"plan_trial_{seed:08d}", goal),
        f"FloorPlan{plan.number}",
        house=house,
        task=task,
        sentence=sentence,
    )
