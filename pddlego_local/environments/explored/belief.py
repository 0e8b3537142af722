"""What a player can know of a partly seen world, from its texts alone.

After a command the believed facts progress with the action. What is told is added. What
is newly in sight and untold is dropped, because everything that is newly seen is told.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pddlego_local.environments.explored.commands import Commands
from pddlego_local.environments.explored.marks import Mark
from pddlego_local.environments.explored.phrases import unspelled
from pddlego_local.environments.explored.play import GOAL, NO_LONGER, REFUSED
from pddlego_local.environments.explored.sight import Sight
from pddlego_local.environments.explored.telling import Telling
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.state import State, Task


@dataclass
class Belief:
    """The believed facts, and the objects with their types. `marked` has the objects of
    each mark, and `goal` is the goal of the first text.
    """

    world: World
    marks: Sequence[Mark] = ()
    kinds: dict[str, str] = field(default_factory=dict)
    facts: set[Fact] = field(default_factory=set)
    marked: dict[str, set[str]] = field(default_factory=dict)
    goal: str = "(and)"

    def __post_init__(self) -> None:
        self._telling = Telling(self.world)
        for entry in self.world.domain.constants:
            self.kinds[entry.name] = min(entry.type_names)
        self._task: Task | None = None

    @property
    def task(self) -> Task:
        """The task as it is believed."""
        if self._task is None:
            self._task = self.world.task(self._problem("(and)", self.facts))
        return self._task

    @property
    def state(self) -> State:
        return self.task.initial

    def problem(self, goal: str) -> str:
        """Returns a problem file of the belief and its marks, with this goal."""
        marks = {(mark, name) for mark, names in self.marked.items() for name in names}
        return self._problem(goal, self.facts | marks)

    def _problem(self, goal: str, facts: Iterable[Fact]) -> str:
        constants = {entry.name for entry in self.world.domain.constants}
        objects = [
            f"{name} - {kind}"
            for name, kind in sorted(self.kinds.items())
            if name not in constants
        ]
        stated = [f"({' '.join(fact)})" for fact in sorted(facts)]
        word = self.world.domain.word
        name = word.name if word else "world"
        return (
            f"(define (problem believed) (:domain {name})\n"
            f"(:objects {' '.join(objects)})\n"
            f"(:init {' '.join(stated)})\n(:goal {goal}))\n"
        )

    def begin(self, text: str) -> None:
        """Forms the belief that the first text of a game gives."""
        for sentence in _sentences(text):
            if sentence.startswith(GOAL):
                said = sentence.removeprefix(GOAL).removesuffix(".")
                self.goal = self._telling.read_goal(said)
        self._add(self._told(text))

    def follow(self, command: str, text: str) -> None:
        """Updates the belief after a command and the text that answered it."""
        if text.startswith(REFUSED):
            return
        where = self.world.whereabouts(self.task)
        sight = Sight(self.task, where)
        before = sight.seen(self.state)
        commands = Commands(self.world, self.task, where, sight)
        steps = commands.steps(command, self.state)
        if len(steps) == 1:
            self.facts = set(self.task.successor(self.state, steps[0]).facts)
            self._task = None
        told = self._told(text)
        lost = self._lost(text)
        self._add(told)
        self.facts -= set(lost)
        self._task = None
        now = self.world.whereabouts(self.task)
        seen = Sight(self.task, now).seen(self.state)
        self.facts -= seen - before - set(told)
        self._task = None
        self._visit()

    def _told(self, text: str) -> list[Fact]:
        told: list[Fact] = []
        for sentence in _sentences(text):
            if not sentence.startswith((NO_LONGER, GOAL)):
                told += self._telling.read(sentence, self._place(told))
                self._take_kind(sentence)
        return told

    def _lost(self, text: str) -> list[Fact]:
        lost: list[Fact] = []
        for sentence in _sentences(text):
            if sentence.startswith(NO_LONGER):
                for part in sentence.removeprefix(NO_LONGER).split("; "):
                    lost += self._telling.read(part, self._place([]))
        return lost

    def _place(self, told: Sequence[Fact]) -> str | None:
        """Returns the player's place, from new facts first; None if it is unknown."""
        here = self.world.here.predicate
        for fact in (*told, *sorted(self.facts)):
            if fact[0] == here:
                return fact[-1]
        return None

    def _take_kind(self, sentence: str) -> None:
        subject, is_a, kind = sentence.removesuffix(".").partition(" is a")
        if is_a:
            article, _, rest = kind.partition(" ")
            name = unspelled(rest)
            if article in ("", "n") and name in self.world.type_names:
                self.kinds[unspelled(subject)] = name
                self._task = None

    def _add(self, facts: Iterable[Fact]) -> None:
        """Adds facts, and objects with the types that the predicates declare."""
        for fact in facts:
            self.facts.add(fact)
            parameters = self.world.predicates[fact[0]].parameters or ()
            for name, entry in zip(fact[1:], parameters, strict=True):
                self._meet(name, entry.type_names)
        self._task = None
        self._visit()

    def _meet(self, name: str, declared: frozenset[str]) -> None:
        """Notes an object, and the most special type that is known of it."""
        number_off = name.rstrip("0123456789").rstrip("_-")
        candidates = [*declared]
        if number_off in self.world.type_names:
            candidates.append(number_off)
        for kind in candidates:
            known = self.kinds.get(name)
            if known is None or self.world.is_below(kind, known):
                self.kinds[name] = kind

    def _visit(self) -> None:
        where = self.world.whereabouts(self.task)
        places = where.places(self.state.true)
        for mark in self.marks:
            found = places
            if mark.located:
                at = self.world.located[mark.located]
                found = frozenset(
                    fact[at.thing]
                    for fact in self.facts
                    if fact[0] == mark.located and fact[at.place] in places
                )
            self.marked.setdefault(mark.predicate, set()).update(found)


def _sentences(text: str) -> list[str]:
    return [part if part.endswith(".") else f"{part}." for part in text.split(". ")]
