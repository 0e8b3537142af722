"""Small runs that were really played: a perfect player and one that knows nothing."""

from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell

PLAYED = {
    "reference": ["model=reference", "decoding=typed", "games=1-3"],
    "random": ["model=random", "decoding=typed", "games=1", "decoding.max_tokens=400"],
}


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment of two cells: Coin with five rooms, by PDDLego+."""
    out = tmp_path_factory.mktemp("played")
    for model in PLAYED.values():
        cell = [
            "name=played",
            f"run.out={out}",
            "environment.rooms=5",
            "method.rounds=1",
        ]
        run_cell(compose_cell([*cell, *model]))
    return out / "played"


@pytest.fixture(scope="session")
def written(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of that experiment, with its pages and figures."""
    out = tmp_path_factory.mktemp("report")
    assert run(["report", str(played), "--out", str(out)]) == 0
    return out
