"""Two servers for the tests that a process runs: a start takes half a minute."""

import contextlib
import json
import shutil
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
def model(weights: Path) -> Iterator[VllmModel]:
    """A server of ours as it starts on a CPU, with two API servers."""
    yield from _started(weights, "--api-server-count", "2")


@pytest.fixture(scope="session")
def of_another_class(weights: Path) -> Iterator[VllmModel]:
    """A server with the class of tokenizer that vLLM would replace."""
    folder = shutil.copytree(weights, weights.parent / "of_another_class")
    config = folder / "tokenizer_config.json"
    named = {
        **json.loads(config.read_text(encoding="utf-8")),
        "tokenizer_class": "LlamaTokenizerFast",
    }
    config.write_text(json.dumps(named), encoding="utf-8")
    yield from _started(folder)


def _started(weights: Path, *extra: str) -> Iterator[VllmModel]:
    """`test_vllm_killed` comes last (tests.conftest) and kills them."""
    variables = {**ONE_THREAD, "VLLM_SERVER_DEV_MODE": "1"}
    server = serving(variables=variables, extra_arguments=extra)
    model = served(weights, server)
    with contextlib.closing(model):
        model.start()
        yield model
