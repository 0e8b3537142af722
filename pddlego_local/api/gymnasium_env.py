"""The games as gymnasium environments, which are registered when this module is
imported.

    gymnasium.make("pddlego_local.api.gymnasium_env:pddlego/Coin-v0")

`pddlego/Game-v0` plays the `environment` that is given, which may be your own.
Observations and actions are texts.
"""

import string
from typing import Any

import gymnasium
from gymnasium.spaces import Text

from pddlego_local.api.game import Game
from pddlego_local.core.errors import ConfigError

ENVIRONMENTS = ("coin", "cooking_easy", "cooking_hard", "alfworld")
MOST_CHARACTERS = 100_000
MOST_GAMES = 2**30  # among which one is drawn
ANY_NUMBER = range(2**62)
_SPACE = Text(MOST_CHARACTERS, min_length=0, charset=string.printable)


class GameEnv(gymnasium.Env[str, str]):
    """Wraps a `pddlego_local.Game`, with the same options and the same `info`.

    Characters outside ASCII are replaced with "?", because a gymnasium text space has
    to list its characters.
    """

    observation_space = _SPACE
    action_space = _SPACE

    def __init__(self, render_mode: None = None, **options: Any) -> None:
        self.render_mode = render_mode
        self._game = Game(**options)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begins game number `seed`, or a random one if `seed` is None.

        A trivial game (already solved at reset) is skipped in favour of the next one;
        the last game is followed by the first. `options={"game": n}` begins game n even
        if it is trivial.
        """
        if options and options.keys() != {"game"}:
            raise ConfigError(f"reset has the option game alone, not {sorted(options)}")
        super().reset(seed=seed)
        if options:
            text, info = self._game.reset(options["game"])
            return _shown(text), {**info}
        games = self._game.seeds or ANY_NUMBER
        game = seed
        if game is None:
            game = int(self.np_random.integers(min(MOST_GAMES, len(games))))
        for _ in games:
            text, info = self._game.reset(game)
            if not info["outcome"]:
                return _shown(text), {**info}
            game = games[(game + 1) % len(games)]
        raise ConfigError(
            "every game of this environment is trivial; name one in options"
        )

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        text, reward, terminated, truncated, info = self._game.step(action)
        return _shown(text), reward, terminated, truncated, {**info}

    def close(self) -> None:
        self._game.close()


def _shown(text: str) -> str:
    return text.encode("ascii", "replace").decode()[:MOST_CHARACTERS]


for _name in ENVIRONMENTS:
    _title = _name.title().replace("_", "")
    gymnasium.register(
        f"pddlego/{_title}-v0",
        f"{__name__}:GameEnv",
        kwargs={"environment": _name},
    )
gymnasium.register("pddlego/Game-v0", f"{__name__}:GameEnv")
