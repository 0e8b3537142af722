"""A cell keeps its name: a record that was begun with an earlier version goes on in its folder."""

import hashlib
from pathlib import Path

import pytest

from pddlego_local.runner.config import compose_cell
from tests.planted import swept

SWEEPS = {  # the first digits of a hash of all names
    "ceiling": "7064d4c64e93",
    "first_evening": "2d2af52be473",
    "nano": "ce94a569b64d",
    "nano_edit": "fe1da844bd3c",
    "paper_fcrf": "2b80e67ea430",
    "paper_pddlego_plus_alfworld": "3892bee5d5db",
    "replicate_qwen3_8b": "608164673b86",
    "sample": "f97bdfaa1306",
    "smoke": "af1e0ad36878",
    "workstation_trials": "77faf05e45ac",
}
NAMES = Path(__file__).with_name("cell_names.txt")


def test_every_cell_keeps_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Environments, methods, models and rungs in many combinations, and numbers in both spellings:
    `decoding.temperature=0` is no other value than 0.0, but names have it as it was written."""
    monkeypatch.setenv("ALFWORLD_DATA", "")
    lines = [line.split() for line in NAMES.read_text().splitlines() if line[0] != "#"]
    renamed = {
        " ".join(overrides): (name, composed)
        for name, *overrides in lines
        if (composed := compose_cell(overrides).cell) != name
    }
    assert not renamed and len(lines) > 200


@pytest.mark.parametrize(("experiment", "digest"), SWEEPS.items())
def test_the_cells_of_an_experiment_keep_their_names(experiment: str, digest: str) -> None:
    cells = map(compose_cell, swept(experiment))
    names = "\n".join(sorted(config.cell for config in cells))
    assert hashlib.sha256(names.encode()).hexdigest()[:12] == digest
