"""A response of a vLLM server that comes in pieces is the one that would have come at
once.
"""

import json
from typing import Any

import pydantic
import pytest

from pddlego_local.models.vllm.answer import Answers, Streamed, TextChoice, Watch


def line(*parts: dict[str, Any], drawn: int, **more: Any) -> bytes:
    usage = {"prompt_tokens": 5, "completion_tokens": drawn}
    return b"data: " + json.dumps({"choices": parts, "usage": usage, **more}).encode()


WRITTEN = [
    line({"text": "a ", "token_ids": [1]}, drawn=1),
    b"",
    line({"text": "b c ", "token_ids": [2, 3], "finish_reason": None}, drawn=3),
]
END = [
    line({"text": "d", "token_ids": [4, 9], "finish_reason": "stop"}, drawn=5),
    line(drawn=5),
    b"data: [DONE]",
]


def test_the_pieces_make_the_whole() -> None:
    seen = list[str]()

    def watch(text: str) -> bool:
        seen.append(text)
        return False

    streamed = Streamed(watch, 9)
    assert not any(map(streamed, WRITTEN + END))
    response = Answers[TextChoice].model_validate_json(streamed.joined)
    (choice,) = response.choices
    assert choice.text == "a b c d"
    assert choice.drawn == (1, 2, 3, 4, 9)
    assert choice.finish_reason == "stop"
    assert response.usage.completion_tokens == 5
    assert seen == ["a ", "a b c "]


def test_a_response_that_the_watch_ends_is_cut_there() -> None:
    watch = Watch(lambda text: "c" in text)
    streamed = Streamed(watch, 9)
    assert [streamed(line) for line in WRITTEN] == [False, False, True]
    response = Answers[TextChoice].model_validate_json(streamed.joined)
    (choice,) = response.choices
    assert choice.text == "a b c "
    assert choice.spelled == (1, 2, 3)
    assert choice.finish_reason == "length"
    assert watch.stopped
    assert response.usage.completion_tokens == 3


@pytest.mark.parametrize("lines", [[], WRITTEN])
def test_a_response_that_ends_without_its_end_is_no_answer(lines: list[bytes]) -> None:
    """Nobody broke it off: it is the server's fault, and no circle of the model's."""
    streamed = Streamed(lambda text: False, 9)
    assert not any(map(streamed, lines))
    with pytest.raises(pydantic.ValidationError):
        Answers[TextChoice].model_validate_json(streamed.joined)


def test_what_is_no_piece_is_refused() -> None:
    with pytest.raises(pydantic.ValidationError):
        Streamed(lambda text: False, 9)(
            b'data: {"error": {"message": "out of memory"}}'
        )
