"""The OpenEnv server, which has a separate `pddlego_local.Game` for each connection.

pddlego-openenv --port 8000
"""

import argparse
import ipaddress
import os
from typing import Any

import uvicorn
from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import State

from pddlego_local import Game
from pddlego_openenv.key import VARIABLE, KeyRequired
from pddlego_openenv.models import Reply, Text

OPTIONS = frozenset({"environment", "environment__rooms", "actions", "method"})
"""The options of `Game` that a client may set; some of the others name files on the
server.
"""
MOST_CONNECTIONS = 16


class Games(Environment[Text, Reply, State]):
    """The environment of one connection; it plays games one after the other."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._game: Game | None = None
        self._options: dict[str, Any] = {}
        self._state = State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> Reply:
        """Begins game `seed`. Raises ValueError for an option that clients may not
        set.
        """
        if unknown := options.keys() - OPTIONS:
            raise ValueError(
                f"{min(unknown)}: a client may choose {', '.join(sorted(OPTIONS))}"
            )
        if self._game is None or options != self._options:
            self.close()
            self._game, self._options = Game(**options), options
        text, info = self._game.reset(seed or 0)
        self._state = State(episode_id=episode_id, step_count=0)
        return _observation(text, 0.0, bool(info["outcome"]), {**info})

    def step(self, action: Text, timeout_s: float | None = None, **rest: Any) -> Reply:
        """Plays a command or an answer. Raises ValueError if `reset` was not called
        before.
        """
        if self._game is None:
            raise ValueError("call reset first, on a connection that stays open")
        text, reward, terminated, truncated, info = self._game.step(action.text)
        self._state.step_count += 1
        return _observation(text, reward, terminated or truncated, {**info})

    @property
    def state(self) -> State:
        return self._state

    def close(self) -> None:
        if self._game is not None:
            self._game.close()
        self._game = None


def _observation(text: str, reward: float, done: bool, info: dict[str, Any]) -> Reply:
    shown = {name: value for name, value in info.items() if name in Reply.model_fields}
    return Reply(text=text, reward=reward, done=done, **shown)


app = create_app(
    Games, Text, Reply, env_name="pddlego", max_concurrent_envs=MOST_CONNECTIONS
)
app.add_middleware(KeyRequired)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--host", default="127.0.0.1", help=f"another address needs {VARIABLE}"
    )
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    if not is_loopback(arguments.host) and not os.environ.get(VARIABLE):
        parser.error(
            f"--host {arguments.host} lets other machines play games on this one: set"
            f" the environment variable {VARIABLE} to a key that clients must send, or"
            " leave out --host."
        )
    uvicorn.run(app, host=arguments.host, port=arguments.port)


def is_loopback(host: str) -> bool:
    """Returns whether only this machine reaches a server at this address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


if __name__ == "__main__":
    main()
