"""One game: its task (what to put where, and how treated), and the house that it is set in."""

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
    *(f"{plain}{SLICED}" for plain in PLAIN_TYPES if not plain.startswith("look")),
)
"""ALFWorld's six task types, and those five in which ALFRED also asks for a slice."""

SPLITS = ("train", "valid_seen", "valid_unseen")

_TREATMENTS: dict[str, tuple[str, str]] = {
    kind: (verb, tool) for kind, (verb, tool) in ALFRED["treatments"].items()
}

WIDE = (8, 110)
"""The commands that show a room as wide as ALFRED's: from few receptacles to all."""


@dataclass(frozen=True)
class Task:
    """The task of a game: put objects of `kind` into a receptacle of kind `target`, which is "" for
    tasks with a lamp."""

    plain: str
    sliced: bool
    kind: str
    target: str

    @property
    def amount(self) -> int:
        return 2 if self.plain == "pick_two_obj_and_place" else 1

    @property
    def treatment(self) -> tuple[str, str]:
        """(verb, receptacle kind): ("heat", "Microwave"), or two empty strings."""
        return _TREATMENTS.get(self.plain, ("", ""))

    def allows(self, kind: str, holder: str) -> bool:
        """Whether an object of `kind` may lie in a receptacle of kind `holder` at the start."""
        wanted_there = kind == self.kind and holder == self.target
        fits = kind in catalogue().holds[holder] or holder in FIXTURES.get(kind, ())
        return fits and not wanted_there

    def least(self, kind: str) -> int:
        """How many objects of `kind` the house must have at least."""
        return self.amount if kind == self.kind else 1

    def needed(self, rng: Random, plan: FloorPlan) -> list[str]:
        """Kinds of receptacles without which the task cannot be done."""
        fixed = [kind for kind in (self.target, self.treatment[1]) if kind]
        return [*fixed, *(rng.choice(kinds) for kinds in self._choices(plan))]

    def fits(self, plan: FloorPlan) -> bool:
        """Whether the floor plan has all that the task needs."""
        tool = self.treatment[1]
        return (not tool or tool in plan.kinds) and all(self._choices(plan))

    def _choices(self, plan: FloorPlan) -> list[list[str]]:
        """For the object, for a knife and for a lamp, as far as they are needed: the kinds of
        receptacles that may hold it, of which a house must have one."""
        choices = [[kind for kind in plan.kinds if self.allows(self.kind, kind)]]
        if self.sliced:
            knives = [knife for knife in KNIVES if knife in plan.objects]
            choices.append([r for r in plan.kinds if any(self.allows(k, r) for k in knives)])
        if not self.target:
            choices.append([kind for kind in plan.kinds if kind in STANDS and plan.lamp])
        return choices


def draw_task(
    rng: Random, task_type: str, split: str, *, shared: bool = False
) -> tuple[FloorPlan, Task]:
    """A floor plan first, then an object, then where to: no kind is rarer for fitting less."""
    offers = _offers(task_type, split, shared)
    plan = floor_plan(rng.choice(list(offers)), shared=shared)
    kind = rng.choice(list(offers[plan.number]))
    return plan, rng.choice(offers[plan.number][kind])


@cache
def _offers(task_type: str, split: str, shared: bool) -> dict[int, dict[str, list[Task]]]:
    """Every task of the type that can be set: by floor plan, then by the kind of object."""
    classes = catalogue()
    numbers = {
        "": sorted(classes.seen + UNSEEN),
        **dict.fromkeys(SPLITS, classes.seen),
        "valid_unseen": UNSEEN,
    }
    if split not in numbers:
        raise ConfigError(f"no split {split!r}; there are: {', '.join(SPLITS)}")
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
    targets = [""] if plain.startswith("look") else [kind for kind in plan.kinds if kind != tool]
    for kind in sorted(kinds):
        for target in targets:
            task = Task(plain, sliced, kind, target)
            if (not target or kind in classes.holds[target]) and task.fits(plan):
                yield task


@dataclass(frozen=True, kw_only=True)
class Game(AlfworldGame):
    """One game, in memory. `sentence` is the task in words."""

    house: House
    task: Task
    sentence: str


def make_game(seed: int, task_type: str, split: str = "", *, as_wide: bool = False) -> Game:
    """The game of this seed and task type (TASK_TYPES); the same arguments give the same game.
    `split` takes the floor plans that the data set keeps for it; "" takes all. `as_wide` are rooms
    as wide as ALFRED's, some of whose receptacles share a place: nobody can promise that these are
    won in 50 actions. Raises ConfigError for a negative seed and for an unknown task type or split,
    MissingPart without `alfworld`."""
    if seed < 0:
        raise ConfigError(f"the seed of a game cannot be negative: {seed}")
    if task_type not in TASK_TYPES:
        raise ConfigError(f"no task type {task_type!r}; there are: {', '.join(TASK_TYPES)}")
    rng = Random(f"{task_type} {seed}")
    plan, task = draw_task(rng, task_type, split, shared=as_wide)
    needed = task.needed(rng, plan)
    limit = rng.randint(*WIDE) if as_wide else SEARCH_LIMIT
    receptacles = draw_receptacles(rng, plan, needed, limit)
    things = draw_things(rng, plan, receptacles, task.least, task.allows, as_wide=as_wide)
    house = House(plan, receptacles, things)
    parameters = {
        "mrecep_target": "",
        "object_sliced": task.sliced,
        "object_target": task.kind,
        "parent_target": task.target,
        "toggle_target": "" if task.target else LAMP,
    }
    sentence, goal = draw_goal(rng, task.plain, parameters)
    domain, grammar = rules(sentence)
    return Game(
        task_type,
        domain,
        grammar,
        house.problem(f"plan_trial_{seed:08d}", goal),
        f"FloorPlan{plan.number}",
        house=house,
        task=task,
        sentence=sentence,
    )
