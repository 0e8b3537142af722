"""Weights by name or folder."""

from pathlib import Path

import pytest

from pddlego_local.core import resources
from pddlego_local.core.errors import MissingPart
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.weights import locate


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_random_llama(tmp_path / "tiny", seed=0)


def test_weights_that_come_with_the_package_have_a_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "folder", lambda name: folder.parent)
    assert locate("tiny") == folder
    with pytest.raises(MissingPart, match="make fetch MODEL=small"):
        locate("small")
    with pytest.raises(MissingPart, match="make nano"):
        locate("nano")
