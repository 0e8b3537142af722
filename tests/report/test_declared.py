"""When comparisons were declared, and which of their games the same weights had played
by then.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.report.cells import find_cells
from pddlego_local.report.comparisons import compared
from pddlego_local.report.verdicts import history_in_words, verdicts_markdown
from tests.pddlego import Pddlego
from tests.planted import FREE, GAMES, SYNTAX, declare, plant, wins

ASKED = [{"factor": "decoding.rung", "base": "free"}]
LATE = "These comparisons were declared after the first rows."


def start(
    began: str, compare: object = ASKED, games: str = "0-39", **facts: object
) -> dict[str, object]:
    return {
        "began": began,
        "config": {"games": games, "trials": 1, "compare": compare},
        **facts,
    }


def planted(
    runs: Path, *starts: object, weights: str = "w", games: range = GAMES
) -> Path:
    """A sweep of two rungs."""
    for rung, won in ((FREE, 3), (SYNTAX, 20)):
        outcomes, model = wins(range(won), games), {"fingerprint": weights}
        plant(runs, rung, outcomes=outcomes, starts=list(starts), model=model)
    return runs


def told(runs: Path, *earlier: Path) -> str:
    return verdicts_markdown(compared(find_cells([runs]), earlier=find_cells(earlier)))


def test_a_declaration_before_the_first_rows_is_told_with_its_commit(
    tmp_path: Path,
) -> None:
    planted(tmp_path, start("2026-02-02", commit="c" * 40, committed="2026-01-01"))
    text = told(tmp_path)
    assert (
        "were first recorded at 2026-02-02, at commit cccccccccccc. The commit was made"
        in text
    )
    assert "made at 2026-01-01. The first cell with rows began at 2026-02-02." in text
    assert (
        LATE not in text and "uncommitted" not in text and "had been played" not in text
    )
    assert (
        "2 cells were searched for older records of the same weights: those of this"
        in text
    )


def test_records_without_a_commits_time_say_so(tmp_path: Path) -> None:
    planted(tmp_path / "a", start("2026-02-02", commit="c" * 40, dirty=True))
    text = told(tmp_path / "a")
    assert (
        "When it was made is not recorded. The working tree had uncommitted changes."
        in text
    )
    planted(tmp_path / "b", start("", commit=None))
    text = told(tmp_path / "b")
    assert "recorded at no time, at an unknown commit." in text
    assert "began at no recorded time." in text and LATE not in text


def test_a_declaration_says_what_had_been_seen_and_where_the_setting_was_chosen(
    tmp_path: Path,
) -> None:
    known = {
        "looked_at": "20 games of seeds 0 to 19",
        "setting_from": "seeds 7400 to 7415.",
    }
    config = {"games": "0-39", "trials": 1, "compare": ASKED, **known}
    planted(tmp_path, {**start("2026-02-02"), "config": config})
    text = told(tmp_path)
    assert "Seen before the declaration: 20 games of seeds 0 to 19." in text
    assert "The setting was chosen in: seeds 7400 to 7415." in text


def test_nothing_is_told_where_nothing_was_declared(tmp_path: Path) -> None:
    planted(tmp_path, start("2026-02-02", compare=None))
    assert history_in_words(compared(find_cells([tmp_path]))) == ""


@pytest.mark.parametrize(
    ("first", "second", "late"),
    [
        (None, ASKED, True),
        ([], ASKED, True),
        (ASKED, ASKED, False),
        (ASKED, None, False),  # a start that declares nothing takes nothing back
    ],
)
def test_what_was_declared_after_the_first_rows_is_called_so(
    tmp_path: Path, first: object, second: object, late: bool
) -> None:
    planted(tmp_path, start("2026-02-02", first), start("2026-02-03", second))
    assert (LATE in told(tmp_path)) is late


def test_another_wish_in_between_counts_from_when_it_came_back(tmp_path: Path) -> None:
    planted(
        tmp_path, *(start(f"2026-02-0{n}", [] if n == 2 else ASKED) for n in (1, 2, 3))
    )
    assert "first recorded at 2026-02-03" in told(tmp_path) and LATE in told(tmp_path)


def test_a_later_sweep_of_cells_that_are_done_declares_late(tmp_path: Path) -> None:
    planted(tmp_path, start("2026-02-02", None))
    declare(tmp_path, "decoding.rung=free")  # at the end of time
    assert "at an unknown commit" in told(tmp_path) and LATE in told(tmp_path)


@pytest.mark.parametrize(
    ("facts", "late"),
    [
        ({}, True),  # the commit that holds it is younger than the rows
        ({"dirty": True}, False),  # it may not hold it: the start counts
        ({"command": ["pddlego", "run", "compare=[]"]}, False),
    ],
)
def test_a_commit_that_may_not_hold_the_declaration_is_no_proof_of_its_time(
    tmp_path: Path, facts: Mapping[str, Any], late: bool
) -> None:
    planted(
        tmp_path, start("2026-02-02", commit="c" * 40, committed="2026-02-05", **facts)
    )
    assert (LATE in told(tmp_path)) is late


def test_games_that_the_same_weights_had_played_before_are_counted(
    tmp_path: Path,
) -> None:
    runs = planted(tmp_path / "now", start("2026-02-02"))
    older = planted(
        tmp_path / "old", start("2026-02-01", games="5-14"), games=range(5, 15)
    )
    others = planted(tmp_path / "other", start("2026-02-01"), weights="another")
    later = planted(tmp_path / "later", start("2026-02-03"))
    assert "had been played" not in told(runs, others, later)
    text = told(runs, older, others)
    assert "10 of these 40 games had been played by the same weights before" in text
    assert "6 cells were searched" in text
    (found,) = compared(find_cells([runs]), earlier=find_cells([older])).tested
    assert found.seen_before == 10


def test_a_late_declarations_own_rows_are_games_seen_before(tmp_path: Path) -> None:
    starts = start("2026-02-02", None, games="0-19"), start("2026-02-03")
    assert "20 of these 40 games" in told(planted(tmp_path, *starts))


def test_the_command_takes_other_records(tmp_path: Path, pddlego: Pddlego) -> None:
    runs = planted(tmp_path / "now", start("2026-02-02"))
    older = planted(tmp_path / "old", start("2026-02-01"))
    said = pddlego("report", runs, "--out", tmp_path / "out", "--earlier", older).out
    assert "first recorded at 2026-02-02" in said
    for name in ("report.md", "index.html"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "40 of these 40 games had been played" in text
        assert "first recorded at 2026-02-02" in text
    pddlego("report", runs, "--earlier", tmp_path / "none", code=2)
