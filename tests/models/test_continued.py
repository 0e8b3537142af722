"""Answers that go on where they stopped, and several samples at once: in process."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import GrammarIgnored, PromptTooLong
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.models.canary import check_obedience
from pddlego_local.models.transformers import TransformersModel
from tests.models import staging
from tests.models.asking import CPU, PROMPT, TOY, TOY_LANGUAGE, words


@pytest.fixture(scope="module")
def tokenizer(random_llama: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(random_llama)


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_stage_goes_on_under_its_own_grammar(
    model: TransformersModel, tokenizer: Any, seed: int, anew: bool
) -> None:
    first, rest = staging.begin_and_go_on(model, seed, anew=anew)
    assert rest.prefix is not None
    assert tokenizer.decode(rest.prefix.tokens) == rest.prefix.text
    assert rest.prompt_tokens >= first.prompt_tokens + 1


def test_the_upper_rungs_keep_their_promise_in_process(
    model: TransformersModel,
) -> None:
    ends = [
        staging.typed_answer(model, rung, 0, 4000) for rung in ("typed", "grounded")
    ]
    assert ends == ["accepted"] * 2


@pytest.mark.parametrize("check", staging.STAGED)
def test_stages(model: TransformersModel, check: str) -> None:
    staging.STAGED[check](model)


def test_a_cut_answer_goes_on_from_its_cut(model: TransformersModel) -> None:
    prefix = staging.begin(model, 1).prefix
    assert prefix is not None
    cut = dataclasses.replace(prefix, rollback_chars=1)
    end = Grammar("end", "lark", 'start: /[0-9]/ ")"\n')
    rest = model.complete(PROMPT, end, Sampling(max_tokens=9), cut)
    assert rest.prefix is not None
    assert rest.prefix.text == prefix.text[:-1] + rest.text and rest.text[1:] == ")"


def test_only_the_first_stage_thinks(model: TransformersModel, tokenizer: Any) -> None:
    for seed in range(40):
        first = staging.begin(model, seed, thinking=True)
        assert first.prefix is not None
        if first.finish_reason == "stop":
            rest = staging.go_on(model, seed, first)
            assert tokenizer.decode(first.prefix.opening).endswith(
                first.thought + "</think>"
            )
            again = Sampling(max_tokens=60, seed=1, thinking=True)
            assert (
                model.complete(PROMPT, staging.RECORD, again, rest.prefix).thought == ""
            )
            return
        assert (first.text, first.prefix.tokens) == ("", ())
    pytest.fail("no thought came to its end in 40 tries")


def test_the_context_bounds_the_stages_too(random_llama: Path) -> None:
    model = TransformersModel(weights=str(random_llama), context_tokens=70, engine=CPU)
    sampling = Sampling(max_tokens=500, seed=1)
    first = model.complete(
        PROMPT, None, dataclasses.replace(sampling, max_tokens=5), Prefix()
    )
    rest = model.complete(PROMPT, None, sampling, first.prefix)
    assert rest.finish_reason == "length"
    assert rest.prompt_tokens + rest.completion_tokens == 70
    with pytest.raises(PromptTooLong, match=r"70.*raise model\.context_tokens"):
        model.complete(PROMPT, None, sampling, rest.prefix)


def test_a_text_that_has_lost_its_tokens_is_not_continued(
    model: TransformersModel,
) -> None:
    with pytest.raises(ValueError, match=r"without prefix\.opening"):
        model.complete(PROMPT, staging.FIRST, Sampling(), Prefix("(a b)"))


def test_samples_differ_and_come_again(model: TransformersModel) -> None:
    sampling = Sampling(max_tokens=60, seed=4)
    samples = model.complete_many(PROMPT, TOY, sampling, 5)
    assert all(TOY_LANGUAGE.fullmatch(sample.text) for sample in samples)
    assert len({sample.text for sample in samples}) == 5
    again = model.complete_many(PROMPT, TOY, sampling, 3)
    assert [words(sample) for sample in again] == [
        words(sample) for sample in samples[:3]
    ]


def test_the_canary_hears_a_model_that_is_deaf_in_later_stages_only(
    model: TransformersModel,
) -> None:
    check_obedience(model, stages=True)

    class Deaf(TransformersModel):
        def complete(
            self,
            messages: Messages,
            grammar: Grammar | None,
            sampling: Sampling,
            prefix: Prefix | None = None,
        ) -> Completion:
            heard = None if prefix and prefix.text else grammar
            return super().complete(messages, heard, sampling, prefix)

    deaf = Deaf(weights=model.weights, engine=CPU)
    check_obedience(deaf)
    with pytest.raises(GrammarIgnored, match="zyxomma"):
        check_obedience(deaf, stages=True)
