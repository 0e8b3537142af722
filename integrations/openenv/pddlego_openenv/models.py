"""The messages between client and server."""

from openenv.core.env_server.types import Action, Observation


class Text(Action):
    """The action of a step: a command of the game, or the answer to a prompt."""

    text: str


class Reply(Observation):
    """The next observation or prompt. The other fields are those of
    `pddlego_local.Game`'s info.
    """

    text: str
    outcome: str
    commands: tuple[str, ...]
    map: str
    reached: tuple[str, ...]
    fault: str
