"""Games in partly seen worlds that the reference plays."""

from pathlib import Path

from pddlego_local.core.record.folder import read_rows
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell


def cell_that_the_reference_wins(out: Path, *words: str) -> Path:
    """Plays game 0 with these options, and returns the folder of its record. The
    reference must win, and no command may be refused.
    """
    asked = ("environment=explored", "model=reference", "games=0", f"run.out={out}")
    result = run_cell(compose_cell([*asked, *words]))
    assert result.faults == []
    (row,) = read_rows(result.folder / "episodes.jsonl")
    assert row.success and row.refused == 0
    return result.folder
