"""The commands of a partly seen world: what they mean, which ones are offered, and why
one is refused.

A command names some of an action's parameters. The others follow from the
preconditions in the true state. A refusal tells nothing of what is not in sight: it
names the first plain precondition that fails and can be seen from where the player is,
by its phrase.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from pddlego_local.environments.explored.hidden import hidden_of
from pddlego_local.environments.explored.phrases import Phrase, spelled
from pddlego_local.environments.explored.sight import Sight, atoms_of
from pddlego_local.environments.explored.telling import Telling
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.conditions import (
    Atomic,
    Fact,
    Known,
    bindings,
    conjuncts,
    ground,
    known_as,
)
from pddlego_local.pddl.state import Schema, State, Step, Task

UNSEEN = "something that you do not see prevents it"
UNKNOWN = "there is no such command"


class Commands:
    """The commands of one task."""

    def __init__(self, world: World, task: Task, sight: Sight) -> None:
        self._task = task
        self._whereabouts = sight.whereabouts
        self._sight = sight
        self._hidden = hidden_of(world)
        self.true_names: dict[str, str] = {}
        """What a placeholder stands for, since a command may name it."""
        self.phrases: Mapping[str, Phrase] = {
            schema.name: Phrase(
                world.file.do.get(schema.name, self._default(schema)),
                [entry.name.removeprefix("?") for entry in schema.parameters],
            )
            for named in task.actions.values()
            for schema in named
        }

    def unseen(self, *schemas: Schema) -> frozenset[str]:
        """Returns the parameters that stand in a hidden argument of a precondition."""
        return frozenset(
            atom.pattern[self._hidden[atom.pattern[0]].position].removeprefix("?")
            for schema in schemas
            for atom in atoms_of(schema.condition)
            if atom.pattern[0] in self._hidden and not atom.negated
        )

    def _default(self, schema: Schema) -> str:
        """Returns the action's name with all parameters but the player's place and
        what is not seen yet.
        """
        anchors = self._whereabouts.anchors(schema)
        left_out = {anchors[0].place.removeprefix("?")} if anchors else set[str]()
        left_out |= self.unseen(schema)
        names = [entry.name.removeprefix("?") for entry in schema.parameters]
        slots = [f"{{{name}}}" for name in names if name not in left_out]
        return f"{spelled(schema.name)} {', '.join(slots)}".strip()

    def said(self, step: Step) -> str:
        """Returns the command for an action."""
        name, *things = step
        phrase = self.phrases[name]
        return phrase.said(dict(zip(phrase.parameters, things, strict=True)))

    def said_as(self, text: str, step: Step) -> str:
        """Returns the command for an action, with the names that a text has for it. A
        placeholder stays one.
        """
        name, *things = step
        phrase = self.phrases[name]
        read = phrase.read(text.strip()) or {}
        named = {slot: names[0] for slot, names in read.items()}
        return phrase.said(dict(zip(phrase.parameters, things, strict=True)) | named)

    def offered(self, state: State) -> list[str]:
        """Returns the commands for all possible actions whose preconditions are in
        sight.
        """
        known = known_as(state.true)
        places = self._whereabouts.places(state.true)
        offered = dict[str, None]()
        for step in self._task.applicable(state):
            if self._is_in_sight(step, known, places):
                offered[self.said(step)] = None
        return [*offered]

    def _is_in_sight(self, step: Step, known: Known, places: frozenset[str]) -> bool:
        for schema in self._task.actions[step[0]]:
            binding = schema.binding(step[1:])
            needed = _plain(schema, binding)
            if all(self._sight.is_seen(fact, known, places) for fact, _ in needed):
                return True
        return False

    def steps(self, text: str, state: State) -> list[Step]:
        """Returns the possible actions that a command means in the true state."""
        known = known_as(state.true)
        found: dict[Step, None] = {}
        for schema, named in self._meant(text):
            binding = {
                slot: self.true_names.get(name, name) for slot, name in named.items()
            }
            exist = all(name in self._task.objects for name in binding.values())
            if not exist or self._task.misfit(schema, binding):
                continue
            met = bindings(schema.choices, [schema.condition], binding, known)
            for each in met:
                things = (each[entry.name] for entry in schema.parameters)
                found[(schema.name, *things)] = None
        return [*found]

    def _meant(self, text: str) -> Iterator[tuple[Schema, dict[str, str]]]:
        """Yields the actions whose phrase a text has, with the names that it has, which
        may be those of nothing.
        """
        for named in self._task.actions.values():
            for schema in named:
                read = self.phrases[schema.name].read(text.strip())
                if read is None:
                    continue
                yield schema, {f"?{slot}": names[0] for slot, names in read.items()}

    def refusal(self, text: str, state: State, telling: Telling) -> str:
        """Returns why a command cannot be carried out, without telling of what is not
        in sight. So a thing that is not seen gets the same answer as none.
        """
        meant = [*self._meant(text)]
        if not meant:
            return UNKNOWN
        known = known_as(state.true)
        places = self._whereabouts.places(state.true)
        place = next(iter(places)) if len(places) == 1 else None
        for schema, binding in meant:
            whole = binding | self._place_of(schema, places)
            for part in conjuncts(schema.condition):
                if not isinstance(part, Atomic) or part.variables - whole.keys():
                    continue
                if part.pattern[0] in self._hidden:
                    continue
                fact = ground(part.pattern, whole)
                fails = not part.holds(whole, known)
                if fails and self._sight.is_seen(fact, known, places):
                    return telling.why_not(fact, place, is_true=part.negated)
        return UNSEEN

    def _place_of(self, schema: Schema, places: frozenset[str]) -> dict[str, str]:
        """Returns the player's place as the action's, if there is one of each."""
        anchors = self._whereabouts.anchors(schema)
        if len(anchors) != 1 or len(places) != 1:
            return {}
        (place,) = places
        return {anchors[0].place: place}

    @cached_property
    def from_anywhere(self) -> list[str]:
        """The actions that need nobody at their place."""
        return [
            schema.name
            for named in self._task.actions.values()
            for schema in named
            if not self._whereabouts.anchors(schema)
        ]


def _plain(schema: Schema, binding: Mapping[str, str]) -> Iterable[tuple[Fact, bool]]:
    """Yields the facts of an action's plain preconditions, and whether each must be
    false.
    """
    parts: Sequence[object] = conjuncts(schema.condition)
    for part in parts:
        if isinstance(part, Atomic) and part.pattern[0] != "=":
            yield ground(part.pattern, binding), part.negated
