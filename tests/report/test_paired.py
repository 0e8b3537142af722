"""The statistics of paired arms, against other reckonings of the same."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from scipy.stats import permutation_test

from pddlego_local.report.statistics.paired import (
    Paired,
    Tally,
    swapping_arms,
)


def one_pair_a_game(gained: int, lost: int, pairs: int) -> Paired:
    alike = pairs - gained - lost
    tallies = (
        [Tally(1, 1, 0)] * gained + [Tally(1, 0, 1)] * lost + [Tally(1, 0, 0)] * alike
    )
    return Paired(tallies)


@pytest.mark.parametrize(
    "differences",
    [[3, 2, -1, 0, 4], [1] * 8, [5, -5, 2], [2, 2, 2, -3, 1, 1, -1, 4, 0, 3]],
)
def test_the_test_is_scipys_permutation_test(differences: Sequence[int]) -> None:
    zeros = np.zeros(len(differences))
    found = permutation_test(
        (np.array(differences), zeros),
        lambda a, b, axis: np.sum(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert swapping_arms(differences) == pytest.approx(found.pvalue)


def test_the_interval_of_the_literature() -> None:
    # 36, 12, 2 and 0 pairs: Newcombe, Statistics in Medicine 17, 1998, 2635-2650, and
    # Tango
    assert one_pair_a_game(12, 2, 50).interval() == pytest.approx(
        (0.0611, 0.3447), abs=5e-5
    )


def test_ends_and_nothing() -> None:
    assert one_pair_a_game(20, 0, 20).interval()[1] == 1
    assert one_pair_a_game(0, 20, 20).interval()[0] == -1
    nothing = Paired([])
    assert (nothing.difference, nothing.p, nothing.interval()) == (
        None,
        None,
        (-1.0, 1.0),
    )
    assert nothing.power().smallest is None


def test_pairs_of_a_game_that_always_agree_say_no_more_than_one() -> None:
    once = Paired([Tally(1, 1, 0)] * 5 + [Tally(1, 0, 0)] * 5)
    often = Paired([Tally(10, 10, 0)] * 5 + [Tally(10, 0, 0)] * 5)
    assert often.effective_pairs() == pytest.approx(10)
    assert often.interval() == pytest.approx(once.interval())
    assert (
        often.p == once.p == pytest.approx(2 / 2**5)
    )  # five swaps that all fall on one side


def random_tables(count: int) -> Iterator[Paired]:
    rng = np.random.default_rng(0)
    for number in range(count):
        most = int(rng.integers(1, 6)) if number % 2 else 1  # pairs of a cluster
        sizes = rng.integers(1, most + 1, size=int(rng.integers(1, 60)))
        shares = rng.dirichlet([1, 1, 2])
        drawn = [rng.multinomial(size, shares) for size in sizes]
        yield Paired([Tally(int(d.sum()), int(d[0]), int(d[1])) for d in drawn])


def test_the_interval_leaves_0_out_if_and_only_if_the_test_refuses_it() -> None:
    shown = 0
    for found in random_tables(400):
        for level in (0.05, 0.05 / 3, 0.05 / 14):
            low, high = found.interval(level)
            assert found.p is not None and found.difference is not None
            assert low <= found.difference <= high
            assert (low > 0 or high < 0) == (found.p < level), (found, level)
            shown += found.p < level
    assert 200 < shown < 1000
