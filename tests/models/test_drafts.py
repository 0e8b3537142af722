"""A draft before the answer, by a real model in process."""

import re
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError, PromptTooLong
from pddlego_local.decoding.session import at_once
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.transformers import TransformersModel
from tests.models.asking import CPU, PROMPT, TOY, TOY_LANGUAGE
from tests.models.drafting import TWO_STAGES, Dictated, Planted, drafted

LONG = "the kitchen and the pantry " * 40


def tokens_of(model: TransformersModel, draft: str, asked: str) -> int:
    """Of the conversation, as the model's own template writes it."""
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(model.weights)
    said = [(message.role, message.content) for message in PROMPT]
    told = [*said, ("assistant", draft), ("user", asked)]
    text = tokenizer.apply_chat_template(
        [{"role": role, "content": content} for role, content in told],
        tokenize=False,
        add_generation_prompt=True,
        enable_thinking=False,
    )
    return len(tokenizer(text)["input_ids"])


@pytest.mark.parametrize(
    "constraint", [at_once(TOY), TWO_STAGES], ids=["one grammar", "stages"]
)
def test_the_model_has_its_draft_before_its_eyes(
    model: TransformersModel, constraint: Any
) -> None:
    for text in ("(kitchen,pantry)", "{{ x }}", "Küche \U0001f600", ""):
        drawn = drafted(Planted(model, text), constraint)
        draft, answer, *_ = drawn.stages
        assert (draft.text, draft.finish_reason) == (text, "stop")
        assert answer.prompt_tokens == tokens_of(model, text, draft.asked)
        assert drawn.completion.finish_reason == "stop"


@pytest.mark.parametrize("text", ["<think>so", "a</think>b"])
def test_markers_in_a_draft_are_text(model: TransformersModel, text: str) -> None:
    drawn = drafted(Planted(model, text), TWO_STAGES)
    assert drawn.stages[0].text == text
    assert drawn.completion.finish_reason == "stop"


def test_a_draft_that_its_limit_cuts_is_used_as_it_is(model: TransformersModel) -> None:
    for constraint, language in (
        (at_once(TOY), TOY_LANGUAGE),
        (TWO_STAGES, re.compile(r"\(a .* \(b .*")),
    ):
        drawn = drafted(Dictated(model, LONG), constraint, limit=25)
        draft, answer, *_ = drawn.stages
        assert (draft.finish_reason, draft.completion_tokens) == ("length", 25)
        assert draft.text and LONG.startswith(draft.text)
        assert answer.prompt_tokens == tokens_of(model, draft.text, draft.asked)
        assert drawn.completion.finish_reason == "stop"
        assert language.fullmatch(drawn.completion.text)


def test_a_draft_that_fills_the_context_says_what_to_lower(
    random_llama: Path,
) -> None:
    model = TransformersModel(weights=str(random_llama), context_tokens=80, engine=CPU)
    with pytest.raises(
        PromptTooLong, match=r"a draft of \d+ tokens .*decoding\.draft_tokens"
    ):
        drafted(Dictated(model, LONG), TWO_STAGES, limit=500)


def test_a_model_that_always_thinks_drafts_nothing(random_llama: Path) -> None:
    thinker = Thinking(switch=None)
    model = TransformersModel(weights=str(random_llama), thinking=thinker, engine=CPU)
    with pytest.raises(
        ConfigError, match=r"always thinks.*decoding\.reason=draft.*reason=think"
    ):
        model.preflight()
