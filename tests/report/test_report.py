"""Tables from records made by hand, with the answers worked out in comments."""

import json
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.formats import FORMAT, to_json
from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.core.record.counting import TRIVIAL, Also
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.summary import summarize
from pddlego_local.report.cells import find_cells
from pddlego_local.report.exports import columns
from pddlego_local.report.numbers import Numbers, report_numbers
from pddlego_local.report.statistics.rates import Rate
from pddlego_local.report.text import rate, report_markdown
from tests.pddlego import Pddlego
from tests.report.test_export import lines_of
from tests.report.test_statistics import EVENTS
from tests.rows import row


def write_cell(
    folder: Path,
    rows: list[EpisodeRow],
    games: str,
    *,
    decoding: str = "syntax",
    seed: int = 0,
    rooms: int = 5,
    variant: str = "detailed",
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    run_json: dict[str, Any] = {
        "format": FORMAT,
        "labels": {
            "environment": "coin",
            "method": "m",
            "model": "random",
            "decoding": decoding,
        },
        "task_groups": {},
        "identity": {
            "environment": {"rooms": rooms, "budget": {"unit": "actions", "limit": 50}},
            "method": {"variant": variant},
            "decoding": {"rung": decoding, "reading": "lenient"},
            "seed": seed,
        },
        "starts": [
            {"config": {"games": games, "trials": 1 + max(row.trial for row in rows)}}
        ],
    }
    (folder / "run.json").write_text(json.dumps(run_json), encoding="utf-8")
    (folder / "episodes.jsonl").write_text(
        "".join(to_json(row) + "\n" for row in rows), encoding="utf-8"
    )


def ended(*outcomes: str) -> list[EpisodeRow]:
    """Games 0, 1, …; each was played as EVENTS tells."""
    counts = vars(summarize(EVENTS))
    return [row(outcome, game, **counts) for game, outcome in enumerate(outcomes)]


OUTCOMES_OF_FOUR = ("success", "success_at_start", "solver_abort", "success")


def report(folder: Path, *, also: Also = ()) -> Numbers:
    return report_numbers(find_cells([folder]), also=also)


def test_trivial_games_are_counted_apart_and_missing_ones_are_shown(
    tmp_path: Path,
) -> None:
    write_cell(tmp_path / "cell", ended(*OUTCOMES_OF_FOUR), "0-5")
    (cell,) = report(tmp_path).cells
    found = cell.measures
    assert (found.success.k, found.success.n) == (2, 3)
    assert (cell.asked, cell.finished, cell.missing) == (6, 4, 2)
    assert cell.trivial == 1
    assert cell.success_of_asked.low_if_lost == Rate(2, 5).interval[0]
    assert cell.success_of_asked.high_if_won == Rate(4, 5).interval[1]
    assert found.causes == {"solved": 9, "truncated": 3}
    assert found.solver_errors_fixed == Rate(3, 3)
    (cell,) = report(tmp_path, also=TRIVIAL).cells
    assert (cell.measures.success.k, cell.measures.success.n) == (3, 4)
    text = report_markdown(report(tmp_path))
    assert "| 4 of 6, 2 without a result |" in text and "missing results lost" in text


@pytest.mark.parametrize("crashes", [0, 1, 2])
def test_crashes_of_the_planner_are_told_apart_from_the_models_mistakes(
    tmp_path: Path, crashes: int
) -> None:
    faults = [
        row("solver_abort", game, causes={"planner_fault": 1})
        for game in range(crashes)
    ]
    write_cell(tmp_path, [*faults, row(game=2)], "0-2")
    told = (
        f"planner_fault is no mistake of the model: {crashes}"
        f" answer{'s'[: crashes - 1]} got no"
    )
    assert (told in report_markdown(report(tmp_path))) is bool(crashes)


def test_the_report_is_printed_and_written_as_markdown_and_csv(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    write_cell(tmp_path / "runs" / "a", ended(*OUTCOMES_OF_FOUR), "0-3")
    write_cell(tmp_path / "runs" / "b", ended("solver_abort"), "0")
    assert "66.7" in pddlego("report", tmp_path / "runs", "--out", tmp_path / "out").out
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    # How episodes ended, and results; of one kind of task alone, no table by kind
    assert text.count("\n|") == 8
    assert "PDDLego's steps on success" in text and "[" in text
    assert not (tmp_path / "out" / "trials.csv").exists()
    lines = lines_of(tmp_path / "out" / "report.csv")
    assert [(line["success_k"], line["success_n"]) for line in lines] == [
        ("2", "3"),
        ("0", "1"),
    ]
    words = {"environment", "method", "model", "decoding", "settings", "budget"}
    for line in lines:
        for name, text in line.items():
            assert name in words or text == "" or float(text) >= 0, (
                name
            )  # one number a column
    assert float(lines[0]["success_low"]) == Rate(2, 3).interval[0]
    assert lines[0]["pddlego_steps_on_success_mean"] == "4.0"
    assert lines[1]["steps_on_success_mean"] == ""  # a mean of nothing
    assert {f"outcomes_{name}" for name in OUTCOMES} < set(lines[0])
    assert {f"causes_{name}" for name in CAUSES} < set(lines[0])


@pytest.mark.parametrize("command", ["report", "rescore"])
def test_a_folder_without_runs_is_an_error_of_usage(
    command: str, tmp_path: Path, pddlego: Pddlego
) -> None:
    assert "no run.json" in pddlego(command, tmp_path, code=2).err


def test_nine_of_ten_games_solved_in_the_first_of_ten_trials(tmp_path: Path) -> None:
    rows = []
    for game in range(10):
        for trial in range(10):
            won = "success" if trial == 0 else "solved_before"
            rows.append(row(won if game < 9 else "step_limit", game, trial, actions=3))
    write_cell(tmp_path, rows, "0-9")
    numbers = report(tmp_path)
    (cell,) = numbers.cells
    assert rate(cell.measures.success) == "90.0 % [59.6, 98.2] of 100"  # as many games
    assert cell.measures.actions.n == 19  # what was not played says nothing of actions
    assert rate(cell.measures.games_solved) == "90.0 % [59.6, 98.2] of 10"
    assert rate(Rate(0, 0)) == "–"
    assert [
        (t.after_trial, t.games_solved.k) for t in numbers.trials if t.tasks == "all"
    ] == [(trial, 9) for trial in range(1, 11)]
    assert columns(numbers.trials[0])["missing"] == 0
    (task,) = (
        numbers.tasks
    )  # trials that were not played again name no kind, their game does
    assert (task.success.k, task.success.n) == (90, 100)


def test_games_with_one_map_are_one_cluster_and_the_report_says_how_many(
    tmp_path: Path,
) -> None:
    outcomes = ("step_limit", "success", "success", "success")
    rows = [
        row(outcomes[game % 4], game, map=f"house {game % 4}") for game in range(12)
    ]
    write_cell(tmp_path, [*rows, row("success_at_start", 12, map="house 9")], "0-12")
    numbers = report(tmp_path)
    (cell,) = numbers.cells
    assert (cell.measures.games, cell.measures.maps) == (12, 4)
    assert cell.measures.success.interval == pytest.approx(Rate(3, 4).interval)
    assert (numbers.tasks[0].games, numbers.tasks[0].success) == (
        12,
        cell.measures.success,
    )
    assert "| 12 (4 maps) |" in report_markdown(numbers)


def test_what_was_cut_after_a_whole_answer_is_told_where_there_is_some(
    tmp_path: Path,
) -> None:
    for cut in (0, 3):
        write_cell(tmp_path, [row(cut_after_answer=cut), row(game=1)], "0-1")
        (cell,) = report(tmp_path).cells
        assert cell.measures.cut_after_answer == cut
        assert (
            "cut after a whole answer" in report_markdown(report(tmp_path))
        ) is bool(cut)


def test_a_table_says_whether_trivial_games_are_scored(tmp_path: Path) -> None:
    write_cell(tmp_path, ended(*OUTCOMES_OF_FOUR), "0-3")
    assert "use --with-trivial" in report_markdown(report(tmp_path))
    scored = report_markdown(report(tmp_path, also=TRIVIAL))
    assert "Trivial games (solved at reset) are scored" in scored


def write_sweep(runs: Path, **games: str) -> None:
    """Writes that one command requested these games of each cell."""
    cells = {cell: [{"games": asked, "trials": 1}] for cell, asked in games.items()}
    sweep = {"cells": cells, "compare": None, "began": "2026-01-01"}
    path = runs / "sweep-0123456789ab.json"
    path.write_text(json.dumps(sweep), encoding="utf-8")


def test_an_unfinished_sweep_says_so_before_any_rate(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    """Of two cells that have begun one lacks two games; a third one has not begun."""
    runs, out = tmp_path / "runs", tmp_path / "out"
    write_cell(runs / "a", ended("success", "solver_abort"), "0-3")
    write_cell(runs / "b", ended("success"), "0", decoding="typed")
    write_sweep(runs, a="0-3", b="0", c="0-9")
    told = (
        "This sweep is not finished: 12 of 15 episodes have no result yet. 1 of 3 cells"
        " has not"
    )
    assert pddlego("report", runs, "--out", out).out.startswith(told)
    assert (out / "report.md").read_text(encoding="utf-8").startswith(f"**{told}")
    page = (out / "index.html").read_text(encoding="utf-8").partition("<body>")[2]
    assert told in page and page.index(told) < page.index("%")
    write_cell(runs / "a", ended("success", "solver_abort"), "0-1")
    write_sweep(runs, a="0-1", b="0")
    pddlego("report", runs, "--out", out)
    for text in (
        (out / "report.md").read_text(encoding="utf-8"),
        (out / "index.html").read_text(encoding="utf-8"),
    ):
        assert "not finished" not in text
