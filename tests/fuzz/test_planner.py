"""Fast Downward's verdict on hostile PDDL: always one, within its limits, and the
checker's too.
"""

import resource
from collections.abc import Iterator

import pytest
from hypothesis import given

from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward, Limits
from tests.fuzz.hostile import fuzz, pairs, real_answers, ten_megabytes
from tests.fuzz.test_texts import with_inside
from tests.planner.tasks import DOMAIN, problem

LIMITS = Limits(wall_s=20, cpu_s=10, memory_mb=512)
STOPPED = ("timeout", "out_of_memory")


@pytest.fixture(scope="module")
def planner() -> Iterator[FastDownward]:
    before_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with FastDownward(limits=LIMITS) as planner:
        yield planner
    most_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    own_kib = resource.getrusage(
        resource.RUSAGE_SELF
    ).ru_maxrss  # which a fork passes on
    assert most_kib <= max(before_kib, own_kib, LIMITS.memory_mb * 1024)


def judged(planner: FastDownward, domain: str, problem: str) -> str:
    result = planner.plan(domain, problem)
    assert result.outcome != "planner_fault", result.message
    assert bool(result.plan) == (result.outcome == "solved")
    assert all(
        character.isprintable() or character == "\n" for character in result.message
    )
    return result.outcome


@fuzz(0.15)
@given(pairs())
def test_hostile_pddl_gets_a_verdict_and_the_check_agrees(
    planner: FastDownward, pair: tuple[str, str]
) -> None:
    outcome = judged(planner, *pair)
    if outcome not in STOPPED:
        assert check(*pair).accepted == (outcome != "translate_error")


@pytest.mark.parametrize("piece", ["x", "(", "(at k)\n"])
def test_ten_megabytes_end_within_the_limits(planner: FastDownward, piece: str) -> None:
    domain, real = real_answers()[0].answer.values()
    assert judged(planner, domain, ten_megabytes(piece)) in (
        "translate_error",
        *STOPPED,
    )
    judged(planner, domain, with_inside(real, piece))
    assert judged(planner, DOMAIN, problem()) == "solved"
