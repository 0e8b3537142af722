"""A run whose model is given instead of built from its config."""

from typing import Any

import pytest

from pddlego_local.decoding.question import Model
from pddlego_local.runner import run
from pddlego_local.runner.cell import ModelStore
from pddlego_local.runner.config import CellConfig


class _Given(ModelStore):
    """It stays open whatever runs end: its owner closes it."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self._given: Model = model

    def get(self, config: CellConfig) -> Model:
        return self._given

    def open(self, config: CellConfig, model: Model) -> None:
        pass


def give(model: object, patch: pytest.MonkeyPatch) -> None:
    """All runs of this test have this model."""
    patch.setattr(run, "ModelStore", lambda: _Given(model))
