"""One pair of servers for the tests that a process runs: a start takes half a minute."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.models.random import make_random_llama
from pddlego_local.models.vllm.model import VllmModel
from tests.serving.served import ONE_THREAD, served, serving


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_random_llama(tmp_path_factory.mktemp("served") / "random", seed=7)


@pytest.fixture(scope="session")
def servers(weights: Path) -> Iterator[dict[bool, VllmModel]]:
    """Without and with forced tokens. `test_vllm_killed` comes last and kills them."""
    variables = {**ONE_THREAD, "VLLM_SERVER_DEV_MODE": "1"}
    with contextlib.ExitStack() as stack:
        models = {}
        for forced in (False, True):
            models[forced] = served(weights, serving(forced_tokens=forced, variables=variables))
            stack.enter_context(contextlib.closing(models[forced])).start()
        yield models


@pytest.fixture(scope="session")
def model(servers: dict[bool, VllmModel]) -> VllmModel:
    """A server of ours as it starts on a CPU: with forced tokens."""
    return servers[True]
