"""Cells whose outcomes are planted, with the settings that real ones have."""

import functools
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from hydra import compose, initialize_config_dir

from pddlego_local.core.formats import FORMAT, to_json
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.resources import folder
from pddlego_local.report.cells import find_cells
from pddlego_local.report.comparisons import Comparison, compared
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.overrides import as_meant
from pddlego_local.runner.sweep import cells_of
from tests.rows import row


@functools.cache
def composed(*overrides: str) -> CellConfig:
    """Of random weights if no model is named: no grammar reaches rules."""
    named = any(word.startswith("model=") for word in overrides)
    return compose_cell([*overrides, *["model=random"] * (not named)])


def conf_of(experiment: str) -> Path | None:
    """The folder of configurations beside a page on results that has this experiment;
    None for one of conf/, whose name has a folder.
    """
    if "/" in experiment:
        return None
    (file,) = RESULTS.glob(f"*/conf/experiment/{experiment}.yaml")
    return file.parents[1]


def swept(experiment: str, *overrides: str) -> list[list[str]]:
    """The overrides of each cell that an experiment would play."""
    beside = conf_of(experiment)
    search = f"hydra.searchpath=[{f'file://{beside}' if beside else ''}]"
    with initialize_config_dir(str(folder("conf")), version_base="1.3"):
        wanted = as_meant([f"experiment={experiment}", search, *overrides])
        return cells_of(compose("config", wanted, return_hydra_config=True))


RESULTS = Path(__file__).parents[1] / "docs" / "results"
WON = "success"
LOST = "step_limit"
GAMES = range(40)
FREE, SYNTAX, TYPED, GROUNDED = (
    f"decoding={r}" for r in ("free", "syntax", "typed", "grounded")
)


def plant(
    runs: Path,
    *overrides: str,
    outcomes: Mapping[int, str | Iterable[str]] = {},
    asked: str = "",
    **recorded: object,
) -> Path:
    """A cell of these overrides. `outcomes` are those of each game, of its trials where
    there are several; `asked` are the games that were to be played, all of `outcomes`
    if not given.
    """
    listed = {
        g: [told] if isinstance(told, str) else list(told)
        for g, told in outcomes.items()
    }
    rows = [
        row(outcome, game, trial, calls=2, completion_tokens=100, wall_time_s=10.0)
        for game, trials in listed.items()
        for trial, outcome in enumerate(trials)
    ]
    asked = asked or ",".join(map(str, listed))
    trials = max((len(of_game) for of_game in listed.values()), default=1)
    return plant_rows(runs, composed(*overrides), rows, asked, trials, recorded)


def plant_rows(
    runs: Path,
    config: CellConfig,
    rows: Iterable[EpisodeRow],
    asked: str,
    trials: int = 1,
    recorded: Mapping[str, object] | None = None,
) -> Path:
    folder = runs / config.cell
    folder.mkdir(parents=True)
    run = {
        "format": FORMAT,
        "labels": dict(config.labels),
        "environment": config.labels["environment"].split("_")[0],
        "task_groups": {},
        "identity": config.identity,
        "starts": [{"config": {"games": asked, "trials": trials}}],
        **(recorded or {}),
    }
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    (folder / "episodes.jsonl").write_text(
        "".join(to_json(row) + "\n" for row in rows), encoding="utf-8"
    )
    return folder


def wins(won: Iterable[int], games: Iterable[int]) -> dict[int, str]:
    """Outcomes of one episode a game."""
    winning = set(won)
    return {game: WON if game in winning else LOST for game in games}


def declare(runs: Path, *words: str) -> list[Path]:
    """Has sweeps declare comparisons such as "model=random:nano"; their files."""
    entries = [re.split("[=:]", word) for word in words]
    asked = [
        dict(zip(("factor", "base", "other"), entry, strict=False)) for entry in entries
    ]
    files = [
        folder / "sweep-0123456789ab.json"
        for folder in {c.folder.parent for c in find_cells([runs])}
    ]
    for file in files:
        file.write_text(
            json.dumps({"cells": {}, "compare": asked, "began": "9999"}),
            encoding="utf-8",
        )
    return files


def compare(runs: Path, *words: str) -> list[Comparison]:
    """What is tested; with words, if they were declared."""
    files = declare(runs, *words) if words else []
    try:
        return compared(find_cells([runs])).tested
    finally:
        for file in files:
            file.unlink()


def differences(runs: Path) -> list[Comparison]:
    """Whatever differs in one thing, asked or not."""
    found = compared(find_cells([runs]))
    return [*found.tested, *found.others]
