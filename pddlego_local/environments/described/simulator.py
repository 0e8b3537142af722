"""Simulates a world on its gold files."""

import re
from collections import Counter
from collections.abc import Mapping

from pddlego_local.core.errors import UnsolvableGame
from pddlego_local.environments.described.world import World
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
        self.world, self._task = world, read_task(world.domain, world.problem)
        self._states: list[State] = [self._task.initial]
        """Several only if the domain has two actions of one name."""
        self._spelled = str.lower if exact else spelled
        named = {name: name for name in self._task.objects}
        self._objects = named if exact else spellings(named)

    @property
    def done(self) -> bool:
        return any(map(self._task.is_goal, self._states))

    def carry_out(self, command: str) -> str:
        """Carries out a command and returns "". Returns the reason if that is
        impossible; the state is then unchanged.
        """
        name, *arguments = command.lower().split() or [""]
        schemas = self._task.actions.get(name)
        if schemas is None:
            return (
                f"{command!r} is none of the actions {', '.join(self._task.actions)}."
            )
        arity = [len(schema.parameters) for schema in schemas]
        if len(arguments) not in arity:
            names = f"{command!r} names {len(arguments)} things"
            return f"{name} has {arity[0]} parameters, and {names}."
        things = [
            self._objects.get(a) or self._objects.get(self._spelled(a))
            for a in arguments
        ]
        known = [thing for thing in things if thing is not None]
        if len(known) < len(things):
            return f"There is no {arguments[things.index(None)]} in this world."
        step = (name, *known)
        after = {
            new: None
            for old in self._states
            for new in self._task.successors(old, step)
        }
        if not after:
            refusal = self._task.refusal(self._states[0], step)
            return f"({command}) cannot be carried out: {refusal}."
        self._states = [*after]
        return ""


def spelled(name: str) -> str:
    """Returns a name in lower case without separators. Texts say "block 3" for block3
    in the gold files, and a model may write block_3.
    """
    return re.sub(r"[\W_]+", "", name.lower())


def spellings(named: Mapping[str, str]) -> dict[str, str]:
    """Returns each object by its name, and by its name without separators if no other
    object has the same short name: not for city1-3 if there is a city13.
    """
    short = Counter(map(spelled, named))
    return {
        spelled(name): named[name] for name in named if short[spelled(name)] == 1
    } | dict(named)
