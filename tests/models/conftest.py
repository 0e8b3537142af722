from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.models.random import make_random_llama
from pddlego_local.models.transformers import TransformersModel
from tests.models.asking import CPU


@pytest.fixture(scope="session")
def random_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_random_llama(tmp_path_factory.mktemp("models") / "random", seed=7)


@pytest.fixture(scope="module")
def model(random_llama: Path) -> Iterator[TransformersModel]:
    model = TransformersModel(weights=str(random_llama), engine=CPU)
    yield model
    model.close()
