"""The commands that win a game of our own making, played by one who knows where everything is."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pddlego_local.environments.alfworld.games.house import House, Thing
from pddlego_local.environments.alfworld.games.layout import KNIVES, LAMP, Receptacle, catalogue
from pddlego_local.environments.alfworld.games.tasks import Task


@dataclass
class Agent:
    """Someone in the house; every method appends the commands that it takes."""

    house: House
    commands: list[str] = field(default_factory=list)
    _here: Receptacle | None = None
    _opened: set[str] = field(default_factory=set)

    def go(self, to: Receptacle) -> None:
        if self._here != to:
            self.commands.append(f"go to {self._name(to)}")
            self._here = to

    def reach(self, into: Receptacle) -> None:
        """Stands before it, and has it open."""
        self.go(into)
        if into.opens and into.id not in self._opened:
            self.commands.append(f"open {self._name(into)}")
            self._opened.add(into.id)

    def take(self, thing: Thing) -> None:
        self.reach(thing.inside)
        self.commands.append(f"take {self._name(thing)} from {self._name(thing.inside)}")

    def move(self, thing: Thing, to: Receptacle) -> None:
        self.reach(to)
        self.commands.append(f"move {self._name(thing)} to {self._name(to)}")

    def treat(self, verb: str, thing: Thing, tool: Receptacle) -> None:
        self.go(tool)
        self.commands.append(f"{verb} {self._name(thing)} with {self._name(tool)}")

    def use(self, lamp: Thing) -> None:
        self.go(lamp.inside)
        self.commands.append(f"use {self._name(lamp)}")

    def slice(self, things: Sequence[Thing]) -> None:
        """Cuts all of them with one knife and puts it away: hands are needed for the food."""
        knife = self.house.of_kind(*KNIVES)[0]
        self.take(knife)
        for thing in things:
            self.reach(thing.inside)
            self.commands.append(f"slice {self._name(thing)} with {self._name(knife)}")
        here = things[-1].inside
        self.move(knife, here if knife.kind in catalogue().holds[here.kind] else knife.inside)

    def _name(self, part: Thing | Receptacle) -> str:
        return self.house.names[part.id]


def walkthrough(house: House, task: Task) -> tuple[str, ...]:
    """The task done with full knowledge: no search, no detour for its own sake."""
    agent = Agent(house)
    things = house.of_kind(task.kind)[: task.amount]
    if task.sliced:
        agent.slice(things)
    verb, tool = task.treatment
    for thing in reversed(things):  # after slicing, the last one is at hand
        agent.take(thing)
        if verb:
            agent.treat(verb, thing, _first(house, tool))
        if task.target:
            agent.move(thing, _first(house, task.target))
        else:
            agent.use(house.of_kind(LAMP)[0])
    return tuple(agent.commands)


def _first(house: House, kind: str) -> Receptacle:
    return next(receptacle for receptacle in house.receptacles if receptacle.kind == kind)
