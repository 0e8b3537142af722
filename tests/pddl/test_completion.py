"""The facts that follow from a goal."""

import re
from collections.abc import Set

import pytest

from pddlego_local.environments.described.game import Described
from pddlego_local.environments.described.generated import generate, words_of
from pddlego_local.environments.described.world import World
from pddlego_local.pddl.completion import Invariants, completed
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import read
from pddlego_local.pddl.state import read_task
from pddlego_local.planner import FastDownward

EXACT = (
    "blocksworld",
    "elevator",
    "ferry",
    "gripper",
    "logistics",
    "mystery",
    "sokoban",
)
"""In these worlds all facts are found that follow from a goal."""


def facts_in(text: str) -> set[Fact]:
    return {tuple(fact.split()) for fact in re.findall(r"\(([^()]+)\)", text)}


def completed_goal(world: World, invariants: Invariants) -> tuple[set[Fact], set[Fact]]:
    """The goal as it is written, and completed."""
    domain, problem = read_domain(read(world.domain)), read_problem(read(world.problem))
    assert problem.goal
    goal = {literal.atom.key for literal in problem.goal.literals}
    init = {fact.atom.key for fact in problem.init}
    return goal, completed(goal, init, domain, problem, invariants)


def true_in_all_goal_states(world: World, planner: FastDownward) -> set[Fact]:
    """The planner looks for a goal state that lacks one of the facts, as long as there
    is one.
    """
    goal = world.problem[world.problem.index("(:goal") + 6 : -2]
    left: Set[Fact] | None = None
    while True:
        lacking = " ".join(f"({' '.join(fact)})" for fact in sorted(left or ()))
        wanted = f"(and {goal} (not (and {lacking})))" if left else goal
        found = planner.plan(world.domain, world.problem.replace(goal, wanted))
        if found.outcome == "unsolvable" or left == set():
            return set(left or ())
        assert found.outcome in ("solved", "goal_already_true")
        task = read_task(world.domain, world.problem)
        state = task.initial
        for action in found.plan:
            state = task.successor(state, tuple(action.strip("()").split()))
        left = state.facts if left is None else left & state.facts


TOWERS = """(define (problem p) (:domain d) (:objects a b c - block)
 (:init (hand-empty) (clear a) (clear b) (clear c)
  (on-table a) (on-table b) (on-table c))
 (:goal (and {goal})))"""


@pytest.mark.parametrize(
    ("goal", "more"),
    [
        ("(on a b) (on b c)", "(on-table c) (clear a) (hand-empty)"),
        ("(on a b)", ""),
        (
            "(on a b) (clear a) (clear c)",
            "(hand-empty) (on-table b) (on-table c)",
        ),
        (
            "(on-table a) (on-table b) (on-table c)",
            "(clear a) (clear b) (clear c) (hand-empty)",
        ),
    ],
)
def test_a_tower_stands_on_the_table_and_nothing_is_on_it(goal: str, more: str) -> None:
    domain = generate("blocksworld", "heavily", (3, 3), 0).domain
    world = World("", "", "", (), domain, TOWERS.format(goal=goal))
    written, found = completed_goal(world, words_of("blocksworld")["invariants"])
    assert found == written | facts_in(more)


@pytest.mark.parametrize("family", EXACT)
def test_a_goal_is_completed_by_what_all_its_states_share(
    family: str, planner: FastDownward
) -> None:
    for seed in range(1):
        world = generate(family, "heavily", (2, 3), seed)
        shared = true_in_all_goal_states(world, planner)
        _, found = completed_goal(world, words_of(family)["invariants"])
        assert found == shared


def test_an_answer_that_states_what_follows_is_equivalent() -> None:
    game = Described(world="blocksworld", sizes=(3, 3))
    seed = next(seed for seed in range(50) if not game.reset(seed).success)
    game.reset(seed)
    gold = game._world.problem
    _, whole = completed_goal(game._world, words_of("blocksworld")["invariants"])
    stated = " ".join(f"({' '.join(fact)})" for fact in sorted(whole))
    head = gold[: gold.index("(:goal")]
    assert game.equivalence(f"{head}(:goal (and {stated})))") == "equivalent"
    more = f"{stated} (holding block1)"
    assert game.equivalence(f"{head}(:goal (and {more})))") == "different"


def test_a_problem_with_too_many_objects_is_compared_without_what_follows() -> None:
    game = Described(world="blocksworld", sizes=(3, 3))
    game.reset(1)
    many = " ".join(f"thing{number}" for number in range(5000))
    idle = game._world.problem.replace("(:objects", f"(:objects {many} - block")
    assert game.equivalence(idle) == "equivalent but for idle objects"
    stated = " ".join(f"(clear {name})" for name in many.split())
    answer = idle.replace("(:init", f"(:init {stated}")
    assert game.equivalence(answer) == "different"
