"""Hostile input ends in time, in memory, and leaves nothing running."""

import pytest
from pydantic import ValidationError

from pddlego_local.planner import FastDownward, Limits
from tests.planner.tasks import (
    DOMAIN,
    all_gone,
    hard_search,
    heavy_translation,
    problem,
    workers,
)

DISJUNCTIONS = " ".join(f"(or (p{i} ?x) (q{i} ?x) (r{i} ?x))" for i in range(20))
PREDICATES = " ".join(f"({name}{i} ?x)" for i in range(20) for name in "pqr")
TWELVE = " ".join(f"?v{i}" for i in range(12))
BLOW_UPS = {
    "parameters^objects": heavy_translation(),
    "disjunctions": (
        f"""(define (domain d) (:requirements :adl) (:predicates (g) {PREDICATES})
        (:action a :parameters (?x) :precondition (and {DISJUNCTIONS}) :effect (g)))""",
        "(define (problem d1) (:domain d) (:objects o) (:init) (:goal (g)))",
    ),
    "twelve parameters": (
        f"""(define (domain d) (:predicates (g) (p {TWELVE}))
        (:action a :parameters ({TWELVE}) :precondition () :effect (and (g)
        (p {TWELVE}))))""",
        "(define (problem d1) (:domain d) (:objects a b c d) (:init) (:goal (g)))",
    ),
}


@pytest.mark.parametrize("pair", BLOW_UPS.values(), ids=BLOW_UPS.keys())
def test_a_translation_that_blows_up_is_stopped(pair: tuple[str, str]) -> None:
    # At the memory limit, CPython 3.11 once tried to allocate without end, until the
    # CPU limit. All tasks of one worker begin with the same memory, so each attempt has
    # another worker.
    def stopped() -> bool:
        with FastDownward(limits=Limits(wall_s=600, cpu_s=60, memory_mb=64)) as small:
            outcome = small.plan(*pair).outcome
            assert small.plan(DOMAIN, problem()).outcome == "solved"
            return outcome == "out_of_memory"

    assert any(stopped() for _ in range(3))


@pytest.mark.parametrize(
    "pair", [heavy_translation(), hard_search()], ids=["translate", "search"]
)
@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (Limits(wall_s=1, cpu_s=60, memory_mb=4096), "wall-clock"),
        (Limits(cpu_s=1, memory_mb=4096), "CPU"),
    ],
    ids=["wall", "cpu"],
)
def test_time_limits_hold_in_both_stages(
    limits: Limits, named: str, pair: tuple[str, str]
) -> None:
    others = workers()
    with FastDownward(limits=limits) as hurried:
        result = hurried.plan(*pair)
        (worker,) = [worker for worker in workers() if worker not in others]
        assert (result.outcome, result.plan) == ("timeout", ())
        assert result.message == f"Fast Downward reached its {named} time limit."
        assert len(worker.children()) <= 1  # the one that waits for the next task
        assert hurried.plan(DOMAIN, problem()).outcome == "solved"
    assert all_gone([worker])


def test_a_search_out_of_memory() -> None:
    limits = Limits(wall_s=600, cpu_s=600, memory_mb=64)
    with FastDownward(limits=limits, search="astar(blind())") as blind:
        result = blind.plan(*hard_search(11))
    assert result.outcome == "out_of_memory" and "memory" in result.message


@pytest.mark.parametrize(
    "wrong",
    [
        {"limits": {"wall_s": 0}},
        {"limits": {"memory_mb": 1}},
        {"limits": {"cpu": 3}},
        {"workers": 0},
        {"search": ""},
        {"serach": "astar(lmcut())"},
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        FastDownward(**wrong)  # type: ignore[arg-type]
