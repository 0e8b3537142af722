"""The comparisons that the experiments beside the pages on results declare find arms
among their cells.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pddlego_local.report.cells import find_cells
from pddlego_local.report.comparisons import compared
from pddlego_local.report.first_screen import verdicts_markdown
from pddlego_local.runner.config import compose_cell
from tests.planted import conf_of, plant_rows, swept
from tests.rows import row

# Those that name weights or rungs. Some others declare comparisons with arms of another
# experiment.
EXPERIMENTS = (
    "generalize",
    "grpo",
    "mechanism",
    "nano_fresh",
    "nano_worlds",
    "pretrained",
)
NO_ARMS = "This report has no two arms for:"


def report(runs: Path, experiment: str, *changed: str) -> str:
    """The verdicts on planted cells: one for each arm, in the first environment of a
    sweep.
    """
    sweep = swept(experiment, *changed)
    arms = {tuple(filter(of_an_arm, cell)): cell for cell in reversed(sweep)}
    for words in arms.values():
        cell = compose_cell(words, conf_of(experiment))
        start = {"config": dict(cell.tree), "began": "2026-01-01"}
        plant_rows(runs, cell, [row(calls=1)], "0", recorded={"starts": [start]})
    return verdicts_markdown(compared(find_cells([runs])))


def of_an_arm(override: str) -> bool:
    return not override.startswith(("environment", "seed"))


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to write to, in a folder that has the trained models of
    experiment=grpo.
    """
    monkeypatch.chdir(tmp_path)
    for run in (f"{rung}_{seed}" for rung in ("free", "grounded") for seed in range(3)):
        for updates in (10, 20, 30):
            (tmp_path / "runs" / "grpo" / run / f"{run}-update-{updates}").mkdir(
                parents=True
            )
    return tmp_path / "cells"


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_each_declared_comparison_finds_arms(experiment: str, trained: Path) -> None:
    text = report(trained, experiment)
    assert "Tested comparisons" in text
    assert NO_ARMS not in text


@pytest.mark.parametrize(
    ("changed", "without"),
    [
        (
            ["compare=[{factor: decoding.rung, base: free, other: typed}]"],
            "free against typed",
        ),
        (
            ["compare.0.where={model.weights: free_0-update-40}"],
            "model.weights is free_0-update-40",
        ),
    ],
)
def test_a_comparison_without_arms_is_told(
    changed: Sequence[str], without: str, trained: Path
) -> None:
    told = report(trained, "grpo", *changed).partition(NO_ARMS)[2]
    assert without in told.partition("\n")[0]
