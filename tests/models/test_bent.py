"""What masks take of a model's probability, as `tools.bench.bent` measures it."""

import dataclasses
import math
from collections import Counter

import pytest
import torch
from llguidance import LLMatcher

from pddlego_local.core.nouns import Grammar, Prefix, Sampling
from pddlego_local.models import generation
from pddlego_local.models.transformers import TransformersModel
from pddlego_local.runner.config import compose_cell
from tests.models.asking import PROMPT, TOY
from tests.models.staging import FIRST, second
from tools.bench.bent import Step, Watched, places, rows, watched

BLIND = Grammar(
    "blind", "lark", 'start: "(a b c d e) (f g)" /[0-9]{3}/ " and no more"\n'
)
HEAT = 0.7


@pytest.fixture
def watching(
    model: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> TransformersModel:
    monkeypatch.setattr(generation, "ForcedTokens", Watched)
    Watched.noted.clear()
    return model


def assert_masses(model: TransformersModel, grammar: Grammar) -> float:
    """Those noted last are what a reading of the whole text gives, token by token, by a
    mask made afresh; all that they took.
    """
    assert model._loaded
    ids, noted = Watched.noted[-1]
    ids, took_in_all = list(ids), 0.0
    matcher = LLMatcher(model._loaded._backend.llg_tokenizer, grammar.text)
    for token, noted_left, likeliest, forbidden in noted:
        with torch.inference_mode():
            logits = model._loaded.model(torch.tensor([ids])).logits[0, -1]
        allowed = [
            bit == "1"
            for byte in matcher.compute_bitmask()
            for bit in f"{byte:08b}"[::-1]
        ]
        likely = (logits / HEAT).softmax(dim=-1)
        left = sum(float(p) for p, may in zip(likely, allowed, strict=False) if may)
        assert noted_left == pytest.approx(left, rel=1e-3)
        assert likeliest == int(logits.argmax())
        of_likeliest = 0 if allowed[likeliest] else float(likely[likeliest])
        assert forbidden == pytest.approx(of_likeliest, rel=1e-3)
        assert matcher.consume_token(token)
        ids.append(token)
        took_in_all -= math.log(noted_left)
    return took_in_all


@pytest.mark.parametrize("grammar", [TOY, BLIND], ids=lambda grammar: grammar.name)
def test_each_token_is_measured_once_forced_ones_too(
    watching: TransformersModel, grammar: Grammar
) -> None:
    for seed in range(3):
        drawn = watching.complete(
            PROMPT, grammar, Sampling(HEAT, max_tokens=50, seed=seed)
        )
        (_, noted) = Watched.noted[-1]
        assert len(noted) == drawn.completion_tokens - (drawn.finish_reason == "stop")
        assert assert_masses(watching, grammar) > 5


def test_later_stages_are_measured_behind_the_earlier_ones(
    watching: TransformersModel,
) -> None:
    sampling = Sampling(HEAT, max_tokens=60, seed=1)
    first = watching.complete(PROMPT, FIRST, sampling, Prefix())
    assert_masses(watching, FIRST)
    assert first.prefix
    end = first.text[-2:]
    prefix = dataclasses.replace(
        first.prefix, rollback_chars=2, forced_prefix=f"{end},"
    )
    watching.complete(PROMPT, second("x"), sampling, prefix)
    assert_masses(watching, second("x"))


def played(*overrides: str) -> tuple[TransformersModel, list[list[Step]]]:
    words = [
        "environment=coin",
        "environment.rooms=5",
        "model=random",
        "games=2000",
        *overrides,
    ]
    config = compose_cell([*words, "decoding.max_tokens=300"])
    random: TransformersModel = config.build("model")
    return random, list(watched(config, random, 3))


def test_stages_add_up_over_all_questions_of_a_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(generation, "ForcedTokens", Watched)
    model, answers = played("method=pddl_edit", "decoding=typed")
    assert len(answers) == 3
    tokens_of: dict[str, object] = {}
    took_of: dict[str, object] = {}
    for name, _, tokens, _, took, *_ in rows(answers):
        tokens_of[str(name)] = tokens
        took_of[str(name)] = took
    steps = [step for answer in answers for step in answer]
    of_stage = Counter(step.stage for step in steps)
    assert {"objects", "facts"} <= of_stage.keys()
    assert {name: tokens_of[name] for name in of_stage} == of_stage
    assert tokens_of["all"] == len(steps)
    took_in_all = sum(step.took for step in steps) / len(answers)
    assert took_of["all"] == f"{took_in_all:.1f}"
    ten = list(places(answers, model._loaded))
    assert len(ten) == 10
    most = max(step.took for step in steps)
    assert float(str(ten[0][1])) == pytest.approx(most, abs=0.06)
