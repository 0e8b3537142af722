"""What experiments could have shown, against other reckonings of the same, and the
model that stands beside the exact tests.
"""

from math import comb

import pytest

from pddlego_local.report.statistics.paired import Paired, Tally
from pddlego_local.report.statistics.power import SHOWN, Power
from tests.report.test_paired import one_pair_a_game

# The twelve floor plans of nano_edit's 300 games: pairs, and those that grounded alone
# won
ROOMS = [
    (2, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (8, 1),
    (9, 0),
    (10, 0),
    (17, 0),
    (19, 0),
    (54, 11),
    (83, 6),
    (83, 7),
]


@pytest.mark.parametrize("level", [0.05, 0.05 / 14])
@pytest.mark.parametrize(("pairs", "opposing"), [(20, 0.0), (30, 0.2), (40, 0.1)])
def test_with_one_pair_a_game_the_power_is_that_of_every_table(
    pairs: int, opposing: float, level: float
) -> None:
    """The exact power, added up over every table that can come of a difference."""
    power = Power((1,) * pairs, opposing, level=level)

    def exact(difference: float) -> float:
        seen = min(difference + 2 * opposing, 1.0)
        up, down = (seen + difference) / 2, (seen - difference) / 2
        return sum(
            comb(pairs, g)
            * comb(pairs - g, v)
            * up**g
            * down**v
            * (1 - seen) ** (pairs - g - v)
            for g in range(pairs + 1)
            for v in range(pairs + 1 - g)
            if (p := one_pair_a_game(g, v, pairs).p) is not None and p < level
        )

    smallest = power.smallest
    assert smallest is not None
    for difference in (0.1, smallest - 0.01, smallest):
        assert power.at(difference) == pytest.approx(exact(difference), abs=0.06)
    assert power.at(smallest - 0.01) < SHOWN <= power.at(smallest)


def test_too_few_clusters_show_nothing_whatever_their_size() -> None:
    for size in (1, 50):  # even 5 of 5 have p = 1 / 16
        assert Power((size,) * 5, 0.2).smallest is None
        assert Power((size,) * 5, 0.2).at(0.9) == 0
    assert Power((1,) * 6, 0.2).smallest is not None


def test_on_twelve_floor_plans_ten_points_are_hardly_ever_shown() -> None:
    """The games alone would have shown them; the cluster test needs eight floor plans
    that agree, and four differed.
    """
    seen = Paired([Tally(pairs, gained, 0) for pairs, gained in ROOMS])
    assert seen.p == pytest.approx(2 / 2**4)
    assert seen.power(0.0125).at(0.1) < 0.04
    assert seen.power(0.0125).smallest == pytest.approx(0.23, abs=0.04)
    assert one_pair_a_game(25, 0, 300).power(0.0125).at(0.1) > 0.99
