"""The papers' table: others' numbers stand beside ours, are told apart from them, and
were copied without a slip.
"""

from collections import defaultdict
from pathlib import Path

import pytest

from pddlego_local.core.record.counting import TRIVIAL, Also
from pddlego_local.core.resources import folder
from pddlego_local.report.cells import find_cells
from pddlego_local.report.papers import (
    HERE,
    Row,
    paper_results,
    papers_markdown,
    published,
)
from pddlego_local.report.statistics.rates import Rate
from tests.pddlego import Pddlego
from tests.planted import FREE, SYNTAX, composed, plant, plant_rows, wins
from tests.rows import row


def ours(runs: Path, *, also: Also = ()) -> list[Row]:
    results = paper_results(find_cells([runs]), also=also)
    return [result for result in results if result["source"] == HERE]


def rows_of(runs: Path) -> list[dict[str, str]]:
    """The rows of the table in papers.md, by column."""
    text = papers_markdown(paper_results(find_cells([runs])))
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    head, _, *rows = [line.strip("| ").split(" | ") for line in lines]
    return [dict(zip(head, cells, strict=True)) for cells in rows]


@pytest.mark.parametrize(
    "result", published(), ids=lambda result: f"{result['source']} {result['model']}"
)
def test_a_published_number_can_be(result: Row) -> None:
    conf = folder("conf")
    assert (conf / "method" / f"{result['method']}.yaml").exists()
    assert (conf / "environment" / f"{result['environment']}.yaml").exists()
    success, n = result["success"], result["n"]
    assert 0 <= success <= (result["highest"] or 1) <= 1
    if n:  # so many games of n: no other share rounds to it
        assert abs(round(success * n) / n - success) <= 0.005
    for kind in ("solver", "simulation"):
        errors = result[f"{kind}_errors"]
        fixed, aborts = result[f"{kind}_errors_fixed"], result[f"{kind}_aborts"]
        # An error is fixed, or it ended the episode.
        assert errors is None or errors == (fixed or 0) + (aborts or 0)


Wins = dict[tuple[str, str, str], float]


def wins_of(source: str) -> tuple[Wins, Wins]:
    """Games won by environment, model and method: in all kinds of tasks together, and
    in the table.
    """
    by_kind: Wins = defaultdict(float)
    whole: Wins = {}
    for result in published():
        if not result["source"].startswith(source) or not result["n"]:
            continue
        key = (result["environment"], result["model"], result["method"])
        won = result["success"] * result["n"]
        if result["tasks"]:
            by_kind[key] += won
        elif not result["variant"]:
            whole[key] = won
    return by_kind, whole


def test_the_papers_tables_agree_with_each_other() -> None:
    by_kind, whole = wins_of("PDDLego+ table")
    assert len(by_kind) == 8
    for key, won in by_kind.items():
        assert won == pytest.approx(whole[key])
    detailed = [
        result
        for result in published()
        if result["source"].startswith("PDDLego+ table")
        and result["variant"] == "detailed"
    ]
    assert len(detailed) == 6
    for result in detailed:
        key = (result["environment"], result["model"], result["method"])
        assert 100 * result["success"] == pytest.approx(whole[key])


def test_the_games_that_were_not_trivial_agree_with_the_whole_table() -> None:
    trivial_won = {"DeepSeek-R1": 9, "GPT-4.1": 13, "o3-mini": 16}
    _, whole = wins_of("PDDLego+ table 1")
    for result in published():
        if result["source"] == "PDDLego+ records without trivial games":
            model = result["model"]
            won = result["success"] * result["n"] + trivial_won.pop(model)
            in_table = whole["coin", model, "pddlego_plus"]
            assert won == pytest.approx(in_table, abs=0.01)
    assert not trivial_won


def test_deps_by_type_adds_up_to_its_average() -> None:
    by_kind, whole = wins_of("DEPS table 6")
    assert len(whole) == 4
    assert by_kind == pytest.approx(whole, abs=0.01)


def plant_rooms(runs: Path, method: str) -> None:
    """Cells of two sizes, each with a trivial game, one won, one lost and one that is
    missing.
    """
    for rooms in (3, 11):
        kind = f"{rooms} rooms"
        won = row(
            game=1,
            task_type=kind,
            solver_errors=2,
            solver_errors_fixed=2,
            steps=4,
            pddlego_steps=9,
        )
        lost = row("solver_abort", 2, task_type=kind, solver_errors=1, steps=1)
        trivial = row("success_at_start", 0, task_type=kind)
        cell = composed(f"environment.rooms={rooms}", f"method={method}")
        plant_rows(runs, cell, [trivial, won, lost], "0-3")


def test_cells_of_all_rooms_are_one_system(tmp_path: Path) -> None:
    plant_rooms(tmp_path, "pddlego_plus")
    whole, *kinds = ours(tmp_path)
    # The same numbers in other houses are other games.
    assert whole["success"] == Rate(2, 4)
    assert (whole["games"], whole["missing"]) == ("rooms 3, 11", 2)
    errors = whole["solver_errors"], whole["solver_errors_fixed"]
    assert (*errors, whole["solver_aborts"]) == (6, 4, 2)
    assert [(kind["tasks"], kind["n"]) for kind in kinds] == [
        ("3 rooms", 2),
        ("11 rooms", 2),
    ]
    shown = rows_of(tmp_path)
    assert shown[0]["success"] == "50.0 % [15.0, 85.0] of 4"
    assert shown[0]["missing"] == "2" and shown[0]["solver errors fixed"] == "4"
    assert shown[0]["pddlego steps on success"] == "9.0"
    assert {row["tasks"] for row in shown if row["source"] != HERE} >= {
        "3 rooms",
        "11 rooms",
    }


def test_trivial_games_are_scored_as_in_the_rest_of_the_report(tmp_path: Path) -> None:
    plant_rooms(tmp_path, "pddl_gen")
    assert ours(tmp_path)[0]["success"] == Rate(2, 4)
    assert ours(tmp_path, also=TRIVIAL)[0]["success"] == Rate(4, 6)


def test_kinds_of_tasks_have_the_names_that_others_use(tmp_path: Path) -> None:
    kinds = ("pick_and_place_simple", "clean", "look_at_obj_in_light")
    played = [row(game=game, task_type=kind) for game, kind in enumerate(kinds)]
    plant_rows(tmp_path, composed("environment=alfworld", "method=deps"), played, "0-2")
    shown = {(row["source"], row["tasks"]): row["success"] for row in rows_of(tmp_path)}
    for kind in kinds:
        assert shown[HERE, kind].endswith("of 1"), kind
    assert ("DEPS table 6", "pick_and_place_simple") in shown


def test_a_trial_that_was_not_played_again_is_of_its_games_kind(tmp_path: Path) -> None:
    played = [
        row(game=0, task_type="clean"),
        row("solved_before", 0, 1, task_type=""),
        row(game=1, task_type="heat"),
    ]
    cell = composed("environment=alfworld", "method=pddlego_plus")
    plant_rows(tmp_path, cell, played, "0-1", 2)
    found = [(result["tasks"], result["n"]) for result in ours(tmp_path)]
    assert found == [(None, 3), ("clean", 2), ("heat", 1)]


def test_seeds_of_one_game_widen_no_sample(tmp_path: Path) -> None:
    for seed in range(4):
        plant(tmp_path, f"seed={seed}", outcomes=wins(range(5), range(10)))
    (result,) = ours(tmp_path)
    success = result["success"]
    assert success.n == 40
    assert success.interval == pytest.approx(Rate(5, 10).interval)


def test_ours_and_others_are_never_one_row(tmp_path: Path) -> None:
    for rung in (FREE, SYNTAX):
        plant(tmp_path, rung, outcomes=wins(range(3), range(5)))
    plant(tmp_path, "method.variant=simple", outcomes=wins(range(1), range(5)))
    plant(tmp_path, f"method.domains={tmp_path}", outcomes=wins(range(5), range(5)))
    shown = rows_of(tmp_path)
    here = [row for row in shown if row["source"] == HERE]
    assert [
        (row["decoding"], row["variant"], row["domain"], row["success"]) for row in here
    ] == [
        ("free", "detailed", "–", "60.0 % [23.1, 88.2] of 5"),
        ("syntax", "detailed", "–", "60.0 % [23.1, 88.2] of 5"),
        ("syntax", "detailed", "fixed", "100.0 % [56.6, 100.0] of 5"),
        ("syntax", "simple", "–", "20.0 % [3.6, 62.4] of 5"),
    ]
    others = {
        (row["source"], row["model"], row["domain"]): row["success"]
        for row in shown
        if row["tasks"] == "–" and row["source"] != HERE
    }
    assert others["PDDLego+ table 1", "o3-mini", "–"] == "86 %"
    assert others["public runs", "Qwen3-32B", "–"] == "63–69 %"
    assert others["PDDLego+ records figure 10", "DeepSeek-R1", "fixed"] == "88 %"
    # Those of other methods are left out.
    assert not any(source.startswith("PDDLego table") for source, _, _ in others)


def test_there_is_a_file_only_where_others_reported_results(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    out, runs = tmp_path / "out", tmp_path / "runs"
    plant(runs, outcomes=wins(range(3), range(5)))
    pddlego("report", runs, "--out", out, "--without-pages")
    assert "Gong et al." in (out / "papers.md").read_text(encoding="utf-8")
    plant(tmp_path / "other", "method=fcrf", outcomes=wins(range(3), range(5)))
    pddlego("report", tmp_path / "other", "--out", out, "--without-pages")
    assert not (out / "papers.md").exists()
