"""Comparisons by an outcome other than success, with a margin, and of whole arms."""

import json
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import find_cells
from pddlego_local.report.comparisons import Compared, Comparison, compared
from pddlego_local.report.verdicts import verdicts, word
from tests.planted import GAMES, composed, plant, plant_rows, wins
from tests.rows import row

WORLD = ("environment=described", "method=formalizer_problem")
IDLE = "equivalent but for idle objects"

NOTHING: dict[str, Any] = {"outcome": "solver_abort"}
REFUSED = {"outcome": "solver_abort", "causes": {"translate_error": 1}}
ACCEPTED = {"outcome": "solver_abort", "causes": {"unsolvable": 1}}
WRONG = {
    "outcome": "valid_but_wrong",
    "causes": {"solved": 1},
    "notes": {"equivalence": "different"},
}
VALID = {**WRONG, "outcome": "success"}
WITH_IDLE = {**VALID, "notes": {"equivalence": IDLE}}
RIGHT = {**VALID, "notes": {"equivalence": "equivalent"}}
ALL = [NOTHING, REFUSED, ACCEPTED, WRONG, VALID, WITH_IDLE, RIGHT]

EXPECTED = {
    "success": 3,
    "accepted": 5,
    "plan": 4,
    "valid": 3,
    "equivalent": 1,
    "equivalent_but_for_idle": 2,
}


def rows(kinds: list[dict[str, Any]]) -> list[EpisodeRow]:
    return [row(game=game, calls=1, **kind) for game, kind in enumerate(kinds)]


def compared_by(runs: Path, **asked: Any) -> Compared:
    """What is compared if a sweep declares one comparison of rungs."""
    declared = {"factor": "decoding.rung", "base": "free", **asked}
    (folder,) = {cell.folder.parent for cell in find_cells([runs])}
    content = {"cells": {}, "compare": [declared], "began": "9999"}
    file = folder / "sweep-0123456789ab.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return compared(find_cells([runs]))


def only(found: Compared) -> Comparison:
    (comparison,) = found.tested
    return comparison


@pytest.mark.parametrize("outcome", EXPECTED)
def test_each_outcome_counts_what_it_says(tmp_path: Path, outcome: str) -> None:
    asked = f"0-{len(ALL) - 1}"
    free = composed(*WORLD, "decoding=free")
    rung = composed(*WORLD, "decoding=typed")
    plant_rows(tmp_path, free, rows([NOTHING] * len(ALL)), asked)
    plant_rows(tmp_path, rung, rows(ALL), asked)
    found = compared_by(tmp_path, outcome=outcome)
    comparison = only(found)
    assert comparison.outcome == outcome
    assert comparison.base.success.k == 0
    assert comparison.other.success.k == EXPECTED[outcome]
    assert comparison.won_by == (0, EXPECTED[outcome], 0, 7 - EXPECTED[outcome])
    says = "Here an arm wins a game if" in verdicts(found)[0].text
    assert says == (outcome != "success")


def test_what_no_gold_file_decided_is_refused(tmp_path: Path) -> None:
    """A report would else count every file as different."""
    for decoding in ("decoding=free", "decoding=typed"):
        plant(tmp_path, decoding, outcomes=wins(range(5), GAMES))
    assert only(compared_by(tmp_path, outcome="plan")).pairs == 40
    for outcome in ("valid", "equivalent", "equivalent_but_for_idle"):
        with pytest.raises(ConfigError, match=f"outcome={outcome} is decided by"):
            compared_by(tmp_path, outcome=outcome)


@pytest.mark.parametrize(
    ("overrides", "refused"),
    [
        (WORLD, False),
        (("environment=described", "method=pddlego_plus"), True),
        (("environment=coin", "method=pddlego_plus"), True),
    ],
)
def test_a_sweep_without_gold_files_is_refused_before_it_begins(
    overrides: tuple[str, ...], refused: bool
) -> None:
    declared = "compare=[{factor:decoding.rung,base:free,outcome:equivalent}]"
    config = composed(*overrides, "decoding=free", "games=0", declared)
    if refused:
        with pytest.raises(ConfigError, match="outcome=equivalent needs"):
            config.check()
    else:
        config.check()


@pytest.mark.parametrize(
    ("lost", "margin", "as_good"),
    [
        (0, 5, True),
        (0, 0.5, False),
        (30, 5, False),
        (30, None, False),
        (0, None, False),
    ],
)
def test_as_good_within_a_margin(
    tmp_path: Path, lost: int, margin: float | None, as_good: bool
) -> None:
    games = range(400)
    plant(tmp_path, "decoding=free", outcomes=wins(range(200), games))
    plant(tmp_path, "decoding=typed", outcomes=wins(range(200 - lost), games))
    found = only(compared_by(tmp_path, margin_points=margin))
    assert found.margin_points == margin
    assert found.as_good == as_good
    said = f"as good within ±{margin:g} points" if margin else "as good"
    assert (word(found) == said) == as_good


def test_arms_are_compared_as_wholes(tmp_path: Path) -> None:
    """Also where they differ in several options."""
    arms = {
        "asked_again": ("decoding=free", "method.rounds=2"),
        "grounded": ("decoding=grounded", "method.rounds=0"),
    }
    for number, (name, options) in enumerate(arms.items()):
        start = {"config": {"games": "0-39", "trials": 1}, "arm": name}
        outcomes = wins(range(10 + 20 * number), GAMES)
        plant(tmp_path, *options, outcomes=outcomes, starts=[start])
    assert compared(find_cells([tmp_path])).tested == []
    found = compared_by(tmp_path, factor="arm", base="asked_again", other="grounded")
    comparison = only(found)
    assert (comparison.base.value, comparison.other.value) == tuple(arms)
    assert comparison.won_by == (0, 20, 10, 10)
    assert comparison.conclusion == "higher"
    assert comparison.caveats == ()
    assert found.others == []
