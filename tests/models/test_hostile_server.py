"""What a server should never answer is a fault of one episode, never of the sweep."""

import contextlib
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pddlego_local.cli import run
from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.core.record.folder import read_rows
from pddlego_local.models import canary
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.models.asking import TOY
from tests.models.hostile_server import Reply, body, choice, good, hostile_server, trickle
from tests.pddlego import Pddlego
from tools.chaos.simulated import key_of, recorded_answers

PROMPT = (Message("user", "Well?"),)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def broken(begin: bytes) -> Reply:
    def reply(handler: object) -> None:
        handler.close_connection = True  # type: ignore[attr-defined]
        handler.wfile.write(begin)  # type: ignore[attr-defined]

    return reply


MALFORMED = {
    "no choices": body(good("", choices=[])),
    "choices are null": body(good("", choices=None)),
    "no choices at all": body({"id": "x"}),
    "no usage": body(good("fine", usage=None)),
    "a list": body([1, 2]),
    "a number": body(1),
    "null": body(None),
    "an error with 200": body({"error": {"message": "overloaded"}}),
    "counts are texts": body(good("", usage={"prompt_tokens": "1", "completion_tokens": "many"})),
    "negative counts": body(good("", usage={"prompt_tokens": 1, "completion_tokens": -5})),
    "a count that is not a number": body(
        good("", usage={"prompt_tokens": 1, "completion_tokens": float("nan")})
    ),
    "endless counts": body(good("", usage={"prompt_tokens": 1, "completion_tokens": 10**30})),
    "a lone surrogate": body(good("\ud800")),
    "content in parts": body(choice(message={"content": [{"type": "text", "text": "x"}]})),
    "content is a number": body(choice(message={"content": 7})),
    "no message": body(choice(message=None)),
    "a call of a tool": body(
        choice(message={"content": None, "tool_calls": [{}]}, finish_reason="tool_calls")
    ),
    "another reason": body(choice(finish_reason="content_filter")),
    "no reason": body(choice(finish_reason=None)),
    "a reason that is a list": body(choice(finish_reason=["stop"])),
    "nothing": body(b""),
    "no JSON": body(b"<html>502</html>", Content_Type="text/html"),
    "not UTF-8": body(b'{"choices": "\xff\xfe"}'),
    "half of it": body(json.dumps(good("fine")).encode()[:60]),
    "very deep": body(b"[" * 100_000),
    "packed": body(gzip.compress(b" " * 10_000), Content_Encoding="gzip"),
    "packed twice": body(b"x", Content_Encoding="gzip, gzip"),
    "a redirect to itself": body(b"", 307, Location="/v1/chat/completions"),
    "a redirect to nowhere": body(b"", 302),
    "a redirect to a file": body(b"", 307, Location="file:///etc/passwd"),
    "413": body(b"too large", 413),
    "422": body([], 422),
    "500 with a list": body([None], 500),
    "500 with nothing": body(b"", 500),
    "500 of another shape": body({"error": {"message": {"a": ["b"]}}}, 500),
    "no status line": broken(b"\x00\x01\x02 garbage\r\n\r\n"),
    "an end in the head": broken(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "a chunk that is none": broken(CHUNKED + b"zz\r\n{}\r\n"),
    "a chunk that is cut": broken(CHUNKED + b"fff\r\n{"),
    "a length that lies": broken(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}"),
    "a length below 0": broken(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"),
}
REFUSALS = {
    "400": body(b"\xff", 400),
    "400 with a list": body(["no"], 400),
    "401": body({"error": "no"}, 401),
    "404": body(b"<html>", 404),
    "404 with a number": body(7, 404),
    "a thought that nobody asked for": body(choice(message={"content": None, "reasoning": "hm"})),
    "a thought by another name": body(
        choice(message={"content": None, "reasoning": None, "reasoning_content": "hm"})
    ),
}
IN_THOUGHT = body(
    choice(message={"content": None, "reasoning": "Let me think"}, finish_reason="length")
)


GAMES = ["decoding=free", "environment.rooms=5", "games=0-3", "run.retries=0"]
PLAYED = ["model=vllm", "model.weights=simulated", *GAMES]


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    out = tmp_path_factory.mktemp("right")
    run_cell(compose_cell([*GAMES, "model=reference", f"run.out={out}"]))
    return recorded_answers(out)


def endings(out: Path) -> list[tuple[int, str]]:
    rows = [row for path in out.rglob("episodes.jsonl") for row in read_rows(path)]
    return sorted((row.game, row.outcome) for row in rows)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing waits before it tries again."""
    monkeypatch.setattr("tenacity.nap.time", SimpleNamespace(sleep=lambda seconds: None))
    yield


@contextlib.contextmanager
def asked(
    chat: Callable[[int], Reply | None] = lambda number: None,
    version: Reply | None = None,
    thinking: Thinking | None = None,
    **settings: Any,
) -> Iterator[VllmModel]:
    """A model at such a server."""
    with hostile_server(chat=chat, version=version) as url:
        server = Server(url=url, **settings)
        with contextlib.closing(VllmModel(weights="m", thinking=thinking, server=server)) as model:
            yield model


@pytest.mark.parametrize("reply", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_answer_is_a_fault(reply: Reply) -> None:
    with asked(lambda n: reply if n < 99 else None) as model, pytest.raises(ModelFault) as fault:
        model.complete(PROMPT, None, Sampling())
    assert len(str(fault.value)) < 3000


@pytest.mark.parametrize("refusal", ["404", "a thought that nobody asked for"])
@pytest.mark.parametrize(("refused", "code"), [(1, 2), (2, 3)])
def test_a_refusal_is_the_settings_fault_only_before_the_first_answer(
    tmp_path: Path, right: dict[str, str], refusal: str, refused: int, code: int
) -> None:
    with hostile_server(right, lambda n: REFUSALS[refusal] if n == refused else None) as url:
        one_by_one = [*PLAYED, f"run.out={tmp_path}", f"model.server.url={url}"]
        assert run(["run", *one_by_one, "run.concurrency=1"]) == code
    assert len(endings(tmp_path)) == 3 if code == 3 else len(endings(tmp_path)) < 3


@pytest.mark.parametrize("thinking", [None, Thinking(switch=None)])
def test_an_answer_that_is_cut_inside_its_thought_is_the_models(thinking: Thinking | None) -> None:
    """Of gpt-oss no option says that it thinks."""
    with asked(lambda number: IN_THOUGHT, thinking=thinking) as model:
        said = model.complete(PROMPT, None, Sampling(thinking=thinking is not None))
    assert (said.finish_reason, said.text) == ("unfinished_thought", "")
    assert said.thought == "Let me think"


def test_a_sweep_of_a_model_whose_thoughts_are_cut_ends_with_results(tmp_path: Path) -> None:
    with hostile_server(chat=lambda number: IN_THOUGHT) as url:
        words = [*GAMES, "model=gpt_oss_20b", f"model.server.url={url}", f"run.out={tmp_path}"]
        assert run(["run", *words, "method.max_attempts=1"]) == 0
    assert [outcome for _, outcome in endings(tmp_path)].count("solver_abort") >= 2
    said = [row.causes for path in tmp_path.rglob("episodes.jsonl") for row in read_rows(path)]
    assert {"unfinished_thought"} == {cause for causes in said for cause in causes}


def test_a_thought_in_the_place_of_a_constrained_answer_is_the_settings_fault() -> None:
    """However it ends: the server's parser has kept the grammar from applying."""
    with asked(lambda n: IN_THOUGHT) as model, pytest.raises(ConfigError, match="reasoning parser"):
        model.complete(PROMPT, TOY, Sampling())


def test_a_server_that_says_nothing_more_has_its_time() -> None:
    silent = trickle(b"", 60, b"HTTP/1.1 200 OK\r\n")
    with asked(lambda n: silent if n == 2 else None, request_timeout_s=0.5) as model:
        model.complete(PROMPT, None, Sampling())  # what follows goes through the same connection
        with pytest.raises(ModelFault, match="request_timeout_s"):
            model.complete(PROMPT, None, Sampling())
        assert model.complete(PROMPT, None, Sampling()).text == "fine"


@pytest.mark.parametrize(
    "reply",
    [
        body(b"<html>"),
        body([]),
        body({"version": 7}),
        body({"version": "\x1b[2J" * 9}),
        body({"version": "\ud800"}),
        body(b"", 404),
        body({"version": "9" * 10_000}),
    ],
)
def test_a_version_that_is_none_is_unknown(reply: Reply) -> None:
    with asked(version=reply) as model:
        identity = model.identity()
        assert (identity["backend_version"], identity["servers"]) == ("unknown", model.server.url)


def test_a_server_that_ignores_grammars_ends_the_run(
    tmp_path: Path, right: dict[str, str], pddlego: Pddlego
) -> None:
    question = key_of([{"role": one.role, "content": one.content} for one in canary._MESSAGES])
    with hostile_server(right | {question: "yes"}) as url:
        words = [*PLAYED, "decoding=json", f"model.server.url={url}", f"run.out={tmp_path}"]
        told = pddlego("run", *words, code=3).err
    assert "it answered 'yes'" in " ".join(told.split())
    assert endings(tmp_path) == []


def test_a_sweep_goes_on_over_malformed_answers(
    tmp_path: Path, right: dict[str, str], pddlego: Pddlego
) -> None:
    replies = [*MALFORMED.values(), *REFUSALS.values()]

    def chat(number: int) -> Reply | None:
        return replies[number % len(replies)] if number % 3 == 0 else None

    code = 3
    with hostile_server(right, chat) as url:
        words = [*PLAYED, "run.concurrency=3", f"model.server.url={url}", f"run.out={tmp_path}"]
        assert "Traceback" not in pddlego("run", *words, code=3).err
        assert any(path.read_text(encoding="utf-8") for path in tmp_path.rglob("faults.jsonl"))
        while code:
            code = run(["run", *words])
    assert [outcome[:7] for _, outcome in endings(tmp_path)] == ["success"] * 4
