"""The taskset `pddlego_formalize`: the model writes a domain and a problem for the
description of a world, in one answer. The translator, the planner and the world's gold
files judge it.
"""

from collections.abc import Iterator

import verifiers.v1 as vf
from pddlego_games import GameEnv, GamesConfig, GameTask, tasks

__all__ = ["FormalizeTaskset", "GameEnv"]


class FormalizeTaskset(vf.Taskset[GameTask, GamesConfig]):
    def load(self) -> Iterator[GameTask]:
        return tasks(
            self.config, environment="described", actions="pddl", method="formalizer"
        )
