"""One game in a partly seen world: the true state, and what the player is told.

At the start the player is told the task, the goal, what is known, and all that it sees.
After a command it is told which movers moved and what is newly seen. A fact that was
seen, is false now, and is no plain effect of the action is told as no longer true. So
what is in sight and untold is false.
"""

import re
from collections.abc import Collection, Iterable

from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.core.nouns import TrueState
from pddlego_local.environments.explored.commands import UNSEEN, Commands
from pddlego_local.environments.explored.effects import plainly_deleted
from pddlego_local.environments.explored.hidden import hidden_of
from pddlego_local.environments.explored.phrases import sentence, spelled
from pddlego_local.environments.explored.sight import Sight, atoms_of
from pddlego_local.environments.explored.telling import Telling
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.state import State, Step, Task

LOOK = "look around"
TASK = "Reach the goal."
GOAL = "Your goal: "
NO_LONGER = "No longer: "
REFUSED = "You cannot "
_WORD = re.compile(r"[\w-]+")
_NUMBER = re.compile(r"[_-]?\d+$")


class Play:
    """A game that is being played."""

    def __init__(self, world: World, task: Task, goal: str) -> None:
        self._world = world
        self.task = task
        self.goal = goal
        self.sight = Sight(world, task)
        self._whereabouts = self.sight.whereabouts
        self._hidden = hidden_of(world)
        self.telling = Telling(world)
        self.commands = Commands(world, task, self.sight)
        self._parameters = {
            name: [entry.type_names for entry in predicate.parameters or ()]
            for name, predicate in world.predicates.items()
        }
        self._mentioned = set[str]()
        self._check(world)
        self.state: State = task.initial
        self._note_placeholders()

    def _check(self, world: World) -> None:
        """Raises ConfigError if a text could mean two objects, and UnsolvableGame if
        nobody is anywhere at the start.
        """
        by_spelling: dict[str, str] = {}
        for name in self.task.objects:
            other = by_spelling.setdefault(spelled(name), name)
            if other != name:
                raise ConfigError(
                    f"{world.folder}: texts would write {other} and {name} in one way,"
                    f" {spelled(name)!r}; give one of them another name."
                )
        self._check_placeholders(world)
        if not self._whereabouts.places(self.task.initial.true):
            raise UnsolvableGame(self._why_nobody_is_anywhere(world))

    def _why_nobody_is_anywhere(self, world: World) -> str:
        written = world.file.here
        name = world.here.predicate
        why = f"nobody is anywhere at its start by here: {written}, since"
        facts = sorted(fact for fact in self.task.initial.true if fact[0] == name)
        if not facts:
            return f"{why} the problem states no fact of {name}"
        return (
            f"{why} a fact such as ({' '.join(facts[0])}) has other types; the last"
            " variable is the place, and those before it are the player's movers"
        )

    def _check_placeholders(self, world: World) -> None:
        """Raises ConfigError if one placeholder stands for two things."""
        stands_for: dict[str, str] = {}
        for fact in sorted(self.task.initial.true):
            hidden = self._hidden.get(fact[0])
            if hidden is None:
                continue
            placeholder, own = hidden.placeholder(fact), fact[hidden.position]
            other = stands_for.setdefault(placeholder, own)
            if other != own:
                raise world.wrong(
                    f"hide.{fact[0]}",
                    f"{placeholder} would stand for {other} and for {own}; name more"
                    f" of its arguments in {hidden.template}",
                )

    def opening(self) -> str:
        """Returns the first text: the task, the goal with the types of its objects,
        what is known, and all that is seen.
        """
        task = self._world.file.task or TASK
        goal = f"{GOAL}{self.telling.goal(self.goal)}."
        named = [name for name in _WORD.findall(self.goal.lower()) if self._is(name)]
        told = [task, goal]
        for name in dict.fromkeys([*named, *self._known()]):
            told.append(self.telling.kind(name, self.task.objects[name]))
            self._mentioned.add(name)
        return " ".join([*told, self.around()])

    def _is(self, name: str) -> bool:
        return name in self.task.objects

    def _known(self) -> list[str]:
        """Returns the objects that no text would ever tell of: those of parameters that
        no precondition names, or only what must be false, such as the directions to
        which a satellite may turn.
        """
        own = self._world.file.known
        if own is not None:
            types = self._world.types
            return [
                name
                for name, kind in sorted(self.task.objects.items())
                if not types.with_ancestors(kind).isdisjoint(own)
            ]
        found = dict[str, None]()
        for named in self.task.actions.values():
            for schema in named:
                asked = {
                    term
                    for atom in atoms_of(schema.condition)
                    if atom.pattern[0] != "=" and not atom.negated
                    for term in atom.pattern[1:]
                }
                for entry in schema.parameters:
                    if entry.name not in asked:
                        found |= dict.fromkeys(sorted(schema.choices[entry.name]))
        return [*found]

    @property
    def won(self) -> bool:
        return self.task.is_goal(self.state)

    @property
    def true_state(self) -> TrueState:
        return self.task.inspected(self.state)

    @property
    def seen(self) -> frozenset[Fact]:
        """The facts that the player sees now."""
        return self.sight.seen(self.state)

    def offered(self) -> list[str]:
        return [LOOK, *self.commands.offered(self.state)]

    def around(self) -> str:
        """Returns a text of everything that is seen."""
        return " ".join(self._told(self.seen))

    def carry_out(self, command: str) -> str:
        """Carries out a command in the true state and returns the game's answer."""
        if command.strip().lower() == LOOK:
            return self.around()
        steps = self.commands.steps(command, self.state)
        if len(steps) != 1:
            why = UNSEEN
            if not steps:
                why = self.commands.refusal(command, self.state, self.telling)
            return f"{REFUSED}{command.strip()}: {why}."
        (step,) = steps
        return self._after(step, self.commands.said_as(command, step))

    def _after(self, step: Step, command: str) -> str:
        """Carries out an action and returns the text about it."""
        before = self.state
        seen_before = self.seen
        self.state = self.task.successor(before, step)
        self._note_placeholders()
        seen = self.seen
        gone = seen_before - self.state.true
        gone -= plainly_deleted(self.task, before, step)
        told = [f"You {command}.", *self._told(seen - seen_before)]
        if lost := self._clauses(gone):
            told.append(f"{NO_LONGER}{'; '.join(lost)}.")
        return " ".join(told)

    def _note_placeholders(self) -> None:
        """Notes what the placeholders stand for that texts tell now."""
        for fact in self.seen:
            hidden = self._hidden.get(fact[0])
            if hidden:
                true_name = fact[hidden.position]
                self.commands.true_names[hidden.placeholder(fact)] = true_name

    def _told(self, facts: Collection[Fact]) -> list[str]:
        """Returns sentences for facts, and the types of objects that are mentioned for
        the first time.
        """
        return [*map(sentence, self._clauses(facts)), *self._kinds(facts)]

    def _clauses(self, facts: Iterable[Fact]) -> list[str]:
        places = self._whereabouts.places(self.state.true)
        place = next(iter(places)) if len(places) == 1 else None
        return self.telling.clauses(map(self._masked, facts), place)

    def _masked(self, fact: Fact) -> Fact:
        """Returns the fact as texts tell it: with a placeholder for what is not seen
        yet.
        """
        hidden = self._hidden.get(fact[0])
        return hidden.masked(fact) if hidden else fact

    def _kinds(self, facts: Iterable[Fact]) -> list[str]:
        """Returns the types of the objects whose type neither their name nor the
        declared type of a parameter shows.
        """
        sentences = []
        for fact in sorted(facts, key=self._masked):  # the true order would tell
            declared = self._parameters[fact[0]]
            for told, name, types in zip(
                self._masked(fact)[1:], fact[1:], declared, strict=True
            ):
                if told in self._mentioned:
                    continue
                self._mentioned.add(told)
                kind = self.task.objects[name]
                if kind not in types and _NUMBER.sub("", told) != kind:
                    sentences.append(self.telling.kind(told, kind))
        return sentences
