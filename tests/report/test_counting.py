"""Which episodes count, and that everyone who counts says the same."""

import io
import re
from pathlib import Path

from rich.console import Console

from pddlego_local.cli import run
from pddlego_local.core.record.counting import (
    SEEN,
    TRIVIAL,
    Standing,
    counted,
)
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.text import report_markdown
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cells
from tests.report.test_report import report, write_cell
from tests.rows import row


def test_one_number_everywhere_where_trials_follow_a_trivial_game(
    tmp_path: Path,
) -> None:
    """Game 3 is trivial: none of its trials counts, in a run that was continued too."""
    out, console = tmp_path / "runs", Console(file=io.StringIO(), width=200)
    overrides = ["method=reflexion", "model=reference", "games='1,3'", f"run.out={out}"]
    for trials in (2, 4):
        run_cells(
            [compose_cell([*overrides, f"trials={trials}"])], lambda _: None, console
        )
    *_, live = console.file.getvalue().split("success ")  # type: ignore[attr-defined]
    assert live.startswith("100.0% of 4 scored (4 trivial excluded)")
    (cell,) = report(out).cells
    assert (cell.measures.success.k, cell.measures.success.n, cell.trivial) == (4, 4, 4)
    assert "learns in one game" not in report_markdown(
        report(out)
    )  # as Reflexion does not
    assert run(["report", str(out), "--out", str(tmp_path / "pages")]) == 0
    page = (tmp_path / "pages" / "index.html").read_text(encoding="utf-8")
    assert len(re.findall(r"<td>no: trivial</td>", page)) == 4
    assert len(re.findall(r"<td>yes</td>", page)) == 4


def seen(game: int, trial: int = 0, outcome: str = "success") -> EpisodeRow:
    return row(outcome, game, trial, map="hall", map_seen=True)


MIXED = [
    seen(0), row("solved_before", 0, 1),  # what was not played knows no map
    seen(1, outcome="success_at_start"), row("solved_before", 1, 1),
    row("success_at_start", 2), row("solved_before", 2, 1),
    row("unsolvable_game", 3), row("unsolvable_game", 3, 1),
    row("step_limit", 4), row("success", 4, 1),
]  # fmt: skip


def test_games_whose_map_was_seen_in_training_stand_apart_with_all_their_trials(
    tmp_path: Path,
) -> None:
    kept = counted(MIXED)
    assert [(one.game, one.trial) for one in kept.counted] == [(4, 0), (4, 1)]
    assert {why: len(rows) for why, rows in kept.apart.items()} == {
        "unsolvable": 2, "seen in training": 4, "trivial": 2
    }  # fmt: skip
    with_trivial = counted(MIXED, also=TRIVIAL).counted
    assert {one.game for one in with_trivial} == {2, 4}  # and not 1, which was seen
    with_seen = counted(MIXED, also=SEEN).counted
    assert {one.game for one in with_seen} == {0, 4}  # and not 1, which is trivial, too
    write_cell(tmp_path, MIXED, "0-4")
    (cell,) = report(tmp_path).cells
    assert (cell.seen_in_training, cell.trivial, cell.unsolvable) == (4, 2, 2)
    assert (cell.measures.success.k, cell.measures.success.n) == (1, 2)


def test_episodes_may_end_in_any_order() -> None:
    for rows in (
        MIXED,
        MIXED[::-1],
        [*MIXED, *MIXED],
    ):  # and one that is told twice is one
        standing = Standing()
        for one in rows:
            standing.add("cell", one)
        assert (standing.counting, standing.won) == (2, 1)
        assert standing.success == (
            "50.0% of 2 scored (2 unsolvable, 4 seen in training, 2 trivial excluded)"
        )
