"""What a server should never answer is a fault of one episode, never of the sweep."""

import contextlib
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.core.record.folder import read_rows
from pddlego_local.models import canary
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.models.hostile_server import Reply, body, choice, hostile_server, trickle
from tests.pddlego import Pddlego
from tools.chaos.hostile import Queue, hostile_answers, server
from tools.chaos.simulated import key_of, recorded_answers

pytestmark = pytest.mark.usefixtures("at_once")
PROMPT = (Message("user", "Well?"),)
REFUSALS = {
    "404": body(b"<html>", 404),
    "a thought that nobody asked for": body(
        choice(message={"content": None, "reasoning": "hm"})
    ),
}
IN_THOUGHT = body(
    choice(
        message={"content": None, "reasoning": "Let me think"}, finish_reason="length"
    )
)
GAMES = ["decoding=free", "environment.rooms=5", "games=0-3", "run.retries=0"]
PLAYED = ["model=vllm", "model.weights=simulated", "model.thinking=null", *GAMES]


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    out = tmp_path_factory.mktemp("right")
    run_cell(compose_cell([*GAMES, "model=reference", f"run.out={out}"]))
    return recorded_answers(out)


def endings(out: Path) -> list[tuple[int, str]]:
    rows = [row for path in out.rglob("episodes.jsonl") for row in read_rows(path)]
    return sorted((row.game, row.outcome) for row in rows)


@pytest.mark.parametrize("refusal", ["404", "a thought that nobody asked for"])
@pytest.mark.parametrize(("refused", "code"), [(1, 2), (2, 3)])
def test_a_refusal_is_the_settings_fault_only_before_the_first_answer(
    tmp_path: Path, right: dict[str, str], refusal: str, refused: int, code: int
) -> None:
    with hostile_server(
        right, lambda n: REFUSALS[refusal] if n == refused else None
    ) as url:
        one_by_one = [*PLAYED, f"run.out={tmp_path}", f"model.server.url={url}"]
        assert run(["run", *one_by_one, "run.concurrency=1"]) == code
    assert len(endings(tmp_path)) == 3 if code == 3 else len(endings(tmp_path)) < 3


def test_a_sweep_of_a_model_whose_thoughts_are_cut_ends_with_results(
    tmp_path: Path,
) -> None:
    with hostile_server(chat=lambda number: IN_THOUGHT) as url:
        words = [
            *GAMES,
            "model=gpt_oss_20b",
            f"model.server.url={url}",
            f"run.out={tmp_path}",
        ]
        assert run(["run", *words, "method.max_attempts=1"]) == 0
    assert [outcome for _, outcome in endings(tmp_path)].count("solver_abort") >= 2
    said = [
        row.causes
        for path in tmp_path.rglob("episodes.jsonl")
        for row in read_rows(path)
    ]
    assert {"unfinished_thought"} == {cause for causes in said for cause in causes}


def test_a_server_that_says_nothing_more_has_its_time() -> None:
    """The time of a request counts anew on a connection that is used again."""
    silent = trickle(b"", 60, b"HTTP/1.1 200 OK\r\n")
    with hostile_server(chat=lambda number: silent if number == 2 else None) as url:
        server = Server(url=url, request_timeout_s=0.5)
        with contextlib.closing(
            VllmModel(weights="m", thinking=None, server=server)
        ) as model:
            model.complete(PROMPT, None, Sampling())
            with pytest.raises(ModelFault, match="request_timeout_s"):
                model.complete(PROMPT, None, Sampling())
            assert model.complete(PROMPT, None, Sampling()).text == "fine"


@pytest.mark.parametrize(
    "reply",
    [
        body(b"<html>"),
        body({"version": 7}),
        body({"version": "\x1b[2J" * 9}),
        body({"version": "\ud800"}),
        body(b"", 404),
    ],
)
def test_a_version_that_is_none_is_unknown(reply: Reply) -> None:
    with hostile_server(version=reply) as url:
        model = VllmModel(weights="m", thinking=None, server=Server(url=url))
        with contextlib.closing(model):
            identity = model.identity()
    assert identity["backend_version"] == "unknown"
    assert identity["servers"] == url


def test_a_server_that_ignores_grammars_ends_the_run(
    tmp_path: Path, right: dict[str, str], pddlego: Pddlego
) -> None:
    question = key_of(
        [{"role": one.role, "content": one.content} for one in canary._MESSAGES]
    )
    with hostile_server(right | {question: "yes"}) as url:
        words = [
            *PLAYED,
            "decoding=json",
            f"model.server.url={url}",
            f"run.out={tmp_path}",
        ]
        told = pddlego("run", *words, code=3).err
    assert "it answered 'yes'" in " ".join(told.split())
    assert endings(tmp_path) == []


def test_a_run_goes_on_over_answers_that_no_server_gives(
    tmp_path: Path, right: dict[str, str], pddlego: Pddlego
) -> None:
    """Three of them; `make chaos` has a sweep that meets them all."""
    names = ("a length of 99999999999999", "a body that drips", "a refusal")
    chosen = [
        one for one in hostile_answers() if one.ask == "free" and one.name in names
    ]
    assert len(chosen) == len(names)
    queue, code = Queue(chosen, right), 3
    with server(queue.text, queue.reply) as url:
        words = [*PLAYED, f"model.server.url={url}", f"run.out={tmp_path}"]
        words.append("model.server.request_timeout_s=0.5")
        assert "Traceback" not in pddlego("run", *words, code=3).err
        assert any(
            path.read_text(encoding="utf-8") for path in tmp_path.rglob("faults.jsonl")
        )
        while code:
            code = run(["run", *words])
    assert [outcome[:7] for _, outcome in endings(tmp_path)] == ["success"] * 4
