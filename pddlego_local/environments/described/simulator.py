"""Simulates a world on its gold files."""

import re
from collections import Counter
from collections.abc import Iterable

from pddlego_local.core.errors import UnsolvableGame
from pddlego_local.core.nouns import TrueState
from pddlego_local.environments.described.world import World
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.state import State, read_task


class Simulator:
    """One world. Objects and actions have their names in the gold files, in lower
    case.
    """

    def __init__(self, world: World, task_type: str, *, exact: bool = False) -> None:
        """With `exact`, an object is known only by its exact name, not in another
        spelling. Raises UnsolvableGame.
        """
        if world.out_of_reach:
            raise UnsolvableGame(
                f"the world {world.name} of {task_type}: {world.out_of_reach}"
            )
        self.world = world
        self._task = read_task(world.domain, world.problem)
        self._states: list[State] = [self._task.initial]
        """Several only if the domain has two actions of one name."""
        self._respelled = {} if exact else spellings(self._task.objects)

    @property
    def done(self) -> bool:
        return any(map(self._task.is_goal, self._states))

    @property
    def facts(self) -> frozenset[Fact]:
        """The facts that are true now."""
        return self._states[0].facts

    @property
    def true_state(self) -> TrueState:
        return self._task.inspected(self._states[0])

    def carry_out(self, command: str) -> str:
        """Carries out a command and returns "". Returns the reason if that is
        impossible; the state is then unchanged.
        """
        name, *arguments = command.lower().split() or [""]
        schemas = self._task.actions.get(name)
        if schemas is None:
            actions = ", ".join(self._task.actions)
            return f"{command!r} is none of the actions {actions}."
        arities = [len(schema.parameters) for schema in schemas]
        if len(arguments) not in arities:
            return (
                f"{name} has {arities[0]} parameters, and {command!r} names"
                f" {len(arguments)} things."
            )
        step = [name]
        for argument in arguments:
            thing = self._known(argument)
            if thing is None:
                return f"There is no {argument} in this world."
            step.append(thing)
        after: list[State] = []
        for state in self._states:
            after += self._task.successors(state, step)
        if not after:
            refusal = self._task.refusal(self._states[0], step)
            return f"({command}) cannot be carried out: {refusal}."
        self._states = list(dict.fromkeys(after))
        return ""

    def _known(self, name: str) -> str | None:
        if name in self._task.objects:
            return name
        return self._respelled.get(spelled(name))


def spelled(name: str) -> str:
    """Returns a name in lower case without separators. Texts say "block 3" for block3
    in the gold files, and a model may write block_3.
    """
    return re.sub(r"[\W_]+", "", name.lower())


def spellings(names: Iterable[str]) -> dict[str, str]:
    """Returns each object by its name, and by its name without separators if no other
    object has the same short name: not for city1-3 if there is a city13.
    """
    short = {name: spelled(name) for name in names}
    times = Counter(short.values())
    known = {}
    for name, word in short.items():
        if times[word] == 1:
            known[word] = name
    for name in short:
        known[name] = name
    return known
