"""The tasks that ALFWorld games of our own making set: what, how treated, and where to; and the
commands that do them, played by one who knows where everything is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from random import Random

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.alfworld.games.house import House, Thing
from pddlego_local.environments.alfworld.games.layout import (
    KNIVES,
    LAMP,
    STANDS,
    FloorPlan,
    Receptacle,
    catalogue,
    floor_plan,
)

PLAIN_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
SLICED = "+slice"
TASK_TYPES = (
    *PLAIN_TYPES,
    *(f"{plain}{SLICED}" for plain in PLAIN_TYPES if not plain.startswith("look")),
)
"""ALFWorld's six task types, and those five in which ALFRED also asks for a slice."""

SPLITS = ("train", "valid_seen", "valid_unseen")

_TREATMENTS = {
    "pick_clean_then_place_in_recep": ("clean", "SinkBasin"),
    "pick_heat_then_place_in_recep": ("heat", "Microwave"),
    "pick_cool_then_place_in_recep": ("cool", "Fridge"),
}


@dataclass(frozen=True)
class Task:
    """What a game asks for: objects of `kind` in a receptacle of kind `target` (lamps: "")."""

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
        return kind in catalogue().holds[holder] and not wanted_there

    def least(self, kind: str) -> int:
        """How many objects of `kind` the house must have at least."""
        return self.amount if kind == self.kind else 1

    def needed(self, rng: Random, plan: FloorPlan) -> list[str]:
        """Kinds of receptacles without which the task cannot be done."""
        present = sorted({receptacle.kind for receptacle in plan.receptacles})
        options = [[kind for kind in present if self.allows(self.kind, kind)]]
        if self.sliced:
            knives = [knife for knife in KNIVES if knife in plan.objects]
            options.append([r for r in present if any(self.allows(k, r) for k in knives)])
        if not self.target:
            options.append([kind for kind in present if kind in STANDS])
        fixed = [kind for kind in (self.target, self.treatment[1]) if kind]
        return [*fixed, *(rng.choice(kinds) for kinds in options)]

    def fits(self, plan: FloorPlan) -> bool:
        """Whether the floor plan has all that the task needs."""
        kinds = {receptacle.kind for receptacle in plan.receptacles}
        return (
            (not self.treatment[1] or self.treatment[1] in kinds)
            and any(self.allows(self.kind, kind) for kind in kinds)
            and (bool(self.target) or (plan.lamp and not kinds.isdisjoint(STANDS)))
            and (not self.sliced or any(k in plan.objects for k in KNIVES))
        )


def draw_task(rng: Random, task_type: str, split: str) -> tuple[FloorPlan, Task]:
    """A floor plan first, then an object, then where to: no kind is rarer for fitting less."""
    offers = _offers(task_type, split)
    plan = floor_plan(rng.choice(list(offers)))
    kind = rng.choice(list(offers[plan.number]))
    return plan, rng.choice(offers[plan.number][kind])


@cache
def _offers(task_type: str, split: str) -> dict[int, dict[str, list[Task]]]:
    """Every task of the type that can be set: by floor plan, then by the kind of object."""
    offers: dict[int, dict[str, list[Task]]] = {}
    for number in _numbers(split):
        for task in _tasks(task_type, floor_plan(number)):
            offers.setdefault(number, {}).setdefault(task.kind, []).append(task)
    return offers


def _numbers(split: str) -> tuple[int, ...]:
    classes = catalogue()
    if not split:
        return tuple(sorted(classes.seen + classes.unseen))
    if split not in SPLITS:
        raise ConfigError(f"no split {split!r}; there are: {', '.join(SPLITS)}")
    return classes.unseen if split == "valid_unseen" else classes.seen


def _tasks(task_type: str, plan: FloorPlan) -> Iterator[Task]:
    classes = catalogue()
    plain = task_type.removesuffix(SLICED)
    if plan.room not in classes.rooms[plain]:
        return
    verb, tool = _TREATMENTS.get(plain, ("", ""))
    sliced = task_type.endswith(SLICED)
    targets = sorted({receptacle.kind for receptacle in plan.receptacles} - {tool})
    for kind in plan.objects:
        if (verb and kind not in classes.able[f"{verb}able"]) or (
            sliced and kind not in classes.slices
        ):
            continue
        for target in [""] if plain.startswith("look") else targets:
            task = Task(plain, sliced, kind, target)
            if (not target or kind in classes.holds[target]) and task.fits(plan):
                yield task


@dataclass
class _Player:
    """Someone in the house, and the commands given so far."""

    house: House
    commands: list[str] = field(default_factory=list)
    _here: Receptacle | None = None

    def give(self, command: str, *parts: Thing | Receptacle) -> None:
        self.commands.append(command.format(*(self.house.names[part.id] for part in parts)))

    def go(self, to: Receptacle) -> None:
        if self._here != to:
            self.give("go to {}", to)
            self._here = to

    def reach(self, into: Receptacle) -> None:
        """Stands before it, and has it open."""
        self.go(into)
        if into.opens and f"open {self.house.names[into.id]}" not in self.commands:
            self.give("open {}", into)

    def take(self, thing: Thing) -> None:
        self.reach(thing.inside)
        self.give("take {} from {}", thing, thing.inside)

    def move(self, thing: Thing, to: Receptacle) -> None:
        self.reach(to)
        self.give("move {} to {}", thing, to)


def walkthrough(house: House, task: Task) -> tuple[str, ...]:
    """The task done with full knowledge: no search, no detour for its own sake."""
    player = _Player(house)
    first = {receptacle.kind: receptacle for receptacle in reversed(house.receptacles)}
    things = house.of_kind(task.kind)[: task.amount]
    if task.sliced:  # all with one knife, which is then put away: hands are needed for the food
        knife = house.of_kind(*KNIVES)[0]
        player.take(knife)
        for thing in things:
            player.reach(thing.inside)
            player.give("slice {} with {}", thing, knife)
        here = things[-1].inside
        player.move(knife, here if knife.kind in catalogue().holds[here.kind] else knife.inside)
    verb, tool = task.treatment
    for thing in reversed(things):  # after slicing, the last one is at hand
        player.take(thing)
        if verb:
            player.go(first[tool])
            player.give(f"{verb} {{}} with {{}}", thing, first[tool])
        if task.target:
            player.move(thing, first[task.target])
        else:
            lamp = house.of_kind(LAMP)[0]
            player.go(lamp.inside)
            player.give("use {}", lamp)
    return tuple(player.commands)
