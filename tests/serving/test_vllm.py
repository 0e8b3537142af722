"""The vLLM backend against a real server: one for the questions, one to be killed with its parent.

Needs a serving environment: PDDLEGO_SERVING_ENV, else .venv-serving.
"""

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from pddlego_local import run as runner
from pddlego_local.config import compose_cell
from pddlego_local.core import Grammar, Message, Sampling
from pddlego_local.decoding.grammars.lark_text import accepts, load
from pddlego_local.errors import ConfigError, MissingPart, ModelFault
from pddlego_local.events import Call
from pddlego_local.models import opened
from pddlego_local.models.canary import check_obedience
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.thinking import Thinking
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.server import VllmServer, launcher
from pddlego_local.models.vllm.settings import Server
from pddlego_local.record import read_events, read_rows, read_run
from tests.models.asking import ENVELOPE, FORMS, PROMPT, TOY, TOY_LANGUAGE, finished
from tests.serving.processes import group_of, wait_until_gone

ENV = Path(os.environ.get("PDDLEGO_SERVING_ENV", ".venv-serving"))
pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(
        not (ENV / "bin" / "python").exists(), reason="no serving environment: make serving"
    ),
]
CONTEXT_TOKENS = 4096


def serving(**settings: object) -> Server:
    variables = {"OMP_NUM_THREADS": "1"}
    fast = {"kv_cache_gib": 1, "start_timeout_s": 1500, "variables": variables}
    return Server(env=ENV, device="cpu", **{**fast, **settings})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_random_llama(tmp_path_factory.mktemp("served") / "random", seed=7)


@pytest.fixture(scope="module")
def model(weights: Path) -> Iterator[VllmModel]:
    model = VllmModel(
        weights=str(weights),
        dtype="float32",
        context_tokens=CONTEXT_TOKENS,
        thinking=Thinking(),
        server=serving(),
    )
    try:
        model.start()
        yield model
    finally:
        model.close()


def test_an_episode_is_played_under_the_grammar_and_recorded(
    model: VllmModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened.MODELS, "get", lambda config: model)
    monkeypatch.setattr(opened.MODELS, "open", lambda config, model: None)
    overrides = ["model=random_vllm", f"run.out={tmp_path}", "games=1", "decoding.max_tokens=1500"]
    result = runner.run_cell(compose_cell(overrides))
    assert result.faults == []
    assert read_run(result.folder)["model"]["forced_tokens"] == "true"
    (row,) = read_rows(result.folder / "episodes.jsonl")
    assert row.outcome == "solver_abort" and row.calls == 6
    events = read_events(result.folder / "transcripts" / "1-0.jsonl")
    calls = [event for event in events if isinstance(event, Call)]
    assert row.completion_tokens == sum(call.completion_tokens for call in calls) > 0
    whole = [call for call in calls if call.finish_reason == "stop"]
    assert whole and all(accepts(load("syntax"), call.text) for call in whole)


def test_the_canary_passes(model: VllmModel) -> None:
    check_obedience(model)


@pytest.mark.parametrize("seed", range(10))
def test_grammars_are_obeyed(model: VllmModel, seed: int) -> None:
    lark = model.complete(PROMPT, TOY, Sampling(max_tokens=100, seed=seed))
    schema = model.complete(PROMPT, ENVELOPE, Sampling(max_tokens=400, seed=seed))
    assert (lark.finish_reason, schema.finish_reason) == ("stop", "stop")
    assert TOY_LANGUAGE.fullmatch(lark.text)
    assert json.loads(schema.text).keys() == {"df", "pf"}


def test_every_form_is_drawn_as_it_is_read(model: VllmModel) -> None:
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda form: finished(model, form, seed=1), FORMS))
    assert sum(drawn) >= len(FORMS) - 1


def test_limits_and_counts(model: VllmModel) -> None:
    free = model.complete(PROMPT, None, Sampling(max_tokens=30, seed=1))
    assert (free.finish_reason, free.completion_tokens) == ("length", 30)
    cut = model.complete(PROMPT, TOY, Sampling(max_tokens=1))
    assert (cut.finish_reason, cut.text, cut.completion_tokens) == ("length", "(", 1)
    longer = (*PROMPT, Message("user", "Again."))
    assert model.complete(longer, TOY, Sampling(max_tokens=50)).prompt_tokens > cut.prompt_tokens


def test_the_context_bounds_prompt_and_answer(model: VllmModel) -> None:
    most = (Message("user", "the kitchen " * 1900),)
    for seed in range(10):  # random weights end a text now and then
        free = model.complete(most, None, Sampling(max_tokens=100_000, seed=seed))
        if free.finish_reason == "length":
            break
    assert free.finish_reason == "length"
    assert free.prompt_tokens + free.completion_tokens == CONTEXT_TOKENS
    long = (Message("user", "the kitchen " * 3000),)
    with pytest.raises(ConfigError, match=r"raise model\.context_tokens"):
        model.complete(long, TOY, Sampling(max_tokens=10))


def test_an_answer_depends_on_its_seed_alone(model: VllmModel) -> None:
    samplings = [Sampling(max_tokens=40, seed=seed) for seed in range(16)]

    def text(sampling: Sampling) -> str:
        return model.complete(PROMPT, TOY, sampling).text

    alone = [text(sampling) for sampling in samplings]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(text, samplings[::-1])) == alone[::-1]
    assert len(set(alone)) > 10


def test_a_thought_is_free_and_the_answer_is_not(model: VllmModel) -> None:
    ended = {"stop": 0, "unfinished_thought": 0}
    for seed in range(40):
        sampling = Sampling(max_tokens=1500, seed=seed, thinking=True)
        completion = model.complete(PROMPT, TOY, sampling)
        ended[completion.finish_reason] += 1
        if completion.finish_reason == "stop":
            assert TOY_LANGUAGE.fullmatch(completion.text)
            assert completion.thought
        else:
            assert completion.text == ""
        if all(ended.values()):
            return
    pytest.fail(f"only one kind of ending in 40 tries: {ended}")


def test_a_bad_grammar_is_named(model: VllmModel) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        model.complete(PROMPT, Grammar("bad", "lark", "start: nowhere\n"), Sampling())


def test_a_stranger_to_the_server_is_told_what_to_set(model: VllmModel) -> None:
    assert model._managed is not None
    url, key = model._managed.url, model._managed.api_key

    def stranger(
        thinking: Thinking | None = Thinking(),  # noqa: B008 - frozen
        **settings: str,
    ) -> contextlib.closing[VllmModel]:
        server = Server(url=url, **settings)  # type: ignore[arg-type]
        return contextlib.closing(
            VllmModel(weights=model.weights, thinking=thinking, server=server)
        )

    sampling = Sampling(max_tokens=99)
    with stranger(api_key=key) as friend:
        assert TOY_LANGUAGE.fullmatch(friend.complete(PROMPT, TOY, sampling).text)
        assert friend.identity()["backend_version"].startswith("0.")
    with (
        stranger(None, api_key=key) as guest,
        pytest.raises(ConfigError, match="reasoning parser"),
    ):
        guest.complete(PROMPT, TOY, sampling)
    with (
        stranger(api_key="wrong") as guest,
        pytest.raises(ConfigError, match=r"model\.server\.api_key"),
    ):
        guest.complete(PROMPT, TOY, sampling)
    with (
        stranger(api_key=key, name="other") as guest,
        pytest.raises(ConfigError, match=r"model\.server\.name"),
    ):
        guest.complete(PROMPT, TOY, sampling)


def kill_under_way(model: VllmModel, server: int, ask: Callable[[], object]) -> None:
    """Kills the server while four threads ask and ask again: each has a ModelFault of it.

    No other server is started: a thread between two questions would go on with that one.
    """
    model.server = dataclasses.replace(model.server, max_restarts=0)
    faults: list[Exception] = []

    def ask_on() -> None:
        try:
            while True:
                ask()
        except Exception as error:
            faults.append(error)

    asking = [threading.Thread(target=ask_on) for _ in range(4)]
    for thread in asking:
        thread.start()
    time.sleep(0.5)
    psutil.Process(server).kill()
    for thread in asking:
        thread.join()
    assert len(faults) == 4 and all(isinstance(fault, ModelFault) for fault in faults), faults


def test_killed_mid_request_is_a_model_fault_and_leaves_nothing(model: VllmModel) -> None:
    """Last of this module's users of the server: it does not survive."""
    assert model._managed is not None
    group = model._managed.process_group()
    assert group is not None
    assert len(group_of(group)) > 1  # an engine of its own, which a plain kill would orphan
    kill_under_way(
        model, group, lambda: model.complete(PROMPT, ENVELOPE, Sampling(max_tokens=1500))
    )
    assert wait_until_gone(group) == []
    model.close()
    model.close()


_PARENT = """
import sys
from pathlib import Path
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
model = VllmModel(weights=sys.argv[1], dtype="float32", context_tokens=2048, server=Server(
    env=Path(sys.argv[2]), device="cpu", kv_cache_gib=1, variables={"OMP_NUM_THREADS": "1"}))
model.start()
print(model._managed.process_group(), flush=True)
sys.stdin.read()
"""


def test_nothing_is_left_after_sigkill_of_the_parent(weights: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(weights), str(ENV)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with parent:
        assert parent.stdout is not None
        try:
            group = int(parent.stdout.readline())
            assert len(group_of(group)) > 1
        finally:
            parent.send_signal(signal.SIGKILL)
    assert wait_until_gone(group) == []


def test_a_server_that_cannot_start_says_why(tmp_path: Path, weights: Path) -> None:
    arguments = [str(weights), "--env", str(ENV), "--device", "cpu", "--", "--no-such-flag"]
    with pytest.raises(ModelFault, match="no-such-flag"):
        VllmServer(arguments, start_timeout_s=1500)


@pytest.mark.parametrize(
    ("server", "error", "message"),
    [
        (Server(env=Path("/nowhere")), MissingPart, "make serving"),
        (Server(url="localhost:8000"), ConfigError, "http://HOST:PORT/v1"),
        (Server(env=ENV, device="cuda"), MissingPart, "cuda|GPU"),
    ],
)
def test_what_is_missing_is_said_before_anything_starts(
    weights: Path, server: Server, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        VllmModel(weights=str(weights), server=server).preflight()


def test_nobody_at_the_address_is_a_model_fault(weights: Path) -> None:
    model = VllmModel(weights=str(weights), server=Server(url="http://127.0.0.1:9/v1"))
    with contextlib.closing(model), pytest.raises(ModelFault, match="Check the server at"):
        model.complete(PROMPT, TOY, Sampling(max_tokens=9))


def test_the_launcher_is_where_the_package_looks() -> None:
    assert launcher().is_file()
