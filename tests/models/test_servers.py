"""One model behind several servers: all are used, the dead are left out, each must obey."""

import contextlib
import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError, GrammarIgnored, ModelFault
from pddlego_local.core.nouns import Completion, Prefix, Sampling
from pddlego_local.core.record.folder import read_rows, read_run
from pddlego_local.models import canary
from pddlego_local.models.vllm.client import VllmClient
from pddlego_local.models.vllm.connection import ServerGone
from pddlego_local.models.vllm.servers import AWAY_S, Servers
from pddlego_local.models.vllm.settings import Server
from pddlego_local.runner.config import CellConfig, compose_cell
from pddlego_local.runner.model_store import MODELS
from pddlego_local.runner.run import run_cell
from tools.bench.simulated import key_of
from tools.bench.slots import answers

QUICK = "from tools.bench import simulated as s; s.FIRST_TOKEN_S, s.TOKEN_S = 0.05, 0; s.main()"


@contextlib.contextmanager
def server(answers: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A simulated vLLM server, which can be killed."""
    command = [sys.executable, "-c", QUICK, str(answers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1", process
        finally:
            process.kill()


def answered(url: str) -> int:
    """How many requests a simulated server has answered."""
    with urllib.request.urlopen(f"{url}/held") as held:
        return len(json.load(held))


def cell(out: Path, *words: str) -> CellConfig:
    common = [f"run.out={out}", "environment.rooms=5", "games=0-5", "run.concurrency=3"]
    return compose_cell([*common, *words])


def behind(out: Path, *urls: str, decoding: str = "free") -> CellConfig:
    listed = f"model.server.url=[{','.join(urls)}]"
    return cell(out, "model=vllm", "model.weights=simulated", f"decoding={decoding}", listed)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a simulated server answers, beside the record that this is taken from."""
    out = tmp_path_factory.mktemp("reference")
    said = answers([cell(out, "model=reference", "decoding=free")])
    question = [{"role": one.role, "content": one.content} for one in canary._MESSAGES]
    (out / "disobedient.json").write_text(json.dumps(said | {key_of(question): "yes"}))
    (out / "answers.json").write_text(json.dumps(said | {key_of(question): canary._WORD}))
    return out


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    MODELS.close()


def endings(out: Path) -> list[tuple[int, str, int]]:
    rows = [row for path in out.rglob("episodes.jsonl") for row in read_rows(path)]
    return sorted((row.game, row.outcome, row.steps) for row in rows)


def test_all_servers_are_used_and_recorded(recorded: Path, tmp_path: Path) -> None:
    with server(recorded / "answers.json") as (a, _), server(recorded / "answers.json") as (b, _):
        result = run_cell(behind(tmp_path, a, b))
        assert answered(a) > 0 and answered(b) > 0
    assert not result.faults and endings(tmp_path) == endings(recorded)
    assert read_run(result.folder)["starts"][-1]["servers"] == [a, b]


def test_what_a_server_took_with_it_is_asked_of_another(recorded: Path, tmp_path: Path) -> None:
    with (
        server(recorded / "answers.json") as (a, _),
        server(recorded / "answers.json") as (b, dies),
    ):

        def kill() -> None:
            while not answered(b):
                time.sleep(0.01)
            dies.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        result = run_cell(behind(tmp_path / "first", a, b))
        killer.join()
        assert result.played == 6 and not result.faults
        assert endings(tmp_path) == endings(recorded)
        MODELS.close()
        again = run_cell(behind(tmp_path / "again", a, b))
        assert again.played == 6 and not again.faults, "one that is gone at the start is left out"
        assert read_run(again.folder)["starts"][-1]["servers"] == [a]
        MODELS.close()
    with pytest.raises(ModelFault, match="Check the server"):
        run_cell(behind(tmp_path / "nobody", a, b))


def test_every_server_must_obey_grammars(recorded: Path, tmp_path: Path) -> None:
    with (
        server(recorded / "answers.json") as (a, _),
        server(recorded / "disobedient.json") as (b, _),
        pytest.raises(GrammarIgnored, match="it answered 'yes'"),
    ):
        run_cell(behind(tmp_path, a, b, decoding="json"))


class Client(VllmClient):
    """Answers with its own name, or with an exception; `during` happens while it is asked."""

    def __init__(self, name: str, version: str = "0.32.0") -> None:
        self.name, self.told = name, version
        self.gone = False
        self.during: Callable[[], object] = lambda: None

    def version(self) -> str:
        return self.told

    def complete(self, *asked: Any) -> Completion:
        self.during()
        if self.gone:
            raise ServerGone(self.name)
        return Completion(self.name, "stop", 0, 0, 0.0, prefix=Prefix(self.name))


@pytest.fixture
def clients() -> dict[str, Client]:
    return {name: Client(name) for name in "abc"}


def ask(servers: Servers, prefix: Prefix | None = None) -> Completion:
    return servers.complete((), None, Sampling(), prefix)


def test_the_stages_of_an_answer_stay_together_and_others_go_to_the_least_busy(
    clients: dict[str, Client],
) -> None:
    servers, asked = Servers(clients), list[Completion]()
    clients["a"].during = lambda: asked.append(ask(servers))
    clients["b"].during = lambda: asked.append(ask(servers))
    first = ask(servers, Prefix())
    assert [first.text, *(one.text for one in asked)] == ["a", "c", "b"]
    clients["a"].during = clients["b"].during = lambda: None
    clients["c"].during = lambda: asked.append(ask(servers, first.prefix))
    begun_at_c = Prefix(server="c")
    assert ask(servers, begun_at_c).text == "c" and asked[-1].text == "a"
    clients["c"].during = lambda: None
    clients["c"].gone = True
    gone_on = ask(servers, begun_at_c)
    assert gone_on.prefix and gone_on.text == gone_on.prefix.server != "c"


def test_one_that_is_gone_is_left_out_for_a_while_and_all_are_asked_before_a_request_fails(
    clients: dict[str, Client],
) -> None:
    now = 0.0
    servers = Servers(clients, clock=lambda: now)
    for client in clients.values():
        client.gone = True
    with pytest.raises(ServerGone):
        ask(servers)
    clients["c"].gone = False
    assert ask(servers).text == "c"
    clients["a"].gone = False
    assert "a" not in {ask(servers).text for _ in range(9)}
    now = AWAY_S
    clients["c"].gone = True
    assert ask(servers).text == "a"


def test_servers_of_different_versions_are_refused(clients: dict[str, Client]) -> None:
    clients["a"].told = "unknown"
    assert Servers(clients).version() == "0.32.0"
    clients["c"].told = "0.33.0"
    with pytest.raises(ConfigError, match=r"different versions .*b: 0\.32\.0, c: 0\.33\.0"):
        Servers(clients).version()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ((), "at least one"),
        (("http://a/v1", "b:8000"), "'b:8000' is not an address"),
        (("http://a/v1", "http://a/v1"), "named twice"),
    ],
)
def test_what_is_no_list_of_servers(url: tuple[str, ...], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Server(url=url).check_urls()
