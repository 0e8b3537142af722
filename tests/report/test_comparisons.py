"""What comparisons say of planted outcomes, with the answers worked out in comments."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import sqrt
from pathlib import Path

import pytest
from scipy.stats import norm
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from pddlego_local.report.cells import find_cells
from pddlego_local.report.comparisons import Answer, Comparison, compared
from pddlego_local.report.first_screen import verdicts_markdown
from pddlego_local.report.statistics.rates import Interval
from pddlego_local.report.verdicts import (
    comparisons_markdown,
    in_short,
    span,
    verdict,
    verdicts,
    word,
)
from tests.planted import (
    FREE,
    GAMES,
    GROUNDED,
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

Outcomes = Mapping[int, str | Iterable[str]]


def against(runs: Path, free: Outcomes, syntax: Outcomes) -> Comparison:
    """The arms of these two rungs, compared."""
    plant(runs, FREE, outcomes=free)
    plant(runs, SYNTAX, outcomes=syntax)
    (found,) = compare(runs)
    return found


def test_an_arm_that_is_better(tmp_path: Path) -> None:
    found = against(tmp_path, wins(range(10), GAMES), wins(range(1, 25), GAMES))
    # syntax wins the games 10 to 24 more, and loses game 0
    assert (found.games, found.pairs, found.missing) == (40, 40, 0)
    assert found.difference == pytest.approx(14 / 40)
    assert found.new.p == pytest.approx(mcnemar([[9, 15], [1, 15]], exact=True).pvalue)
    assert (found.base.success.k, found.other.success.k) == (10, 24)
    # 40 episodes of 2 calls and 100 tokens each
    assert found.base.per_success_calls == 8
    assert found.other.per_success_tokens == pytest.approx(4000 / 24)
    assert found.caveats == () and found.conclusion == "higher"
    assert verdict(found).split(". ") == [
        "Shown: syntax wins more games than free",
        "Of the same 40 games, free wins 25.0 % and syntax 60.0 %",
        "The difference is +35 points",
        "For new games, the 95 % interval is 18 to 51 points",
        "McNemar's exact test and a score test give p < 0.001",
        "So syntax can be expected to win more new games of this kind",
        "The layout `line` comes with the grammar.",
    ]
    assert in_short(found, found.new) == "+35 points (18 to 51), p < 0.001"


def test_an_end_of_an_interval_that_is_near_0_is_not_told_as_0() -> None:
    shown = [span(Interval(low, 0.0)) for low in (-0.03, -0.0044, -0.00012, 0.0)]
    assert shown == ["-3 to 0", "-0.4 to 0", "-0.01 to 0", "0 to 0"]


def test_no_difference_shown_is_not_no_effect(tmp_path: Path) -> None:
    found = against(tmp_path, wins(range(15), range(30)), wins(range(15), range(30)))
    text = verdict(found)
    assert text.startswith(
        "Too few to tell: no difference is shown, and differences of up to 11 points"
        " are not excluded. "
        "Of the same 30 games, free wins 50.0 %"
    )
    assert (
        "interval is -11 to 11 points. McNemar's exact test and a score test give p = 1"
        in text
    )
    assert "it is open whether" in text
    assert "difference of 10 points would be shown by 8 % of experiments" in text
    assert "smallest difference that 80 % of them would show is 25 points" in text
    assert "assumes that 0.0 % of the pairs go against the difference" in text
    notes = comparisons_markdown(compared(find_cells([tmp_path])))
    assert "None of them means that there is no difference" in notes


@pytest.mark.parametrize(
    ("low", "high", "p", "margin", "said"),
    [
        (0.01, 0.3, 0.01, 50.0, "shown"),
        (-0.03, 0.04, 0.5, 5.0, "as good within ±5 points"),
        (-0.03, 0.05, 0.5, 5.0, "at most 5 points"),
        (-0.03, 0.06, 0.5, None, "at most 6 points"),
        (-0.07, 0.0601, 0.5, None, "at most 7 points"),
        (-0.1, 0.0, 0.06, None, "at most 10 points"),
        (-0.2, 0.15, 0.5, 25.0, "as good within ±25 points"),
        (-0.101, 0.0, 0.06, None, "too few to tell"),
        (-1.0, 1.0, None, None, "too few to tell"),
    ],
)
def test_a_verdict_is_the_first_that_applies(
    tmp_path: Path,
    low: float,
    high: float,
    p: float | None,
    margin: float | None,
    said: str,
) -> None:
    found = against(tmp_path, wins([0], range(2)), wins([1], range(2)))
    answer = Answer(differ=1, p=p, p_holm=p, level=0.05, interval=Interval(low, high))
    assert word(replace(found, new=answer, margin_points=margin)) == said


def test_seeds_of_a_game_are_no_games(tmp_path: Path) -> None:
    # five seeds, each with the same five games more: 25 pairs to none, but only five
    # games
    for seed in range(5):
        plant(tmp_path, FREE, f"seed={seed}", outcomes=wins([], range(10)))
        plant(tmp_path, SYNTAX, f"seed={seed}", outcomes=wins(range(5), range(10)))
    (found,) = compare(tmp_path)
    assert (found.games, found.pairs, found.difference) == (10, 50, 0.5)
    assert (
        mcnemar([[0, 25], [0, 25]], exact=True).pvalue < 1e-6
    )  # what ignoring this would say
    assert found.new.p == pytest.approx(2 / 2**5)
    assert found.conclusion == "not shown"
    assert found.here == found.new  # no map is known, so that a game has one of its own
    assert "same 10 games, in 50 pairs of game and seed" in verdict(found)
    assert "swaps the arms game by game" in verdict(found) and "McNemar" not in verdict(
        found
    )


def test_success_is_that_after_the_last_trial(tmp_path: Path) -> None:
    before = "solved_before"
    second = {game: [LOST, WON, *[before] * 8] for game in range(40)}
    ninth = {game: [LOST] * 8 + [WON, before] for game in range(40)}
    found = against(tmp_path, second, ninth)
    # trial by trial this is -70 points with p = 2e-6
    assert (found.pairs, found.difference, found.new.p) == (40, 0.0, 1.0)
    assert found.discordant == () and verdict(found).startswith(
        "At most 9 points: no difference is shown, "
    )


def test_a_solved_game_costs_what_its_trials_took(tmp_path: Path) -> None:
    """Nine of ten games are won in the first trial; the last is never won."""
    for rung in (FREE, SYNTAX):
        rows = [
            row(outcome, game, trial, calls=0 if outcome == "solved_before" else 2)
            for game in range(10)
            for trial, outcome in enumerate(
                [WON, *["solved_before"] * 9] if game else [LOST] * 10
            )
        ]
        plant_rows(tmp_path, composed(rung), rows, "0-9", trials=10)
    (found,) = compare(tmp_path)
    assert (found.pairs, found.base.success.k) == (10, 9)
    assert found.base.per_success_calls == pytest.approx((9 * 2 + 10 * 2) / 9)


def test_a_game_has_no_result_until_it_is_solved_or_over(tmp_path: Path) -> None:
    free = {0: [WON], 1: [LOST], 2: [LOST, LOST]}
    found = against(tmp_path, free, {0: [LOST, LOST], 1: [LOST, LOST], 2: [LOST, WON]})
    assert (found.pairs, found.missing, found.difference) == (2, 1, 0.0)


def test_games_with_the_same_map_are_one(tmp_path: Path) -> None:
    for rung, outcome in ((FREE, LOST), (SYNTAX, WON)):
        rows = [
            row(outcome, game, calls=2, map=f"house {game % 4}") for game in range(12)
        ]
        plant_rows(tmp_path, composed(rung), rows, "0-11")
    (found,) = compare(tmp_path)
    assert (found.games, found.maps, found.pairs) == (12, 4, 12)
    assert found.new.p == pytest.approx(2 / 2**4)  # twelve games would have 2 / 2**12
    assert found.here.p == pytest.approx(
        2 * norm.sf(sqrt(12))
    )  # McNemar's score, 12 to none
    assert found.here.shown and found.conclusion == "not shown"
    text = verdict(found)
    assert text.startswith(
        "Too few to tell for new maps: on these maps syntax wins more games than free,"
    )
    here, new = text.split("The arms differ on 4 of the 4 maps. ")
    assert "syntax alone wins 12 of the games, and free alone 0." in here
    assert (
        "For new games on these maps, the 95 % interval" in here and "p < 0.001" in here
    )
    assert "For new maps, the 95 % interval" in new and "p = 0.12" in new
    assert "whether it does on others is open" in new
    assert "No difference, however large, would be shown by 80 % of them." in new
    assert "12 on 4 maps" in comparisons_markdown(compared(find_cells([tmp_path])))


def test_what_is_missing_is_a_range_and_may_overturn(tmp_path: Path) -> None:
    plant(tmp_path, FREE, outcomes=wins([], GAMES))
    plant(tmp_path, SYNTAX, outcomes=wins(range(8), range(20)), asked="0-39")
    (found,) = compare(tmp_path)
    assert (found.pairs, found.missing, found.difference) == (20, 20, 0.4)
    # at the worst 8 to none of 40 pairs, at the best 28
    assert found.of_asked.low > 0 and not found.overturned_by_missing
    assert verdict(found).startswith(
        "20 of 40 pairs have no result yet. Whatever their"
    )
    plant(tmp_path / "more", FREE, outcomes=wins([], range(8)), asked="0-39")
    plant(tmp_path / "more", SYNTAX, outcomes=wins(range(8), range(8)), asked="0-39")
    (found,) = compare(tmp_path / "more")
    assert found.conclusion == "higher" and found.of_asked.low < 0
    assert "which could overturn what follows" in verdict(found)


def test_of_nothing_but_missing_results_nothing_is_said(tmp_path: Path) -> None:
    plant(tmp_path, FREE, outcomes=wins([], range(30)))
    plant(tmp_path, SYNTAX, asked="0-29")
    (found,) = compare(tmp_path)
    assert (found.new.p, found.new.p_holm, found.family) == (None, None, 0)
    assert (
        verdict(found)
        == "There is nothing to compare yet: none of 30 pairs has both results."
    )


def test_holm_counts_what_was_asked_and_nothing_else(tmp_path: Path) -> None:
    for model in ("random", "nano"):
        for rung, won in {"free": 3, "syntax": 9, "typed": 13}.items():
            outcomes = wins(range(won), GAMES)
            plant(tmp_path, f"model={model}", f"decoding={rung}", outcomes=outcomes)
    found = compare(tmp_path)
    assert {tested.base.value for tested in found} == {"free"}
    assert [tested.other.value for tested in found] == ["syntax", "typed"] * 2
    assert {tested.family for tested in found} == {4}
    expected = multipletests([tested.new.p for tested in found], method="holm")[1]
    adjusted = [tested.new.p_holm for tested in found]
    assert adjusted == pytest.approx(list(expected))
    low = found[0]
    assert low.new.p == pytest.approx(2 / 2**6)  # alone it would be shown
    assert low.new.level == 0.05 / 2  # two of four were open then
    assert low.plain.low > 0
    text = verdict(low)
    assert text.startswith("Too few to tell: no difference is shown")
    alone = "p = 0.062 after Holm's adjustment over 4 comparisons (p = 0.031 alone)"
    assert alone in text
    assert "the 97.5 % interval is 0 to 31 points" in text
    short = "+15 points (0 to 31 at 97.5 %), p = 0.062 after Holm over 4"
    assert in_short(low, low.new) == short


def test_what_nobody_asked_for_is_listed_and_not_tested(tmp_path: Path) -> None:
    for model in ("random", "nano"):
        for rung in ("free", "syntax", "typed"):
            outcomes = wins(range(3), GAMES)
            plant(tmp_path, f"model={model}", f"decoding={rung}", outcomes=outcomes)
    assert {tested.family for tested in compare(tmp_path, "model")} == {3}
    text = comparisons_markdown(compared(find_cells([tmp_path])))
    others = text.split("## Other differences")[1].split("- Both arms")[0]
    assert others.count("nano | random") == 3 and others.count("syntax | typed") == 2
    assert not any(word in others for word in ("shown", "wins", "better", "p ="))


def test_primary_questions_are_a_family_of_their_own(tmp_path: Path) -> None:
    asked = [
        {"factor": "decoding.rung", "base": "free"},
        {"factor": "decoding.rung", "base": "free", "other": "typed", "primary": True},
        {"factor": "model", "base": "random"},
    ]
    config = {"games": "0-39", "trials": 1, "compare": asked}
    for rung, won in {"free": 3, "syntax": 9, "typed": 13}.items():
        outcomes, starts = wins(range(won), GAMES), [{"config": config}]
        plant(tmp_path, f"decoding={rung}", outcomes=outcomes, starts=starts)
    found = [
        (tested.role, tested.other.value, tested.family) for tested in compare(tmp_path)
    ]
    assert found == [("primary", "typed", 1), ("secondary", "syntax", 1)]
    text = verdicts_markdown(compared(find_cells([tmp_path])))
    typed = text.index("primary, free → typed: Shown: typed wins")
    assert typed < text.index("free → syntax: Shown: syntax wins")


def test_the_demos_family_is_what_it_prints(tmp_path: Path) -> None:
    compare = composed("experiment=start/demo").tree["compare"]
    config = {"games": "0-11", "trials": 1, "compare": compare}
    for model, won in {"nano_early": 12, "nano": 4}.items():
        for rung, games in ((FREE, 4), (GROUNDED, won)):
            outcomes, starts = wins(range(games), range(12)), [{"config": config}]
            plant(tmp_path, f"model={model}", rung, outcomes=outcomes, starts=starts)
    found = verdicts(compared(find_cells([tmp_path])))
    assert [verdict.where for verdict in found] == ["nano_early", "nano"]
    assert {verdict.arms for verdict in found} == {"free → grounded"}
    family = "adjustment over 2 comparisons"
    assert all(family in verdict.text for verdict in found)
