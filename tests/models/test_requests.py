"""What a vLLM server is asked, and what its answers become: a server in this process
whose tokens are bytes.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.core.nouns import Completion, Message, Prefix, Sampling
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from tests.models.asking import TOY
from tests.models.hostile_server import hostile_server
from tests.models.staging import FIRST, second
from tools.chaos.hostile import END_OF_TEXT, server

PROMPT = (Message("user", "Well?"),)
BYTE_MARKERS = Thinking(start="<", end=">")
THOUGHT = b"<hm>"
ANSWER = b"(a b)"

Request = Mapping[str, Any]


@contextlib.contextmanager
def asked(thinking: Thinking | None) -> Iterator[tuple[VllmModel, list[Request]]]:
    """Yields a model and the requests that its server gets."""
    requests: list[Request] = []

    def text_of(request: Request) -> str:
        return ANSWER.decode() if "messages" in request else " (b 7)"

    def reply_of(request: Request) -> Request | None:
        requests.append(request)
        if request.get("chat_template_kwargs") != {"enable_thinking": True}:
            return None
        tokens = [*THOUGHT, *ANSWER, END_OF_TEXT]
        return {
            "message": {"reasoning": "hm"},
            "choice": {"token_ids": tokens},
            "usage": {"completion_tokens": len(tokens)},
        }

    with server(text_of, reply_of) as url:
        model = VllmModel(weights="m", thinking=thinking, server=Server(url=url))
        with contextlib.closing(model):
            yield model, requests


def test_several_answers_are_one_request() -> None:
    sampling = Sampling(0.5, max_tokens=20, seed=11)
    with asked(thinking=None) as (model, requests):
        answers = model.complete_many(PROMPT, TOY, sampling, 3)
    (request,) = requests
    assert (request["n"], request["seed"], request["temperature"]) == (3, 11, 0.5)
    assert request["structured_outputs"]["grammar"] == TOY.text
    neutral = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
    neutral |= {"presence_penalty": 0.0, "frequency_penalty": 0.0}
    assert neutral.items() <= request.items(), "else a model's folder would set them"
    assert len(answers) == 3
    for answer in answers:
        assert answer.latency_s > 0
        expected = Completion(
            text="(a b)",
            finish_reason="stop",
            prompt_tokens=len("Well?"),
            completion_tokens=len(ANSWER) + 1,
            latency_s=answer.latency_s,
        )
        assert answer == expected


def test_a_stage_goes_on_behind_the_thought_of_the_first() -> None:
    thinking = Sampling(max_tokens=50, thinking=True)
    with asked(BYTE_MARKERS) as (model, requests):
        first = model.complete(PROMPT, FIRST, thinking, Prefix())
        assert (first.text, first.thought) == ("(a b)", "hm")
        assert first.prefix is not None
        assert bytes(first.prefix.opening) == b"Well?" + THOUGHT
        assert bytes(first.prefix.tokens) == ANSWER
        rest = model.complete(PROMPT, second("b"), Sampling(), first.prefix)
    assert rest.prefix is not None and rest.prefix.text == "(a b) (b 7)"
    assert bytes(requests[-1]["prompt"]) == b"Well?" + THOUGHT + ANSWER


@pytest.mark.parametrize(
    ("markers", "name"),
    [
        (Thinking(start="<think>", end=">"), "start"),
        (Thinking(start="<", end="</think>"), "end"),
    ],
)
def test_a_marker_that_is_several_tokens_is_refused_in_stages(
    markers: Thinking, name: str
) -> None:
    thinking = Sampling(max_tokens=50, thinking=True)
    told = rf"model\.thinking\.{name}: .* is not one token of m"
    with asked(markers) as (model, _), pytest.raises(ConfigError, match=told):
        model.complete(PROMPT, FIRST, thinking, Prefix())


@pytest.mark.parametrize(
    ("prefix", "told"),
    [
        (Prefix(), r"does not return the .*model\.server\.url at vLLM >= 0\.12"),
        (Prefix(forced_prefix="("), "has no /tokenize, which answers in stages need"),
    ],
)
def test_a_gateway_that_cannot_answer_in_stages_is_named(
    prefix: Prefix, told: str
) -> None:
    """It leaves out the tokens of an answer, and knows only /v1."""
    with hostile_server() as url:
        model = VllmModel(weights="m", thinking=None, server=Server(url=url))
        with contextlib.closing(model), pytest.raises(ConfigError, match=told):
            model.complete(PROMPT, FIRST, Sampling(), prefix)


@pytest.mark.usefixtures("at_once")
def test_nobody_at_the_address_is_a_fault_of_the_server() -> None:
    model = VllmModel(
        weights="m", thinking=None, server=Server(url="http://127.0.0.1:9/v1")
    )
    with (
        contextlib.closing(model),
        pytest.raises(ModelFault, match="Check the server at"),
    ):
        model.complete(PROMPT, TOY, Sampling())
