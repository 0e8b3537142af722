"""The papers' tables: others' numbers are told apart from ours, and were copied without
a slip.
"""

from collections import defaultdict
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.core.resources import folder
from pddlego_local.report.cells import find_cells
from pddlego_local.report.papers import (
    HERE,
    Result,
    paper_results,
    papers_markdown,
    published,
)
from pddlego_local.report.statistics.rates import Rate
from tests.planted import FREE, SYNTAX, composed, plant, plant_rows, wins
from tests.report.test_export import lines_of
from tests.rows import row


def results(runs: Path) -> list[Result]:
    return paper_results(find_cells([runs]))


def section(text: str, title: str) -> list[list[str]]:
    """The cells of a table, head and rows; [] where it is not there."""
    _, found, after = text.partition(f"## {title}\n\n")
    lines = after.split("\n\n")[0].splitlines() if found else []
    return [
        line.strip("| ").split(" | ") for line in lines if not line.startswith("| ---")
    ]


@pytest.mark.parametrize(
    "one", published(), ids=lambda one: f"{one.source} {one.model}"
)
def test_a_published_number_can_be(one: Result) -> None:
    assert (folder("conf") / "method" / f"{one.method}.yaml").exists()
    assert (folder("conf") / "environment" / f"{one.environment}.yaml").exists()
    assert one.lowest is not None and one.highest is not None
    assert 0 <= one.lowest <= one.highest <= 1
    if one.n:  # so many games of n: no other share rounds to it
        assert abs(round(one.lowest * one.n) / one.n - one.lowest) <= 0.005
    for errors, fixed, aborts in (
        (one.solver_errors, one.solver_errors_fixed, one.solver_aborts),
        (one.simulation_errors, one.simulation_errors_fixed, one.simulation_aborts),
    ):
        # an error is fixed, or it ended the episode
        assert errors is None or errors == (fixed or 0) + (aborts or 0)


Wins = dict[tuple[str, str, str], float]


def wins_of(source: str) -> tuple[Wins, Wins]:
    """Games won by environment, model and method: in all groups together, and in the
    table.
    """
    by_group: Wins = defaultdict(float)
    whole: Wins = {}
    for one in published():
        key = (one.environment, one.model, one.method)
        if one.source.startswith(source) and one.lowest is not None and one.n:
            if one.group:
                by_group[key] += one.lowest * one.n
            elif not one.variant:
                whole[key] = one.lowest * one.n
    return by_group, whole


def test_the_papers_tables_agree_with_each_other() -> None:
    by_group, whole = wins_of("PDDLego+ table")
    detailed = {
        (one.environment, one.model, one.method): 100 * (one.lowest or 0)
        for one in published()
        if one.source.startswith("PDDLego+ table")
        and one.variant == "detailed"
        and not one.group
    }
    assert len(by_group) == 8 and len(detailed) == 6
    for key, won in [*by_group.items(), *detailed.items()]:
        assert won == pytest.approx(whole[key])


def plant_rooms(runs: Path, method: str) -> None:
    """Cells of two sizes, each with a trivial game, one won, one lost and one that is
    missing.
    """
    for rooms in (3, 11):
        played = [row(game=0, outcome="success_at_start", task_type=f"{rooms} rooms")]
        played += [
            row(
                game=1,
                outcome="success",
                task_type=f"{rooms} rooms",
                solver_errors=2,
                solver_errors_fixed=2,
                steps=4,
                actions=7,
            )
        ]
        played += [row(game=2, outcome="solver_abort", task_type=f"{rooms} rooms",
                       solver_errors=1, steps=1)]  # fmt: skip
        cell = composed(f"environment.rooms={rooms}", f"method={method}")
        plant_rows(runs, cell, played, "0-3")


def test_cells_of_all_rooms_are_one_system(tmp_path: Path) -> None:
    plant_rooms(tmp_path, "pddlego_plus")
    ours = [one for one in results(tmp_path) if one.source == HERE]
    whole, *groups = ours
    assert (whole.n, whole.missing) == (4, 2) and whole.lowest == pytest.approx(2 / 4)
    # the same numbers in other houses are other games
    assert (whole.interval_low, whole.interval_high) == pytest.approx(
        Rate(2, 4).interval
    )
    assert (whole.solver_errors, whole.solver_errors_fixed, whole.solver_aborts) == (
        6,
        4,
        2,
    )
    assert {(one.group, one.n) for one in groups} == {("3 rooms", 2), ("11 rooms", 2)}
    text = papers_markdown(results(tmp_path))
    assert (
        "of 4, 2 without a result"
        in section(text, "Success by method and model")[1][-1]
    )
    assert section(text, "Errors, and how many were fixed")[1][-6:-3] == [
        "6",
        "67 %",
        "2",
    ]
    head = section(text, "Difficulty")[0]
    assert head[-5:] == ["3 rooms", "5 rooms", "7 rooms", "9 rooms", "11 rooms"]


def test_trivial_games_count_in_ours_as_the_source_beside_them_wants(
    tmp_path: Path,
) -> None:
    """PDDLego's agents had nothing to do there; PDDLego+'s models played them, and lost
    some.
    """
    counting = {"pddlego_plus": 4, "plangen": 4, "pddl_gen": 6, "fcrf": 4}
    for method in counting:
        plant_rooms(tmp_path, method)
    whole = {one.method: one for one in results(tmp_path) if one.ours and not one.group}
    assert {method: one.n for method, one in whole.items()} == counting
    assert whole["pddl_gen"].games == "rooms 3, 11, 8 games (2 trivial counted)"
    assert whole["pddlego_plus"].games == "rooms 3, 11, 6 games (2 trivial left out)"
    text = papers_markdown(results(tmp_path))
    assert "no free wins" in text
    _, *rows = section(text, "Success by method and model")
    beside = [row for row in rows if row[0] == "PDDLego+ records without trivial games"]
    assert [cell for row in beside for cell in row if " of 8" in cell] == [
        "40 % of 81", "43 % of 81", "85 % of 82",
    ]  # fmt: skip


def test_the_games_that_were_not_trivial_agree_with_the_whole_table() -> None:
    trivial_won = {"DeepSeek-R1": 9, "GPT-4.1": 13, "o3-mini": 16}
    whole = {one.model: one for one in published() if one.source == "PDDLego+ table 1"
             and one.method == "pddlego_plus"}  # fmt: skip
    for one in published():
        if one.source == "PDDLego+ records without trivial games":
            assert one.n and one.lowest and whole[one.model].lowest
            won = one.lowest * one.n + trivial_won.pop(one.model)
            assert won == pytest.approx(100 * (whole[one.model].lowest or 0))
    assert not trivial_won


def test_deps_by_type_adds_up_to_its_average_and_stands_beside_ours(
    tmp_path: Path,
) -> None:
    by_type, whole = wins_of("DEPS table 6")
    assert len(whole) == 4
    assert by_type == pytest.approx(whole, abs=0.01)
    kinds = ("pick_and_place_simple", "clean", "look_at_obj_in_light")
    played = [
        row(game=game, outcome="success", task_type=kind)
        for game, kind in enumerate(kinds)
    ]
    plant_rows(tmp_path, composed("environment=alfworld", "method=deps"), played, "0-2")
    head, *rows = section(papers_markdown(results(tmp_path)), "Difficulty")
    shown = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    for kind in kinds:
        assert shown[HERE][kind].endswith("of 1"), kind
    assert shown["DEPS table 6"]["pick_and_place_simple"] == "93 % of 15"


def test_a_trial_that_was_not_played_again_is_of_its_games_kind(tmp_path: Path) -> None:
    played = [row(game=0, task_type="clean"), row("solved_before", 0, 1, task_type="")]
    plant_rows(
        tmp_path, composed("environment=alfworld", "method=reflexion"), played, "0", 2
    )
    ours = [(one.group, one.n) for one in results(tmp_path) if one.ours]
    assert ours == [("", 2), ("clean", 2)]


def test_steps_are_shown_as_pddlego_counts_them(tmp_path: Path) -> None:
    played = [row(game=1, outcome="success", pddlego_steps=9, refused=2)]
    plant_rows(tmp_path, composed("method=action_gen"), played, "1")
    head, ours, paper = section(papers_markdown(results(tmp_path)), "Steps and actions")
    assert head[-2:] == ["PDDLego's steps on success", "refused on success"]
    assert (ours[-2:], paper[-2:]) == (["9.0", "2.0"], ["13.6", "3.3"])


def test_seeds_of_one_game_widen_no_sample(tmp_path: Path) -> None:
    for seed in range(4):
        plant(tmp_path, f"seed={seed}", outcomes=wins(range(5), range(10)))
    one, _ = [one for one in results(tmp_path) if one.ours]
    assert one.n == 40
    assert (one.interval_low, one.interval_high) == pytest.approx(Rate(5, 10).interval)


def test_ours_and_others_are_never_one_row(tmp_path: Path) -> None:
    for method in ("pddlego_plus", "plangen"):
        for rung in (FREE, SYNTAX):
            plant(tmp_path, f"method={method}", rung, outcomes=wins(range(3), range(5)))
    head, *rows = section(
        papers_markdown(results(tmp_path)), "Success by method and model"
    )
    assert head[-2:] == ["pddlego_plus", "plangen"]
    ours = [row for row in rows if row[0] == HERE]
    assert [row[head.index("decoding")] for row in ours] == ["free", "syntax"]
    assert all(cell == "60.0 % [23.1, 88.2] of 5" for row in ours for cell in row[-2:])
    others = {
        (row[0], row[head.index("model")]): row[-2:] for row in rows if row[0] != HERE
    }
    assert others["PDDLego+ table 1", "o3-mini"] == ["86 % of 100", "52 % of 100"]
    assert others["public runs", "Qwen3-32B"] == ["63–69 %", "68–73 %"]
    assert not any(
        "PDDLego table" in source for source, _ in others
    )  # of other methods


def test_prompts_and_fixed_domains_have_tables_where_they_were_played(
    tmp_path: Path,
) -> None:
    plant(tmp_path, outcomes=wins(range(3), range(5)))
    text = papers_markdown(results(tmp_path))
    assert not section(text, "What the prompt says about goals")
    assert not section(text, "A domain that won before, held fixed")
    plant(tmp_path, "method.variant=simple", outcomes=wins(range(1), range(5)))
    plant(tmp_path, f"method.domains={tmp_path}", outcomes=wins(range(5), range(5)))
    text = papers_markdown(results(tmp_path))
    prompts = section(text, "What the prompt says about goals")
    assert prompts[0][-2:] == ["detailed", "simple"]
    assert prompts[1][-2:] == ["60.0 % [23.1, 88.2] of 5", "20.0 % [3.6, 62.4] of 5"]
    fixed = section(text, "A domain that won before, held fixed")
    assert fixed[0][-3:] == ["domain fixed", "domain seed", "domain written"]
    assert fixed[1][-3:] == [
        "100.0 % [56.6, 100.0] of 5",
        "–",
        "60.0 % [23.1, 88.2] of 5",
    ]
    assert ["88 % of 100", "–", "–"] in [row[-3:] for row in fixed]
    assert ["–", "83–88 %", "63–69 %"] in [row[-3:] for row in fixed]
    (success,) = [
        r for r in section(text, "Success by method and model") if r[0] == HERE
    ]
    assert success[-1] == "60.0 % [23.1, 88.2] of 5"


def test_the_files_of_the_papers_tables(tmp_path: Path) -> None:
    plant(tmp_path / "runs", outcomes=wins(range(3), range(5)))
    out = tmp_path / "out"
    assert run(["report", str(tmp_path / "runs"), "--out", str(out)]) == 0
    lines = lines_of(out / "papers.csv")
    assert {line["source"] for line in lines} >= {
        HERE,
        "PDDLego+ table 1",
        "public runs",
    }
    assert float(lines[0]["lowest"]) == 0.6 and lines[0]["n"] == "5"
    assert "Gong et al." in (out / "papers.md").read_text(encoding="utf-8")
