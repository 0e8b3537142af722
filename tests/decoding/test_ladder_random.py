"""The ladder's promise, shown without a language model: whatever random weights finish,
Fast Downward's translator and the static check accept. At length: `python -m
tools.bench.proof`.
"""

import contextlib
from dataclasses import replace

import pytest

from pddlego_local.core.nouns import Sampling, Turn
from pddlego_local.decoding.forms import DOMAIN, PDDL, PROBLEM
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import GrammarContext, Question
from pddlego_local.decoding.rungs import GoalArm
from pddlego_local.episode.drawing import draw
from pddlego_local.episode.reading.answer import read_constrained, without_repetition
from pddlego_local.pddl.check import check
from pddlego_local.pddl.edit import objects_of
from pddlego_local.pddl.repair import Knowledge, repair
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from tests.episode.drawing import RandomLogits
from tests.questions import QUESTION

ENVIRONMENTS = ("coin", "cooking_hard", "alfworld", "described")
ANSWERS = 12
GOALS: dict[str, GoalArm] = {"typed": "any", "grounded": "unmet"}


def first_context(environment: str) -> GrammarContext:
    """The scene after the first look of a real game."""
    game = compose_cell([f"environment={environment}"]).build("environment")
    with contextlib.closing(game):
        memory = (Turn("look around", game.reset(3).text),)
        return GrammarContext(game.actions, game.names(memory), domain=game.domain)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_what_is_finished_is_accepted(environment: str, planner: FastDownward) -> None:
    context = first_context(environment)
    for rung in ("typed", "grounded"):
        constraint = constraint_for(rung, PDDL, replace(context, goal=GOALS[rung]))
        finished = 0
        for seed in range(ANSWERS):
            drawn = draw(
                RandomLogits(seed % 3), QUESTION, constraint, Sampling(seed=seed), {}
            )[0]
            answer = read_constrained(drawn.completion, PDDL)
            if not answer.value:
                assert answer.fault == "truncated"
                continue
            finished += 1
            result = planner.plan(answer.value.df, answer.value.pf)
            assert result.outcome in ("solved", "unsolvable", "goal_already_true"), (
                result.message
            )
            assert check(answer.value.df, answer.value.pf).accepted
            names = context.names.objects if rung == "grounded" else None
            knows = Knowledge(declared=True, actions=context.actions, names=names)
            assert repair(answer.value.df, answer.value.pf, knows).changes == ()
            if rung == "grounded":
                assert result.outcome != "goal_already_true"
                assert set(objects_of(answer.value.pf)) <= set(context.names.objects)
        assert finished >= 0.8 * ANSWERS


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_a_problem_alone_fits_the_hand_written_domain(
    environment: str, planner: FastDownward
) -> None:
    context = first_context(environment)
    for rung in ("typed", "grounded"):
        constraint = constraint_for(rung, PROBLEM, replace(context, goal=GOALS[rung]))
        for seed in range(ANSWERS // 2):
            drawn = draw(
                RandomLogits(seed), QUESTION, constraint, Sampling(seed=seed), {}
            )[0]
            if problem := read_constrained(drawn.completion, PROBLEM).value:
                assert check(context.domain, problem.pf).accepted
                assert (
                    planner.plan(context.domain, problem.pf).outcome
                    != "translate_error"
                )


@pytest.mark.parametrize("rung", ["signatures", "typed", "grounded"])
def test_a_domain_alone_is_accepted_and_so_is_a_problem_for_it(
    rung: str, planner: FastDownward
) -> None:
    context = first_context("described")
    finished = 0
    for seed in range(ANSWERS):
        constraint = constraint_for(rung, DOMAIN, context)
        drawn = draw(
            RandomLogits(seed % 3), QUESTION, constraint, Sampling(seed=seed), {}
        )[0]
        domain = read_constrained(drawn.completion, DOMAIN).value
        if domain is None:
            continue
        constraint = constraint_for(rung, PROBLEM, replace(context, domain=domain.df))
        drawn = draw(
            RandomLogits(seed % 3), QUESTION, constraint, Sampling(seed=seed), {}
        )[0]
        if problem := read_constrained(drawn.completion, PROBLEM).value:
            finished += 1
            if rung != "signatures":
                assert check(domain.df, problem.pf).accepted
                assert planner.plan(domain.df, problem.pf).outcome != "translate_error"
    assert finished


@pytest.mark.parametrize("environment", ["coin", "alfworld"])
def test_a_model_that_repeats_itself_is_brought_out_of_its_circles(
    environment: str, planner: FastDownward
) -> None:
    """With strong likings random weights write the same things again and again."""
    context, circles, finished = first_context(environment), 0, 0
    for rung in ("typed", "grounded"):
        asked = replace(context, goal=GOALS[rung])
        question = Question(PDDL, QUESTION.messages, asked)
        constraint = constraint_for(rung, PDDL, asked)
        for seed in range(5):
            sampling = Sampling(seed=seed, max_tokens=1500)
            drawn = draw(
                RandomLogits(seed, spread=3.0), question, constraint, sampling, {}
            )[0]
            circles += sum(stage.finish_reason == "circle" for stage in drawn.stages)
            answer = without_repetition(
                read_constrained(drawn.completion, PDDL), question
            )
            if answer.value:
                finished += 1
                assert check(answer.value.df, answer.value.pf).accepted
                assert (
                    planner.plan(answer.value.df, answer.value.pf).outcome
                    != "translate_error"
                )
    assert finished and circles
