"""What a model folder can do: unseen games, recorded as any run is."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from pddlego_local.core.errors import ModelFault
from pddlego_local.decoding.rungs import RUNGS, RungName
from pddlego_local.report.cells import find_cells
from pddlego_local.report.numbers import report_numbers
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell


def play(
    model: Path,
    cells: Sequence[tuple[str, RungName]],
    games: int,
    name: str,
    out: Path,
    console: Console,
) -> Iterator[dict[str, Any]]:
    """Plays the games 0, 1, … for each of some overrides ("environment.rooms=3") and each rung, at
    temperature 0, and gives a line "played" of `training.progress`; games that are solved at reset
    are not among `of`. Records go to OUT/NAME/. Raises ModelFault for an episode without a result.
    """
    for overrides, rung in cells:
        goal = ["decoding.goal=unmet"] * RUNGS[rung].typed
        cell = [
            f"name={name}",
            f"games=0-{games - 1}",
            f"run.out={out}",
            "model=transformers",
            f"model.weights={model}",
            "model.dtype=float32",
            f"decoding={rung}",
            "decoding.temperature=0",
            "decoding.max_tokens=1024",
            *goal,
            *overrides.split(),
        ]
        result = run_cell(compose_cell(cell), console)
        if result.faults:
            raise ModelFault(f"{result.faults[0]}; the same command tries it again")
        (numbers,) = report_numbers(find_cells([result.folder])).cells
        won = numbers.measures.success
        yield {"games": overrides, "rung": rung, "won": won.k, "of": won.n}
