"""What is told of a server of our own that died, and how often it may. Real deaths:
tests/serving/test_vllm_killed.py."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import ModelFault
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.server import VllmServer, end_of_log
from pddlego_local.models.vllm.settings import Server


class Dead:
    """A server that died as soon as it had started, its own client and connection."""

    @property
    def connection(self) -> "Dead":
        return self

    def alive(self) -> bool:
        return False

    def last_words(self) -> str:
        return "out of memory"

    def close(self) -> None:
        """Nothing is left of it."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> VllmModel:
    def connect(model: Any) -> Dead:
        dead = model._managed = Dead()
        return dead

    monkeypatch.setattr(VllmModel, "_check_parts", lambda model: None)
    monkeypatch.setattr(VllmModel, "_connect", connect)
    return VllmModel(weights="any", thinking=None, server=Server(max_restarts=3))


def test_a_request_that_ends_after_its_server_was_closed_is_told_its_last_words(
    tmp_path: Path,
) -> None:
    """Another thread may have closed the dead server already, to start the next one."""
    server = object.__new__(VllmServer)
    server._log = (tmp_path / "log").open("w+b")
    server._log.write(b"RuntimeError: out of memory\n")
    server._log.flush()
    command = [sys.executable, "-c", ""]
    server._launcher = subprocess.Popen(command, stdin=subprocess.PIPE)
    server.close()
    assert server._log.closed
    assert (
        "It has died" in server.last_words() and "out of memory" in server.last_words()
    )


def test_one_that_dies_now_and_then_is_started_all_night(
    model: VllmModel, clock: list[float]
) -> None:
    for _ in range(30):
        model.start()
        clock[0] += 1200
    assert model.restarts == 29


def test_one_that_dies_again_and_again_is_given_up_for_good(
    model: VllmModel, clock: list[float]
) -> None:
    for _ in range(4):
        model.start()
        clock[0] += 600
    for _ in range(2):
        with pytest.raises(
            ModelFault, match=r"died 4 times within an hour.*out of memory"
        ):
            model.start()
        clock[0] += 7200
    assert model.restarts == 4


def test_the_cause_is_told_and_not_a_warning_that_names_an_error() -> None:
    log = [
        (
            "(APIServer pid=1) WARNING This can cause errors like `OSError: [Errno 24]"
            " Too many files`"
        ),
        "(Worker pid=3) ERROR KeyError: 'layers.1.mlp.gate'",
        *("  frame" for _ in range(30)),
        "RuntimeError: Engine core initialization failed. See root cause above.",
    ]
    told = end_of_log("\n".join(log)).splitlines()
    assert told[:2] == [log[1], "…"] and told[-1] == log[-1]
