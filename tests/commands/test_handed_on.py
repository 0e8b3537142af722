"""What `sample`, `run` and `score` hand on from the same answer is the same text."""

import contextlib
import dataclasses
import json
from pathlib import Path

import pytest

from pddlego_local.api.library import question
from pddlego_local.api.sample import Sample, first_question, sampler
from pddlego_local.core.nouns import Completion
from pddlego_local.core.record.events import Plan
from pddlego_local.decoding.question import Model
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from tests.decoding.test_membership import fenced
from tests.episode.drawing import RandomLogits, Request
from tests.episode.test_model_caller import pair
from tests.methods.playing import Events, of
from tests.pddlego import Pddlego


class Always(RandomLogits):
    """Gives this free answer, whatever is asked."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def answer_to(self, asked: Request) -> Completion:
        assert asked.grammar is None
        return Completion(self.text, "stop", 7, 7, 0.25)


class SameSeed(RandomLogits):
    """Draws each answer from the same random numbers."""

    def answer_to(self, asked: Request) -> Completion:
        same = dataclasses.replace(asked.sampling, seed=5)
        return super().answer_to(asked._replace(sampling=same))


TWICE = (
    "kitchen behind_kitchen_south behind",
    "kitchen kitchen behind_kitchen_south behind",
)
ANSWERS = {
    "as it is": pair(),
    "in fences": fenced(*json.loads(pair()).values()),
    "an object twice": pair(*TWICE),
    "an object of two types": pair(
        TWICE[0], "kitchen behind_kitchen_south - location kitchen"
    ),
    "a fact twice": pair("(at kitchen)", "(at kitchen) (at kitchen)"),
    "another name": pair("(at kitchen)", "(at Kitchen-)"),
}


def sampled(words: list[str], model: Model) -> Sample:
    config = compose_cell(words)
    return sampler(config, model, first_question(config))(0)


def played(words: list[str], model: Model, planner: FastDownward) -> Plan:
    """What a run records of its first plan."""
    config, events = compose_cell(words), Events()
    with contextlib.closing(config.build("environment")) as environment:
        parts = Parts(environment, model, planner, config.build("decoding"))
        game = config.settings.games[0]
        episode = Episode(parts, events.append, run_seed=0, game=game, trial=0)
        config.build("method")(episode)
    return of(events, Plan)[0]


FREE = {
    "free": ["decoding=free"],
    "rejected": ["decoding=free", "decoding.reject={rung: typed, tries: 1}"],
    "repaired": ["decoding=free", "decoding.repair=typed"],
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("how", FREE)
def test_sample_and_run_hand_on_the_same_files(
    how: str, name: str, planner: FastDownward
) -> None:
    words = ["environment=coin", *FREE[how]]
    model = Always(ANSWERS[name])
    sample = sampled(words, model)
    plan = played(words, model, planner)
    assert sample.domain == plan.domain
    assert sample.problem == plan.problem
    outcome = planner.plan(sample.domain, sample.problem).outcome
    assert outcome == plan.outcome
    if how == "repaired" or (how == "rejected" and name == "an object twice"):
        assert outcome == "solved"


@pytest.mark.parametrize("name", ANSWERS)
def test_score_hands_on_what_a_free_answer_hands_on(
    name: str, tmp_path: Path, pddlego: Pddlego
) -> None:
    sample = sampled(["decoding=free"], Always(ANSWERS[name]))
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"answer": ANSWERS[name]}), encoding="utf-8")
    scored = json.loads(pddlego("score", path).out)
    assert scored["df"] == sample.domain
    assert scored["pf"] == sample.problem
    assert ("typed" in scored["rungs"]) == (scored["outcome"] != "translate_error")


@pytest.mark.parametrize("rung", ["typed", "grounded"])
def test_the_upper_rungs_hand_on_the_same_files(
    rung: str, planner: FastDownward
) -> None:
    """Also for a question that was made with other settings."""
    words, model = [f"decoding={rung}"], SameSeed(2)
    sample, plan = sampled(words, model), played(words, model, planner)
    assert sample.domain == plan.domain
    assert sample.problem == plan.problem
    assert plan.outcome != "translate_error"
    made_otherwise = sampler(compose_cell(words), model, question(decoding="grounded"))(
        0
    )
    assert made_otherwise.domain == plan.domain
    assert made_otherwise.problem == plan.problem
