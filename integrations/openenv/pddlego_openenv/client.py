"""The client of a server of games."""

from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.types import State

from pddlego_openenv.models import Reply, Text


class PddlegoEnv(EnvClient[Text, Reply, State]):
    """A client of a server of games.

    `reset(seed=7, environment="coin", …)` begins game 7; the other arguments are
    options of `Game`.
    """

    def _step_payload(self, action: Text) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Reply]:
        reward, done = payload["reward"], payload["done"]
        observation = Reply(**payload["observation"], reward=reward, done=done)
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)
