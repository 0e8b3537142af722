"""The shared part of the tasksets: each task is a game, which acts as the model's
user.
"""

import asyncio
import functools
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from typing import Any, Literal

import verifiers.v1 as vf
from pydantic import Field

from pddlego_local import Game


class GamesConfig(vf.TasksetConfig):
    """The options of a taskset, `--env.taskset.*`."""

    options: dict[str, Any] = Field(default_factory=dict)
    """The options of `pddlego_local.Game`."""
    number: int = 100
    """How many games the taskset has."""
    part: Literal["train", "eval"] = "train"
    """Takes the games of `Game.train_seeds` or of `Game.eval_seeds`, whose maps differ.
    """
    rewards: dict[str, float] = Field(
        default_factory=lambda: dict(Game.default_rewards)
    )
    """The weight of each part of the reward, by its name in `Game.default_rewards`."""


class GameData(vf.TaskData):
    """The data of a task: the number of a game, the options of `Game`, and the rewards'
    weights.
    """

    game: int
    options: dict[str, Any]
    rewards: dict[str, float]


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):
    pass


def tasks(config: GamesConfig, **options: Any) -> Iterator[GameTask]:
    """Yields a task for each game. The config's options take precedence over
    `options`.
    """
    options |= config.options
    with closing(Game(**options)) as game:
        seeds = game.train_seeds if config.part == "train" else game.eval_seeds
        for seed in islice(seeds, config.number):
            data = GameData(
                name=f"game {seed}", game=seed, options=options, rewards=config.rewards
            )
            yield GameTask(data, config.task)


class GameEnvConfig(vf.EnvConfig):
    player: vf.AgentConfig = vf.AgentConfig()


class GameEnv(vf.Env[GameEnvConfig]):
    """Lets the model answer prompts or observations until the game is over.

    The reward of each part is the number of answers that reached it.
    """

    async def run(self, task: GameTask, agents: vf.Agents) -> None:
        counts = Counter[str]()
        game = await asyncio.to_thread(functools.partial(Game, **task.data.options))
        try:
            text, info = await asyncio.to_thread(game.reset, task.data.game)
            async with agents.player.interaction(task) as interaction:
                while not info["outcome"]:
                    segment = await interaction.turn(text)
                    if segment.terminated:
                        break
                    text, _, _, _, info = await asyncio.to_thread(
                        game.step, segment.last_reply
                    )
                    counts.update(info["reached"])
        finally:
            await asyncio.to_thread(game.close)
        for name, weight in task.data.rewards.items():
            interaction.trace.record_reward(name, counts[name], weight)
        interaction.trace.info["outcome"] = info["outcome"]
