from pathlib import Path

import pytest

from pddlego_local.models.random import make_random_llama


@pytest.fixture(scope="session")
def random_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_random_llama(tmp_path_factory.mktemp("models") / "random", seed=7)
