"""What a player can know of a partly seen world, from its texts alone.

After a command the believed facts progress with the action. What is told is added. What
is newly in sight and untold is dropped, because everything that is newly seen is told.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from threading import Lock

from pddlego_local.core.nouns import Turn, Turns
from pddlego_local.environments.explored.commands import Commands
from pddlego_local.environments.explored.effects import (
    effects,
    unsure_effects,
)
from pddlego_local.environments.explored.hidden import hidden_of
from pddlego_local.environments.explored.marks import Mark
from pddlego_local.environments.explored.play import GOAL, NO_LONGER, REFUSED
from pddlego_local.environments.explored.sight import Sight
from pddlego_local.environments.explored.telling import Telling
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.state import State, Step, Task

_KEPT = 200
"""As many beliefs are kept, some for each game that is played at the same time."""


@dataclass
class Belief:
    """The believed facts, and the objects with their types. `marked` are the facts of
    the marks, and `goal` is the goal of the first text. `names` has every name that a
    text has told, also that of a placeholder whose true name is known since.
    """

    world: World
    marks: Sequence[Mark] = ()
    kinds: dict[str, str] = field(default_factory=dict)
    facts: set[Fact] = field(default_factory=set)
    marked: set[Fact] = field(default_factory=set)
    names: dict[str, None] = field(default_factory=dict)
    goal: str = "(and)"

    def __post_init__(self) -> None:
        self._telling = Telling(self.world)
        self._hidden = hidden_of(self.world)
        self._placeholders = set[str]()
        self._true_names: dict[str, str] = {}
        for entry in self.world.domain.constants:
            self.kinds[entry.name] = min(entry.type_names)
            self.names[entry.name] = None
        self._task: Task | None = None
        self._sight: Sight | None = None

    def copy(self) -> "Belief":
        """Returns a belief that can be changed alone."""
        copy = Belief(self.world, self.marks)
        copy.kinds, copy.names = dict(self.kinds), dict(self.names)
        copy.facts, copy.marked = set(self.facts), set(self.marked)
        copy.goal = self.goal
        copy._placeholders = set(self._placeholders)
        copy._true_names = dict(self._true_names)
        return copy

    @property
    def task(self) -> Task:
        """The task as it is believed."""
        if self._task is None:
            self._task = self.world.task(self._problem("(and)", self.facts))
        return self._task

    @property
    def sight(self) -> Sight:
        """What the player would see if all that it believes were true."""
        if self._sight is None:
            self._sight = Sight(self.world, self.task)
        return self._sight

    @property
    def state(self) -> State:
        return self.task.initial

    def problem(self, goal: str) -> str:
        """Returns a problem file of the belief and its marks, with this goal."""
        return self._problem(goal, self.facts | self.marked)

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

    # ---- The texts

    def begin(self, text: str) -> None:
        """Forms the belief that the first text of a game gives."""
        for sentence in _sentences(text):
            if sentence.startswith(GOAL):
                said = sentence.removeprefix(GOAL).removesuffix(".")
                self.goal = self._telling.read_goal(said)
        for fact in self._told(text):
            self._add(self._as_known(fact))
        self._visit()

    def follow(self, command: str, text: str) -> None:
        """Updates the belief after a command and the text that answered it."""
        if text.startswith(REFUSED):
            return
        commands = Commands(self.world, self.task, self.sight)
        commands.true_names = self._true_names
        steps = commands.steps(command, self.state)
        texts = self._told(text)
        step = self._with_true_names(steps[0] if len(steps) == 1 else None, texts)
        before = self.sight.seen(self.state)
        if step is not None:
            self._progress(step)
        told = [self._as_known(fact) for fact in texts]
        lost = {self._as_known(fact) for fact in self._lost(text, told)}
        for fact in told:
            self._add(fact)
        self._replace(self.facts - lost)
        newly = self.sight.seen(self.state) - before
        self._replace(self.facts - (newly - set(told)))
        self._visit()

    def _told(self, text: str) -> list[Fact]:
        told: list[Fact] = []
        for sentence in _sentences(text):
            if not sentence.startswith((NO_LONGER, GOAL)):
                told += self._telling.read(sentence, self._place(told))
                self._take_kind(sentence)
        return told

    def _lost(self, text: str, told: Sequence[Fact]) -> list[Fact]:
        lost: list[Fact] = []
        for sentence in _sentences(text):
            if sentence.startswith(NO_LONGER):
                for part in sentence.removeprefix(NO_LONGER).split("; "):
                    lost += self._telling.read(part, self._place(told))
        return lost

    def _place(self, told: Sequence[Fact]) -> str | None:
        """Returns the player's place, from new facts first; None if it is unknown."""
        here = self.world.here.predicate
        for fact in (*told, *sorted(self.facts)):
            if fact[0] == here:
                return fact[-1]
        return None

    def _take_kind(self, sentence: str) -> None:
        if read := self._telling.read_kind(sentence):
            name, kind = read
            self.kinds[name] = kind
            self.names[name] = None
            self._replace(self.facts)

    # ---- Facts

    def _add(self, fact: Fact) -> None:
        """Adds a fact, and its objects with the types that the predicate declares."""
        parameters = self.world.predicates[fact[0]].parameters or ()
        for name, entry in zip(fact[1:], parameters, strict=True):
            self._meet(name, entry.type_names)
        if fact[0] not in self.world.derived:  # which the planner wants to derive
            self._replace(self.facts | {fact})

    def _replace(self, facts: Iterable[Fact]) -> None:
        self.facts = set(facts)
        self._task = self._sight = None

    def _meet(self, name: str, declared: frozenset[str]) -> None:
        """Notes an object, and the most special type that is known of it."""
        self.names[name] = None
        number_off = name.rstrip("0123456789").rstrip("_-")
        candidates = [*declared]
        if number_off in self.world.type_names:
            candidates.append(number_off)
        for kind in candidates:
            known = self.kinds.get(name)
            if known is None or self.world.is_below(kind, known):
                self.kinds[name] = kind

    def _progress(self, step: Step) -> None:
        """Carries out an action. A conditional effect whose condition is unknown makes
        its facts unknown. Those in sight stay, since a text tells what is lost.
        """
        task, state, sight = self.task, self.state, self.sight
        seen = sight.seen(state)
        after = set(task.successor(state, step).facts)
        for effect in unsure_effects(task, sight, state, step):
            if effect.negated and effect.fact in seen:
                after.add(effect.fact)
            elif effect.negated or effect.fact not in state.facts:
                after.discard(effect.fact)
        self._replace(after)

    # ---- Placeholders

    def _as_known(self, fact: Fact) -> Fact:
        """Returns a told fact with the true name in the place of a placeholder, where
        it is known.
        """
        hidden = self._hidden.get(fact[0])
        if hidden is None or hidden.masked(fact) != fact:
            return fact
        for known in self.facts:
            if known[0] == fact[0] and hidden.masked(known) == fact:
                return known
        self._placeholders.add(fact[hidden.position])
        return fact

    def _with_true_names(self, step: Step | None, told: Iterable[Fact]) -> Step | None:
        """Renames the placeholders whose true names a text tells, and returns the step
        with these names.

        A told fact that differs from an expected one only in placeholders tells their
        names. What the action changes on the other side of a door does so, too.
        """
        if not self._placeholders:
            return step
        expected = self.facts
        if step is not None:
            expected = {*self.task.successor(self.state, step).facts}
        new = [fact for fact in told if fact not in expected]
        names = dict(chain.from_iterable(self._names_in(f, expected) for f in new))
        self._rename(names)
        if step is None:
            return None
        named = (step[0], *(names.get(thing, thing) for thing in step[1:]))
        added, deleted = effects(self.task, self.state, named)
        self._rename(dict(self._other_sides(added | deleted)))
        return named

    def _names_in(
        self, told: Fact, expected: Iterable[Fact]
    ) -> Iterator[tuple[str, str]]:
        """Yields each placeholder with its true name, which a told fact has in the
        place of it.
        """
        for fact in expected:
            if fact[0] != told[0]:
                continue
            pairs = zip(fact[1:], told[1:], strict=True)
            differing = [(own, true) for own, true in pairs if own != true]
            if all(own in self._placeholders for own, _ in differing):
                yield from differing

    def _other_sides(self, changed: Iterable[Fact]) -> Iterator[tuple[str, str]]:
        """Yields each placeholder with its true name, where an action changes the fact
        of which the placeholder is a part.
        """
        for fact in changed:
            hidden = self._hidden.get(fact[0])
            if hidden is not None and hidden.masked(fact) in self.facts:
                yield hidden.placeholder(fact), fact[hidden.position]

    def _rename(self, names: Mapping[str, str]) -> None:
        """Writes true names in the place of placeholders, everywhere."""
        for own, true in names.items():
            if own in self.kinds:
                self._meet(true, frozenset([self.kinds.pop(own)]))
        self._placeholders -= names.keys()
        self._true_names |= names
        self.marked = {_renamed(fact, names) for fact in self.marked}
        self._replace(_renamed(fact, names) for fact in self.facts)

    # ---- Marks

    def _visit(self) -> None:
        """Adds the marks of what the player sees now. Who rides is where the vehicle
        is.
        """
        where = self.sight.whereabouts
        standing = where.standing(self.state.true)
        riding = set[Fact]()
        if len(where.here_movers) == 1:
            riding = {(where.here, mover, place) for mover, place in standing.items()}
        for mark in self.marks:
            self.marked |= {*mark.earned(self.task, self.state.true | riding)}


class Beliefs:
    """The newest beliefs by the memory that they come from, so that a memory which has
    grown is not read from its beginning. Several threads may share it.
    """

    def __init__(self, world: World, marks: Sequence[Mark]) -> None:
        self._world = world
        self._marks = marks
        self._newest: dict[tuple[Turn, ...], Belief] = {}
        self._lock = Lock()

    def after(self, memory: Turns) -> Belief:
        """Returns the belief that a memory gives. It must not be changed."""
        turns = tuple(memory)
        belief, count = self._longest(turns)
        for turn in turns[count:]:
            belief.follow(turn.command, turn.text)
        with self._lock:
            self._newest[turns] = belief
            if len(self._newest) > _KEPT:
                oldest = next(iter(self._newest))
                del self._newest[oldest]
        return belief

    def _longest(self, turns: tuple[Turn, ...]) -> tuple[Belief, int]:
        """Returns a belief of one's own for the longest beginning that is known, and
        how many turns it has.
        """
        with self._lock:
            for count in range(len(turns), 0, -1):
                known = self._newest.get(turns[:count])
                if known is not None:
                    return known.copy(), count
        belief = Belief(self._world, self._marks)
        if turns:  # a prompt may show no turns of one's own
            belief.begin(turns[0].text)
        return belief, 1


def _renamed(fact: Fact, names: Mapping[str, str]) -> Fact:
    return (fact[0], *(names.get(thing, thing) for thing in fact[1:]))


def _sentences(text: str) -> list[str]:
    return [part if part.endswith(".") else f"{part}." for part in text.split(". ")]
