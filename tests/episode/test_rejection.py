"""Free answers that are drawn until one lies in a rung's language, by a model whose
distribution is known, behind the real reading and the real languages.
"""

import dataclasses
import functools
import json
import random
from collections import Counter
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import to_json
from pddlego_local.core.nouns import Completion, Grammar, Messages, Sampling
from pddlego_local.core.record.events import EVENT, Call, Plan
from pddlego_local.core.record.summary import summarize
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.question import Model, Question
from pddlego_local.decoding.settings import Decoding, Reject
from pddlego_local.episode.drawing import draw_until_accepted
from pddlego_local.episode.model_caller import rejection_of
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.decoding.test_membership import PROMPT, fenced, written
from tests.decoding.test_typed import SCENE
from tests.episode.drawing import RandomLogits, Request
from tests.episode.test_model_caller import Asked, pair
from tests.methods.playing import of

Weighted = dict[str, int]


class Known(RandomLogits):
    """A language model whose free answers have these weights; each takes as many tokens
    as it has words. It obeys no grammar.
    """

    def __init__(self, answers: Weighted) -> None:
        self._answers = answers

    def answer_to(self, asked: Request) -> Completion:
        assert asked.grammar is None
        assert asked.prefix is None
        texts = list(self._answers)
        weights = list(self._answers.values())
        (text,) = random.Random(asked.sampling.seed).choices(texts, weights)
        return Completion(text, "stop", 7, len(text.split()), 0.25)

    def complete_many(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        count: int,
    ) -> tuple[Completion, ...]:
        raise AssertionError("a try is a request of its own")


INSIDE: Weighted = {
    written(): 1,
    written("(:requirements :strips :typing)", "", as_=fenced): 3,
    written("hall cellar - room", "hall cellar hall - room"): 4,
    written("(:goal (at cellar))", "(:goal (and (at cellar) (lit candle)))"): 12,
}
OUTSIDE: Weighted = {
    "I do not know.": 20,
    written("(has candle)", "(has torchlight)", as_=fenced): 30,
    written("(:goal (at cellar))", "(:goal (at hall))"): 10,
}


def drawn_often(tries: int, times: int) -> tuple[Counter[str], int]:
    """How often each answer was taken, and how often one was accepted."""
    model = Known(INSIDE | OUTSIDE)
    decoding = deciding(tries)
    rejection = rejection_of(Question(PDDL, PROMPT, SCENE), decoding, model)
    assert rejection
    rejection = dataclasses.replace(rejection, why_not=by_text(rejection.why_not))
    taken = Counter[str]()
    accepted = 0
    for seed in range(times):
        drawn = draw_until_accepted(model, PROMPT, decoding.sampling(seed), rejection)
        taken[drawn.completion.text] += 1
        accepted += len(drawn.stages) < tries
    return taken, accepted


def by_text(why: Any) -> Any:
    """The same verdicts, each worked out once."""
    known = functools.cache(lambda text: why(Completion(text, "stop", 1, 1, 0.0)))
    return lambda completion: known(completion.text)


def deciding(tries: int, rung: str = "grounded", **decoding: Any) -> Decoding:
    return Decoding(rung="free", reject=Reject(rung=rung, tries=tries), **decoding)  # type: ignore[arg-type]


def chi_squared(seen: Counter[str], weights: Weighted, times: int) -> float:
    whole = sum(weights.values())
    expected = {text: times * weight / whole for text, weight in weights.items()}
    return sum((seen[text] - n) ** 2 / n for text, n in expected.items())


def test_accepted_answers_are_drawn_as_free_ones_given_that_they_are_inside() -> None:
    """Three degrees of freedom: above 21 in one of ten thousand tests of the right
    distribution.
    """
    taken, accepted = drawn_often(64, 3000)
    assert accepted == 3000
    assert taken.keys() == INSIDE.keys()
    assert chi_squared(taken, INSIDE, 3000) < 21
    assert chi_squared(taken, dict.fromkeys(INSIDE, 1), 3000) > 1000


RIGHT = pair()
FAULTY = pair("(at ?loc1)", "(be ?loc1)")
TWICE = RIGHT.replace(
    "kitchen behind_kitchen_south behind", "kitchen kitchen behind_kitchen_south behind"
)


def asked(
    answers: Weighted, planner: FastDownward, tries: int = 4, **decoding: Any
) -> Asked:
    reject = Reject(rung="typed", tries=tries)
    return Asked(Known(answers), planner, reject=reject, **decoding)


def test_all_tries_are_recorded_and_their_tokens_count(planner: FastDownward) -> None:
    game = asked({RIGHT: 1, FAULTY: 6, "no": 2}, planner, tries=64)
    assert game.formalize().plan
    (call,) = of(game.events, Call)
    assert len(call.rejected) > 1
    assert call.text == RIGHT
    for stage in call.rejected:
        assert (stage.grammar, stage.prompt_tokens) == (None, 7)
        assert stage.completion_tokens == len(stage.text.split())
        assert stage.why == "no_json" if stage.text == "no" else "be" in stage.why
    assert len({stage.sampling.seed for stage in call.rejected}) == len(call.rejected)
    tokens = sum(
        len(text.split()) for text in (RIGHT, *(stage.text for stage in call.rejected))
    )
    counts = summarize(game.events)
    assert counts.completion_tokens == call.sampled_tokens == tokens
    assert (counts.calls, counts.prompt_tokens, counts.rollbacks) == (1, 7, 0)
    assert counts.model_time_s == 0.25 * (1 + len(call.rejected))
    assert EVENT.validate_json(to_json(call)) == call


def test_the_first_try_is_the_answer_of_free_decoding(planner: FastDownward) -> None:
    answers = {str(number): 1 for number in range(1000)}
    free = Asked(Known(answers), planner)
    rejecting = asked(answers, planner)
    free.formalize()
    rejecting.formalize()
    (first,) = of(free.events, Call)
    (call,) = of(rejecting.events, Call)
    assert first.stages == ()
    assert call.rejected[0].text == first.text
    assert [stage.text for stage in call.rejected][-1] == call.text
    assert len({stage.text for stage in call.rejected}) == 4
    assert call.fault == "no_json"


def test_candidates_are_rejected_each_by_itself(planner: FastDownward) -> None:
    game = asked({RIGHT: 1, "no": 3}, planner, best_of=6, tries=3)
    game.formalize()
    calls = of(game.events, Call)
    assert len(calls) == 6
    assert len({len(call.rejected) for call in calls}) > 1
    seeds = [stage.sampling.seed for call in calls for stage in call.rejected]
    assert len(set(seeds)) == len(seeds)
    assert all((call.text == RIGHT) == (len(call.rejected) < 3) for call in calls)


def test_what_an_accepted_answer_says_twice_is_dropped_as_on_its_rung(
    planner: FastDownward,
) -> None:
    """What was rejected to the end counts as it stands."""
    accepted = asked({TWICE: 1}, planner, tries=1)
    free = Asked(Known({TWICE: 1}), planner)
    assert accepted.formalize().plan
    assert free.formalize().cause == "translate_error"
    (call,) = of(accepted.events, Call)
    assert call.redundant == (":objects kitchen - location",)
    assert call.stages == ()
    both = TWICE.replace("(at ?loc1)", "(be ?loc1)")
    rejected = asked({both: 1}, planner, tries=2)
    assert rejected.formalize().cause == "translate_error"
    (call,) = of(rejected.events, Call)
    (plan,) = of(rejected.events, Plan)
    assert call.redundant == ()
    assert plan.problem == json.loads(both)["pf"]


def test_models_that_decode_nothing_reject_nothing(planner: FastDownward) -> None:
    game = Asked(Scripted([FAULTY]), planner, reject=Reject(rung="typed", tries=3))
    assert game.formalize().cause == "translate_error"
    (call,) = of(game.events, Call)
    assert call.stages == ()
    model: Model = Scripted([])
    assert rejection_of(Question(PDDL, PROMPT, SCENE), deciding(3), model) is None


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"rung": "typed"},
            r"decoding\.reject=.* needs decoding=free, .*decoding=typed: it draws",
        ),
        (
            {"temperature": 0},
            r"decoding\.reject\.tries=4 needs a decoding\.temperature above 0",
        ),
    ],
)
def test_what_makes_no_sense_is_said(options: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Decoding(**{"rung": "free", "reject": Reject(rung="typed", tries=4), **options})
    assert Decoding(
        rung="free", temperature=0, reject=Reject(rung="typed", tries=1)
    ).reject
