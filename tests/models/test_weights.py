"""Weights by name or folder."""

from pathlib import Path

import pytest

from pddlego_local.core import resources
from pddlego_local.core.errors import MissingPart
from pddlego_local.models.weights import locate


def test_weights_that_come_with_the_package_have_a_name(
    random_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "folder", lambda name: random_llama.parent)
    assert locate("random") == random_llama
    with pytest.raises(MissingPart, match="make fetch MODEL=small"):
        locate("small")
    with pytest.raises(MissingPart, match="make nano"):
        locate("nano")
