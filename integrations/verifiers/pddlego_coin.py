"""The taskset `pddlego_coin`: the model writes PDDL to explore a house until it sees a
coin.
"""

from collections.abc import Iterator

import verifiers.v1 as vf
from pddlego_games import GameEnv, GamesConfig, GameTask, tasks

__all__ = ["CoinTaskset", "GameEnv"]


class CoinTaskset(vf.Taskset[GameTask, GamesConfig]):
    def load(self) -> Iterator[GameTask]:
        return tasks(
            self.config, environment="coin", actions="pddl", method="pddlego_plus"
        )
