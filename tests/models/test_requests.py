"""What a vLLM server is asked, and what its answers become: a server in this process
whose tokens are bytes.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Completion, Message, Prefix, Sampling
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from tests.models.asking import TOY
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
        thinks = request.get("chat_template_kwargs", {}).get("enable_thinking")
        if not thinks:
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
    one = Completion("(a b)", "stop", len("Well?"), len(ANSWER) + 1, 0.0)
    for answer in answers:
        assert answer.latency_s > 0
        assert vars(answer) | {"latency_s": 0.0} == vars(one)
    assert len(answers) == 3


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
