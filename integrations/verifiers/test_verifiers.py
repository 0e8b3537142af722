"""The tasksets play the table of rewards with given answers in place of a model."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import verifiers.v1 as vf
from pddlego_games import GameData, GameEnv, GameEnvConfig, GamesConfig, GameTask
from verifiers.v1.clients import EvalClientConfig, ModelContext
from verifiers.v1.utils.loaders import (
    environment_class,
    load_environment,
    load_taskset,
    taskset_config_type,
)

from tests.models.quiet_server import QuietHandler, serving
from tests.rewards import Row, groups, rows


class Given:
    """A stand-in for an agent, which ends after its given answers."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = iter(texts)
        self.trace = SimpleNamespace(rewards={}, info={}, record_reward=self.record)

    def record(self, name: str, score: float, weight: float) -> None:
        self.trace.rewards[name] = vf.Reward(score=score, weight=weight)

    @asynccontextmanager
    async def interaction(self, task: GameTask) -> AsyncIterator["Given"]:
        yield self

    async def turn(self, text: str) -> vf.Segment:
        assert text
        answer = next(self.texts, None)
        return vf.Segment(messages=[], root_reply=answer, terminated=answer is None)


@pytest.mark.parametrize(("options", "table"), list(groups()))
def test_an_episode_earns_the_rewards_of_the_table(
    options: dict[str, Any], table: list[Row]
) -> None:
    for row in table:
        data = GameData(game=row.game, options=options, rewards=GamesConfig().rewards)
        given = Given(row.texts)
        agents: Any = SimpleNamespace(player=given)
        asyncio.run(GameEnv.run(None, GameTask(data, vf.TaskConfig()), agents))
        earned = sum(reward.value for reward in given.trace.rewards.values())
        assert earned == pytest.approx(sum(row.rewards))
        assert given.trace.info["outcome"] == row.outcome


@pytest.mark.parametrize("name", ["pddlego_coin", "pddlego_formalize"])
def test_verifiers_finds_the_tasksets_and_their_games(name: str) -> None:
    assert environment_class(name) is GameEnv
    config = taskset_config_type(name)(id=name, number=3)
    tasks = list(load_taskset(config))
    assert len({task.data.game for task in tasks}) == 3
    assert all(task.data.options["actions"] == "pddl" for task in tasks)


class Server(QuietHandler):
    """Answers every request with the same text, as a stream of events."""

    text = ""

    def do_POST(self) -> None:
        self.asked()
        events = []
        for delta, end in (
            ({"role": "assistant", "content": self.text}, None),
            ({}, "stop"),
        ):
            choice = {"index": 0, "delta": delta, "finish_reason": end}
            chunk = {
                "id": "1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "given",
            }
            events.append(json.dumps(chunk | {"choices": [choice]}))
        said = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])
        self.answer(said.encode(), Content_Type="text/event-stream")


def test_a_whole_rollout_with_a_server_earns_the_same() -> None:
    """Uses verifiers' own harness `null`, whose program sends the request to the
    server.
    """
    row = next(row for row in rows() if row.outcome == "valid_but_wrong")
    Server.text = row.texts[0]
    player = {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}}
    taskset = {"id": "pddlego_formalize", "number": 1}
    env = load_environment(GameEnvConfig(taskset=taskset, player=player))

    async def rollout(port: int) -> Any:
        client = EvalClientConfig(base_url=f"http://127.0.0.1:{port}/v1")
        async with env.serving():
            task = next(iter(env.taskset)).with_data(game=row.game)
            return await env.run_episode(
                task, ModelContext(model="given", client=client)
            )

    with serving(Server) as port:
        episode = asyncio.run(rollout(port))
    (trace,) = episode.traces
    assert episode.ok
    assert trace.reward == pytest.approx(sum(row.rewards))
    assert trace.info["outcome"] == row.outcome
