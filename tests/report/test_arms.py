"""Which cells are compared, on which games, and what is said of those that are not
quite alike.
"""

import hashlib
import json
from pathlib import Path

import pytest

from pddlego_local.core.record.counting import TRIVIAL
from pddlego_local.report.cells import find_cells
from pddlego_local.report.comparisons import compared
from pddlego_local.report.verdicts import comparisons_markdown
from tests.planted import (
    FREE,
    GAMES,
    LOST,
    SYNTAX,
    compare,
    composed,
    declare,
    differences,
    plant,
    plant_rows,
    wins,
)
from tests.rows import row
from tests.tables import table

CASES = table(__file__)

REJECT = "decoding.reject={rung:typed,tries:4}"


def test_trivial_and_unsolvable_games_stand_apart_in_both(tmp_path: Path) -> None:
    apart = {0: "success_at_start", 1: "unsolvable_game"}
    plant(tmp_path, FREE, outcomes=wins([2, 3], range(10)) | apart)
    plant(tmp_path, SYNTAX, outcomes=wins(range(2, 6), range(2, 10)), asked="0-9")
    (found,) = compare(tmp_path)
    assert (found.games, found.missing, found.other.success.k) == (8, 0, 4)
    (found,) = compared(find_cells([tmp_path]), also=TRIVIAL).tested
    assert (found.games, found.missing, found.base.success.k) == (8, 1, 2)


@pytest.mark.parametrize(("one", "two", "factor"), CASES["differ_in_one_thing"])
def test_arms_that_differ_in_one_thing(
    tmp_path: Path, one: str, two: str, factor: str
) -> None:
    for overrides in (one, two):
        plant(tmp_path, *overrides.split(), outcomes=wins([], GAMES))
    (found,) = differences(tmp_path)
    assert (found.factor, found.caveats) == (factor, ())
    assert found.base.value != found.other.value
    asked = factor == "decoding.rung" and "free" in found.base.value
    assert (found.new.p is not None) == asked
    assert (found.layout == "line") == asked  # which comes with the grammar


@pytest.mark.parametrize(("one", "two"), CASES["not_compared"])
def test_arms_that_are_not_compared(tmp_path: Path, one: str, two: str) -> None:
    for overrides in (one, two):
        silent = [row(LOST, game) for game in GAMES]
        plant_rows(tmp_path, composed(*overrides.split()), silent, "0-39")
    assert differences(tmp_path) == []


def test_a_record_that_lacks_an_option_has_its_default(tmp_path: Path) -> None:
    identity = composed(FREE).identity
    del identity["decoding"]["reject"]
    plant(tmp_path, FREE, outcomes=wins([], GAMES), identity=identity)
    plant(tmp_path, FREE, REJECT, outcomes=wins([], GAMES))
    (found,) = differences(tmp_path)
    assert found.factor == "decoding.reject"
    assert found.base.value == "reject none"


def test_the_strict_reader_is_an_arm_of_its_own(tmp_path: Path) -> None:
    for decoding, won in (("free_strict", 5), ("free", 10), ("syntax", 20)):
        plant(tmp_path, f"decoding={decoding}", outcomes=wins(range(won), GAMES))
    (found,) = compare(tmp_path)
    assert (found.base.value, found.base.success.k, found.other.value) == (
        "free",
        10,
        "syntax",
    )
    (read,) = compare(tmp_path, "decoding.reading=strict")
    assert (read.base.value, read.other.value) == ("reading strict", "reading lenient")
    assert read.labels["decoding"] == "free"
    (strictly,) = compare(tmp_path, "decoding.rung=free, read strictly")
    assert strictly.base.success.k == 5


def test_the_pool_of_all_rooms_answers_first(tmp_path: Path) -> None:
    # three games of each number of rooms: too few alone, enough together
    for rooms in (3, 5, 7):
        size = f"environment.rooms={rooms}"
        plant(tmp_path, FREE, size, outcomes=wins([], range(3)))
        plant(tmp_path, SYNTAX, size, outcomes=wins(range(3), range(3)))
    (pooled,) = compare(tmp_path)
    assert (pooled.pooled, pooled.games, pooled.family) == ("rooms 3, 5, 7", 9, 1)
    assert pooled.new.p == pytest.approx(
        2 / 2**9
    )  # the same number in another house: another game
    parts = [one for one in differences(tmp_path) if one.role == "not asked"]
    sizes = [f"environment.rooms={rooms}" for rooms in (3, 5, 7)]
    assert [part.labels["settings"] for part in parts] == sizes
    assert pooled.conclusion == "higher" and {part.new.p for part in parts} == {None}


def test_a_cell_alone_has_no_comparisons(tmp_path: Path) -> None:
    plant(tmp_path, FREE, outcomes=wins([], GAMES))
    assert differences(tmp_path) == []
    assert comparisons_markdown(compared(find_cells([tmp_path]))) == ""


def test_games_of_other_budgets_are_not_pooled(tmp_path: Path) -> None:
    for rooms in (3, 5):
        for limit in (20, 50):
            games = (f"environment.rooms={rooms}", f"environment.budget.limit={limit}")
            plant(tmp_path, FREE, *games, outcomes=wins([], range(3)))
            plant(tmp_path, SYNTAX, *games, outcomes=wins(range(3), range(3)))
    pooled = [one for one in compare(tmp_path, "decoding.rung") if one.pooled]
    games_of = {one.labels["budget"]: one.games for one in pooled}
    assert len(pooled) == 2 and games_of == {"20 actions": 6, "50 actions": 6}


def test_a_renamed_option_is_one_option(tmp_path: Path) -> None:
    """A record from before the renaming, one from after it, and what was declared
    then.
    """
    again, once = composed(FREE, "method.rounds=5"), composed(FREE, "method.rounds=0")
    method = dict(again.identity["method"])
    method["max_retries"] = method.pop("rounds")
    earlier = {**again.identity, "method": method}
    plant(tmp_path, FREE, "method.rounds=5", outcomes=wins([], GAMES), identity=earlier)
    plant(tmp_path, FREE, "method.rounds=0", outcomes=wins([], GAMES))
    (found,) = differences(tmp_path)
    assert found.factor == "method.rounds"
    assert {found.base.value, found.other.value} == {"rounds 5", "rounds 0"}
    declare(tmp_path, "method.max_retries=0")
    (found,) = compared(find_cells([tmp_path])).tested
    assert (found.factor, found.base.value) == ("method.rounds", "rounds 0")
    # The name of the cell is the one that it had before.
    text = json.dumps(earlier, sort_keys=True)
    assert again.cell.endswith(hashlib.sha256(text.encode()).hexdigest()[:8])
    assert again.cell != once.cell
