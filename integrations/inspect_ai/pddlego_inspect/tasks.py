"""The games of pddlego_local as a task of inspect_ai.

    inspect eval pddlego_inspect/games -T environment=coin -T method=pddlego_plus \\
        -T actions=pddl
"""

import asyncio
import atexit
from collections.abc import Sequence
from itertools import islice
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from pddlego_local import Game

INSTRUCTION = (
    "You play a text game: do the task that it names; without one, find the coin, or"
    " prepare and eat the meal of the cookbook. Answer with one command of the game,"
    " and with nothing else."
)


@task
def games(seeds: Sequence[int] | None = None, number: int = 10, **options: Any) -> Task:
    """Returns a task of games; `options` are those of `pddlego_local.Game`.

    The games are those with these seeds; None takes the first `number` of
    `Game.eval_seeds`.
    """
    if seeds is None:
        game = Game(**options)
        seeds = list(islice(game.eval_seeds, number))
        game.close()
    samples = [
        Sample(id=seed, input=f"game {seed}", metadata={"game": seed}) for seed in seeds
    ]
    return Task(dataset=samples, solver=play(**options), scorer=earned())


@solver
def play(**options: Any) -> Solver:
    """Lets the model play a game for each sample.

    With actions="pddl" the model sees only the method's current prompt at each step.
    With commands it sees the whole dialogue so far. A later sample reuses the `Game`
    object of an earlier one.
    """
    idle: list[Game] = []

    def new_game() -> Game:
        game = Game(**options)
        atexit.register(game.close)
        return game

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        game = idle.pop() if idle else await asyncio.to_thread(new_game)
        rewards: list[float] = []
        try:
            text, info = await asyncio.to_thread(game.reset, state.metadata["game"])
            state.messages = [ChatMessageSystem(content=INSTRUCTION)]
            while not info["outcome"]:
                if options.get("actions") == "pddl":
                    prompt = info["messages"]
                    state.messages = [
                        _message(part.role, part.content) for part in prompt
                    ]
                else:
                    offered = "\n".join(info["commands"])
                    shown = ChatMessageUser(content=f"{text}\n\n{offered}")
                    state.messages.append(shown)
                state = await generate(state)
                answer = state.output.completion
                text, reward, _, _, info = await asyncio.to_thread(game.step, answer)
                rewards.append(reward)
        finally:
            idle.append(game)
        state.metadata |= {"rewards": rewards, "outcome": info["outcome"]}
        state.metadata["won"] = "won" in info["reached"]
        return state

    return solve


def _message(role: str, content: str) -> ChatMessage:
    kind = {"system": ChatMessageSystem, "user": ChatMessageUser}[role]
    return kind(content=content)


@scorer(metrics={"reward": [mean(), stderr()], "won": [mean(), stderr()]})
def earned() -> Scorer:
    """Scores a sample: the sum of its steps' rewards, and whether the game was won."""

    async def score(state: TaskState, target: Target) -> Score:
        played = state.metadata
        value = {"reward": sum(played["rewards"]), "won": float(played["won"])}
        return Score(value=value, explanation=played["outcome"], metadata={**played})

    return score
