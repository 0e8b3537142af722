"""The way back from a game's command to the action that it is of."""

from pddlego_local.core.nouns import Action
from pddlego_local.environments.tables import Tables


def parse(tables: Tables, command: str) -> tuple[Action, dict[str, str]] | None:
    """ "move west" is (the action move, {"dir": "west"}); None for no action."""
    for action in tables.actions:
        arguments = action.arguments(command)
        if arguments is not None:
            return action, arguments
    return None
