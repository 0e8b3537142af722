"""The way back from a game's command to the action that it is of, and walks by commands."""

from collections.abc import Iterator

from pddlego_local.core.nouns import Action, Turn
from pddlego_local.core.protocols import Environment
from pddlego_local.environments.tables import Tables


def parse(tables: Tables, command: str) -> tuple[Action, dict[str, str]] | None:
    """ "move west" is (the action move, {"dir": "west"}); None for no action."""
    for action in tables.actions:
        arguments = action.arguments(command)
        if arguments is not None:
            return action, arguments
    return None


def memories(game: Environment, seed: int, count: int, stride: int = 1) -> Iterator[list[Turn]]:
    """What is known after one, two, … offered commands that the game took."""
    seen = game.reset(seed)
    memory = [Turn("look around", seen.text)]
    for number in range(count):
        yield list(memory)
        command = seen.commands[stride * number % len(seen.commands)]
        seen = game.step(command)
        if not (seen.refused or command.startswith("close")):
            memory.append(Turn(command, seen.text))
