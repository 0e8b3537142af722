"""Answers drawn by weight: from which distribution they come, and what a record says of it."""

import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import (
    Completion,
    Grammar,
    Message,
    Messages,
    Potential,
    Prefix,
    Sampling,
)
from pddlego_local.decoding.forms import PDDL, PROBLEM
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import Question
from pddlego_local.decoding.stages import Constraint
from pddlego_local.episode.drawing import draw, is_hopeless
from pddlego_local.episode.reading.answer import read
from pddlego_local.episode.weighting import draw_weighted, in_stages
from pddlego_local.models.random import RandomModel
from pddlego_local.models.transformers import TransformersModel
from pddlego_local.pddl.check import check
from tests.episode.drawing import RandomLogits
from tests.models.asking import CPU
from tests.models.staging import RECORD, SCENE
from tests.questions import QUESTION
from tools.bench.law import (
    ANSWERS,
    MESSAGES,
    ROOMS,
    TWO_ROOMS,
    Remembered,
    exact,
    generation,
    law,
    make_tiny_llama,
    variation,
)

AT_ONCE = Grammar(
    "at once",
    "lark",
    'start: "(" ROOM " " ROOM ")"\nROOM: ' + " | ".join(f'"{room}"' for room in ROOMS) + "\n",
)
ONE_STAGE = in_stages(AT_ONCE)
ALL = tuple((f"({one} {other})",) for one in ROOMS for other in ROOMS)
"""The same language in one stage: a room may come twice."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_llama(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def remembered(folder: Path) -> Remembered:
    return Remembered(generation(folder))


@pytest.fixture(scope="module")
def tiny(folder: Path) -> Iterator[TransformersModel]:
    model = TransformersModel(weights=str(folder), dtype="float32", engine=CPU)
    yield model
    model.close()


@pytest.mark.parametrize(
    ("constraint", "answers"), [(TWO_ROOMS, ANSWERS), (ONE_STAGE, ALL)], ids=["stages", "at once"]
)
def test_weighted_answers_come_from_the_models_own_distribution(
    remembered: Remembered, constraint: Constraint, answers: tuple[tuple[str, ...], ...]
) -> None:
    """The exact one adds up all spellings of each answer and knows neither grammar nor mask."""
    wanted = exact(remembered, answers)
    masked = variation(law(remembered, constraint, 0, 3000), wanted)
    four, many, most = (
        variation(law(remembered, constraint, particles, draws), wanted)
        for particles, draws in ((4, 1000), (64, 250), (256, 200))
    )
    assert masked > 0.15
    assert masked > 2 * four > 4 * most
    assert four > many and most < 0.02


def test_one_particle_is_a_masked_answer_without_forced_text(remembered: Remembered) -> None:
    one = law(remembered, ONE_STAGE, 1, 4000)
    assert variation(one, law(remembered, ONE_STAGE, 0, 4000)) < 0.05


@pytest.mark.parametrize("temperature", [0.7, 1.0, 2.0])
def test_a_backend_tells_the_mass_that_its_masks_left(
    folder: Path, tiny: TransformersModel, temperature: float
) -> None:
    """Of each answer and stage, to what other code makes of the same tokens."""
    remembered = Remembered(generation(folder), temperature)
    for seed in range(5):
        sampling = Sampling(temperature, seed=seed, particles=1)
        drawn = tiny.complete(MESSAGES, AT_ONCE, sampling, Prefix())
        assert drawn.prefix and drawn.log_mass is not None and drawn.finish_reason == "stop"
        expected, tokens = 0.0, drawn.prefix.tokens
        for place in range(len(tokens)):
            step = remembered.step(MESSAGES, AT_ONCE, tokens[:place], 0)
            assert step and tokens[place] in step.tokens
            expected += step.log_mass
        assert remembered.step(MESSAGES, AT_ONCE, tokens, 0) is None
        assert math.isclose(drawn.log_mass, expected, abs_tol=1e-4)
        assert drawn.forced_tokens == 1  # the end, which is no choice


def test_a_record_has_the_cost_of_all_and_the_choice(tiny: TransformersModel) -> None:
    spent = list[Completion]()

    class Counting(TransformersModel):
        def complete(
            self,
            messages: Messages,
            grammar: Grammar | None,
            sampling: Sampling,
            prefix: Prefix | None = None,
        ) -> Completion:
            spent.append(tiny.complete(messages, grammar, sampling, prefix))
            return spent[-1]

    sampling = Sampling(seed=3, particles=6)
    (drawn,) = draw(Counting(weights=tiny.weights), QUESTION, TWO_ROOMS, sampling, {})
    assert len(spent) > 6
    assert drawn.completion.completion_tokens == sum(piece.completion_tokens for piece in spent)
    assert drawn.completion.sampled_tokens == sum(piece.sampled_tokens for piece in spent)
    assert len(drawn.particles) == 6
    (chosen,) = [particle for particle in drawn.particles if particle.chosen]
    assert chosen.text == drawn.completion.text
    assert chosen.completion_tokens == sum(stage.completion_tokens for stage in drawn.stages)
    masses = [stage.log_mass for stage in drawn.stages]
    assert drawn.completion.log_mass == sum(mass for mass in masses if mass is not None)
    (again,) = draw(tiny, QUESTION, TWO_ROOMS, sampling, {})
    assert again.particles == drawn.particles


def test_what_would_be_rolled_back_weighs_nothing_unless_nothing_else_is_left(
    remembered: Remembered,
) -> None:
    rolled_back = 0
    for seed in range(200):
        sampling = Sampling(seed=seed, particles=2)
        drawn = draw_weighted(remembered, MESSAGES, TWO_ROOMS, sampling, {})
        one, other = drawn.completion.text[1:-1].split()
        inside = [particle for particle in drawn.particles if particle.log_weight is not None]
        assert one != other and inside
        alone = any(stage.drop for stage in drawn.stages)
        assert not alone or len(inside) == 2 or all(p.chosen for p in inside)
        rolled_back += alone
    assert 0 < rolled_back < 40


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_what_a_limit_cuts_weighs_nothing(tiny: TransformersModel, limit: int) -> None:
    for seed in range(6):
        sampling = Sampling(seed=seed, particles=5, max_tokens=limit + 3)
        drawn = draw_weighted(tiny, MESSAGES, AT_ONCE, sampling, {})
        cut = [particle.log_weight is None for particle in drawn.particles]
        assert all(cut) is (drawn.completion.finish_reason == "length")
        for particle in drawn.particles:
            assert particle.completion_tokens <= limit + 3
            assert particle.text.endswith(")") or particle.log_weight is None


@pytest.mark.parametrize("rung", ["json", "syntax", "signatures", "typed", "grounded"])
def test_every_stage_of_the_ladder_ends_where_its_grammar_does(
    rung: str,
) -> None:
    """An end that the model could choose would stand for the text behind it, and have to be weighed
    as such. The last token of a stage is its end, and is no choice."""
    model = RandomModel()
    constraint = RECORD if rung == "json" else constraint_for(rung, PDDL, SCENE, "line")
    sampling = Sampling(max_tokens=1500, seed=1, particles=2)
    drawn = draw_weighted(model, QUESTION.messages, constraint, sampling, {})
    ended = [stage for stage in drawn.stages if stage.finish_reason == "stop"]
    assert all(stage.forced_tokens == 1 and not stage.head for stage in ended)
    if rung in ("typed", "grounded") and drawn.completion.finish_reason == "stop":
        answer = read(drawn.completion, PDDL, constraint)
        assert answer.value and check(answer.value.df, answer.value.pf).accepted
    model.close()


DOMAIN = """(define (domain d) (:predicates (lit) (wet))
  (:action light :parameters () :precondition (and) :effect (lit)))"""


@pytest.mark.parametrize(
    ("problem", "hopeless"),
    [
        ("(define (problem p) (:domain d) (:init) (:goal (lit)))", set()),
        ("(define (problem p) (:domain d) (:init) (:goal (wet)))", {"reachable"}),
        ("(define (problem p) (:domain d) (:init) (:goal (gone)))", {"check", "reachable"}),
    ],
)
def test_a_potential_knows_what_nothing_can_come_of(problem: str, hopeless: set[str]) -> None:
    both = dataclasses.replace(QUESTION, form=PDDL), json.dumps({"df": DOMAIN, "pf": problem})
    scene = dataclasses.replace(QUESTION.scene, domain=DOMAIN)
    alone = Question(PROBLEM, QUESTION.messages, scene), json.dumps({"pf": problem})
    for question, text in (both, alone):
        potentials: tuple[Potential, ...] = ("none", "check", "reachable")
        assert {p for p in potentials if is_hopeless(question, p, text)} == hopeless
    scene = dataclasses.replace(scene, own_goal=False)  # a method sets another one
    question = Question(PROBLEM, QUESTION.messages, scene)
    assert is_hopeless(question, "reachable", alone[1]) is ("check" in hopeless)


def test_what_a_potential_calls_hopeless_is_not_drawn_unless_all_are(
    remembered: Remembered,
) -> None:
    def beginning_with_a(potential: Potential, text: str) -> bool:
        return potential == "check" and text.startswith("(a ")

    drawn_anyway = 0
    for seed in range(60):
        sampling = Sampling(seed=seed, particles=3, potential="check")
        drawn = draw_weighted(remembered, MESSAGES, TWO_ROOMS, sampling, {}, beginning_with_a)
        begun = [one for one in drawn.particles if one.text.startswith("(a ")]
        assert all(one.log_weight is None for one in begun)
        drawn_anyway += len(begun) == 3
        assert drawn.completion.text.startswith("(a ") is (len(begun) == 3)
    assert drawn_anyway < 30


def test_a_model_that_tells_no_masses_cannot_be_weighed() -> None:
    with pytest.raises(ModelFault, match="does not tell"):
        draw_weighted(RandomLogits(), (Message("user", "?"),), AT_ONCE, Sampling(particles=2), {})


def test_company_changes_no_particle(tiny: TransformersModel) -> None:
    """The first of four is the first of eight, as long as nothing was resampled."""
    few, many = (
        draw_weighted(tiny, MESSAGES, AT_ONCE, Sampling(seed=5, particles=n), {}) for n in (4, 8)
    )
    same = [dataclasses.replace(one, chosen=False) for one in many.particles[:4]]
    assert same == [dataclasses.replace(one, chosen=False) for one in few.particles]
