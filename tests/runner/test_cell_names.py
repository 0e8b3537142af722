"""A cell keeps its name: a record that was begun with an earlier version goes on in its folder."""

from pathlib import Path

import pytest
from hydra import initialize_config_dir

from pddlego_local.core.resources import folder
from pddlego_local.runner.config import compose_cell

NAMES = Path(__file__).with_name("cell_names.txt")


def test_every_cell_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments, methods, models and rungs in many combinations, and numbers in both spellings:
    `decoding.temperature=0` is no other value than 0.0, but names have it as it was written."""
    monkeypatch.setenv("ALFWORLD_DATA", "")
    lines = [line.split() for line in NAMES.read_text().splitlines() if line[0] != "#"]
    with initialize_config_dir(str(folder("conf")), version_base="1.3"):
        renamed = {
            " ".join(overrides): (name, composed)
            for name, *overrides in lines
            if (composed := compose_cell(overrides).cell) != name
        }
    assert not renamed and len(lines) > 200
