"""What a model's folder brings, and a server of ours does not follow: settings for its
answers, and a token that calls a tool.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.nouns import Sampling
from pddlego_local.models.vllm.answer import Answers, ChatChoice
from pddlego_local.models.vllm.model import VllmModel
from tests.models.asking import PROMPT, TOY
from tests.serving.served import served, serving

CALL = "<tool_call>"
WRONG = {
    "do_sample": True,
    "temperature": 0.01,
    "top_k": 1,
    "top_p": 0.01,
    "min_p": 0.9,
    "repetition_penalty": 5.0,
    "presence_penalty": 2.0,
    "frequency_penalty": 2.0,
    "max_new_tokens": 1,
}


@pytest.fixture(scope="module")
def caller(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server whose model has the token, and the number of the token."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tmp_path_factory.mktemp("caller")
    tokenizer = AutoTokenizer.from_pretrained(weights)
    tokenizer.add_tokens([CALL])
    random = AutoModelForCausalLM.from_pretrained(weights)
    random.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    random.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    settings = folder / "generation_config.json"
    usual = json.loads(settings.read_text(encoding="utf-8"))
    settings.write_text(json.dumps(usual | WRONG), encoding="utf-8")
    model = served(folder, serving())
    with contextlib.closing(model):
        yield model, tokenizer.convert_tokens_to_ids(CALL)


def test_settings_for_answers_are_not_taken_from_the_folder(
    caller: tuple[VllmModel, int],
) -> None:
    """A request that states none is answered as one of ours, which states them all."""
    model, _ = caller
    stated = model.complete(PROMPT, None, Sampling(max_tokens=40, seed=3))
    body = {
        "messages": [{"role": m.role, "content": m.content} for m in PROMPT],
        "chat_template_kwargs": {"enable_thinking": False},
        "max_tokens": 40,
        "seed": 3,
    }
    connection = model.start().connection
    unstated = connection.answer(
        "chat/completions", body, Answers[ChatChoice], lambda: 40
    )
    assert unstated.choices[0].message.content == stated.text
    assert unstated.usage.completion_tokens == stated.completion_tokens > 1


def test_a_thought_does_not_end_with_a_call_of_a_tool(
    caller: tuple[VllmModel, int],
) -> None:
    """vLLM's parser "qwen3" would end the thought there, and the grammar would forbid
    the token: HTTP 500, with each seed that draws it.
    """
    model, token = caller
    client = model.start()
    body = {
        "messages": [{"role": m.role, "content": m.content} for m in PROMPT],
        "chat_template_kwargs": {"enable_thinking": True},
        "max_tokens": 20,
        "n": 1,
        "seed": 1,
        "temperature": 1.0,
        "return_token_ids": True,
        "logit_bias": {token: 100},
    }
    free = client.connection.answer(
        "chat/completions", body, Answers[ChatChoice], lambda: 20
    )
    assert token in free.choices[0].drawn, "the model wants to call a tool"
    constrained = client.connection.answer(
        "chat/completions",
        body | client._constraint(TOY),
        Answers[ChatChoice],
        lambda: 20,
    )
    (choice,) = constrained.choices
    assert choice.finish_reason == "length" and choice.is_thought
    assert token not in choice.drawn
