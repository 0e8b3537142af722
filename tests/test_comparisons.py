"""What comparisons say of planted outcomes, with the answers worked out in comments."""

from pathlib import Path

import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from pddlego_local.report.comparison_tables import comparisons_markdown
from pddlego_local.report.verdicts import verdict
from tests.planted import (
    FREE,
    GAMES,
    LOST,
    SYNTAX,
    WON,
    compare,
    composed,
    plant,
    plant_rows,
    wins,
)
from tests.rows import row


def test_an_arm_that_is_better(tmp_path: Path) -> None:
    plant(tmp_path, FREE, outcomes=wins(range(10), GAMES))
    plant(tmp_path, SYNTAX, outcomes=wins(range(1, 25), GAMES))
    (found,) = compare(tmp_path)
    # syntax wins the games 10 to 24 more, and loses game 0
    assert (found.games, found.pairs, found.missing) == (40, 40, 0)
    assert found.difference == pytest.approx(14 / 40)
    assert found.p == pytest.approx(mcnemar([[9, 15], [1, 15]], exact=True).pvalue)
    assert (found.base.success.k, found.other.success.k) == (10, 24)
    # 40 episodes of 2 calls, 100 tokens and 10 seconds each
    assert found.base.per_success.calls == 8 and found.base.per_success.wall_time_s == 40
    assert found.other.per_success.sampled_tokens == pytest.approx(4000 / 24)
    assert found.caveats == () and found.conclusion == "higher"
    assert verdict(found) == "helps: +35 points (18 to 51), p < 0.001 after Holm"


def test_the_other_way_round_it_harms(tmp_path: Path) -> None:
    plant(tmp_path, FREE, outcomes=wins(range(25), GAMES))
    plant(tmp_path, SYNTAX, outcomes=wins(range(10), GAMES))
    (found,) = compare(tmp_path)
    assert verdict(found).startswith("harms: -38 points (")


def test_no_difference_shown_is_not_no_effect(tmp_path: Path) -> None:
    for rung in (FREE, SYNTAX):
        plant(tmp_path, rung, outcomes=wins(range(15), range(30)))
    (found,) = compare(tmp_path)
    text = verdict(found)
    assert text == (
        "no difference shown: +0 points (-11 to 11), p = 1.00 after Holm; "
        "n = 30 could have shown 25 points"
    )
    assert "does not say that there is none" in comparisons_markdown([found])


def test_five_games_are_too_few_whatever_they_say(tmp_path: Path) -> None:
    plant(tmp_path, FREE, outcomes=wins([], range(5)))
    plant(tmp_path, SYNTAX, outcomes=wins(range(5), range(5)))
    (found,) = compare(tmp_path)
    assert "no difference shown" in verdict(found) and "too few to show any" in verdict(found)


def test_seeds_of_a_game_are_no_games(tmp_path: Path) -> None:
    # five seeds, each with the same five games more: 25 pairs to none, but only five games
    for seed in range(5):
        plant(tmp_path, FREE, f"seed={seed}", outcomes=wins([], range(10)))
        plant(tmp_path, SYNTAX, f"seed={seed}", outcomes=wins(range(5), range(10)))
    (found,) = compare(tmp_path)
    assert (found.games, found.pairs, found.difference) == (10, 50, 0.5)
    assert mcnemar([[0, 25], [0, 25]], exact=True).pvalue < 1e-6  # what ignoring this would say
    assert found.p == pytest.approx(2 / 2**5)
    assert found.conclusion == "not shown"
    assert "n = 10 games with 50 pairs" in verdict(found)


def test_trials_are_paired_with_trials(tmp_path: Path) -> None:
    plant(tmp_path, FREE, outcomes={game: [LOST, WON] for game in GAMES})
    plant(tmp_path, SYNTAX, outcomes={game: [WON, LOST] for game in GAMES})
    (found,) = compare(tmp_path)
    # each game gains its first trial and loses its second
    assert (found.pairs, found.difference, found.p) == (80, 0.0, 1.0)
    assert [(one.lost_by, one.pairs) for one in found.taken] == [("base", 40), ("other", 40)]


def test_what_is_missing_is_a_range_and_may_overturn(tmp_path: Path) -> None:
    plant(tmp_path, FREE, outcomes=wins([], GAMES))
    plant(tmp_path, SYNTAX, outcomes=wins(range(8), range(20)), asked="0-39")
    (found,) = compare(tmp_path)
    assert (found.pairs, found.missing, found.difference) == (20, 20, 0.4)
    # at the worst 8 to none of 40 pairs, at the best 28
    assert found.of_asked.low > 0 and not found.overturned_by_missing
    assert "20 of 40 pairs have no result yet: whatever they bring" in verdict(found)
    plant(tmp_path / "more", FREE, outcomes=wins([], range(8)), asked="0-39")
    plant(tmp_path / "more", SYNTAX, outcomes=wins(range(8), range(8)), asked="0-39")
    (found,) = compare(tmp_path / "more")
    assert found.conclusion == "higher" and found.of_asked.low < 0
    assert "which could overturn this" in verdict(found)


def test_of_nothing_but_missing_results_nothing_is_said(tmp_path: Path) -> None:
    plant(tmp_path, FREE, outcomes=wins([], range(30)))
    plant(tmp_path, SYNTAX, asked="0-29")
    (found,) = compare(tmp_path)
    assert (found.p, found.p_holm, found.family) == (None, None, 0)
    assert verdict(found) == "nothing to compare yet: none of 30 pairs has both results"


def test_free_comes_first_and_holm_counts_all(tmp_path: Path) -> None:
    won = {"free": 3, "syntax": 9, "typed": 13}
    for model in ("random", "reference"):
        for rung, count in won.items():
            plant(
                tmp_path, f"model={model}", f"decoding={rung}", outcomes=wins(range(count), GAMES)
            )
    found = compare(tmp_path)
    rungs = [("free", "syntax"), ("free", "typed")] * 2 + [("syntax", "typed")] * 2
    assert [(one.base.value, one.other.value) for one in found[:6]] == rungs
    assert [one.factor for one in found[6:]] == ["model"] * 3
    expected = multipletests([one.p for one in found], method="holm")[1]
    assert [one.p_holm for one in found] == pytest.approx(list(expected))
    assert {one.family for one in found} == {9}
    alone = next(one for one in found if one.base.value == "free" and one.other.value == "syntax")
    assert "p = 0.031 alone" in verdict(alone) and "no difference shown" in verdict(alone)
    assert {one.family for one in compare(tmp_path, "model")} == {3}


def test_where_the_lost_games_went(tmp_path: Path) -> None:
    base = [
        row("solver_abort", 0, causes={"solved": 9, "translate_error": 5, "truncated": 1}),
        row("solver_abort", 1, causes={"translate_error": 6}),
        row("step_limit", 2, causes={"solved": 4}),
        row("success", 3),
        row("success", 4),
    ]
    other = [row("game_lost" if game == 3 else "success", game, calls=1) for game in range(5)]
    plant_rows(tmp_path, composed(FREE), base, "0-4")
    plant_rows(tmp_path, composed(SYNTAX), other, "0-4")
    (found,) = compare(tmp_path)
    assert [(t.lost_by, t.outcome, t.cause, t.pairs) for t in found.taken] == [
        ("base", "solver_abort", "translate_error", 2),
        ("base", "step_limit", "", 1),
        ("other", "game_lost", "", 1),
    ]
    assert "solver_abort (translate_error) 2, step_limit 1" in comparisons_markdown([found])
