"""`pddlego mcp` with clients that go away, hostile files, and arguments as agents write
them.
"""

import asyncio
import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from pddlego_local.commands import mcp, validate
from pddlego_local.core.confined import ConfinedPool
from pddlego_local.planner import Limits
from tests.commands.test_cli import DOMAIN, PROBLEM
from tests.pddlego import Pddlego
from tests.processes import COMMAND

GO = "(Go Kitchen Hall)"
FILES = {"domain": DOMAIN, "problem": PROBLEM}


def hostile(objects: int, variables: int) -> dict[str, str]:
    """An action whose condition holds for each of `objects ** variables`
    assignments.
    """
    names = " ".join(f"o{number}" for number in range(objects))
    facts = " ".join(f"(p o{number})" for number in range(objects))
    each = " ".join(f"?x{number}" for number in range(variables))
    holds = " ".join(f"(p ?x{number})" for number in range(variables))
    domain = f"""(define (domain big) (:requirements :typing :adl) (:types t)
      (:predicates (p ?x - t) (q)) (:action a :parameters ()
      :precondition (forall ({each} - t) (and {holds})) :effect (q)))"""
    problem = f"""(define (problem big) (:domain big) (:objects {names} - t)
  (:init {facts})
      (:goal (q)))"""
    return {"domain": domain, "problem": problem}


ENDLESS = {**hostile(150, 5), "plan": "(a)"}
MANY_OBJECTS = {**hostile(40_000, 1), "plan": "(a)"}


class Client:
    """A client that writes lines by itself, so that it can go away at any time."""

    def __init__(self) -> None:
        self.server = subprocess.Popen(
            [*COMMAND, "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        initialize = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        }
        self.send("initialize", initialize, id=0)
        self.read()
        self.send("notifications/initialized", {})

    def read(self) -> str:
        assert self.server.stdout
        return self.server.stdout.readline()

    def close(self) -> None:
        assert self.server.stdin
        self.server.stdin.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
        assert self.server.stdout
        self.server.stdout.close()
        self.server.wait()

    def send(self, method: str, parameters: dict[str, Any], **id_: int) -> None:
        line = {"jsonrpc": "2.0", "method": method, "params": parameters, **id_}
        assert self.server.stdin
        self.server.stdin.write(json.dumps(line) + "\n")
        self.server.stdin.flush()

    def call(self, number: int, tool: str, arguments: dict[str, Any]) -> None:
        self.send("tools/call", {"name": tool, "arguments": arguments}, id=number)

    def working(self) -> list[psutil.Process]:
        """The processes that carry out a request, once they are at work."""
        while True:
            found = psutil.Process(self.server.pid).children(recursive=True)
            if len(found) >= 2:
                return found
            assert self.server.poll() is None
            time.sleep(0.01)


def kill_the_server(client: Client) -> None:
    client.server.kill()


def end_the_server(client: Client) -> None:
    client.server.send_signal(signal.SIGTERM)


@pytest.mark.parametrize(
    ("tool", "leave"),
    [
        ("validate_plan", Client.close),
        ("validate_plan", kill_the_server),
        ("validate_plan", end_the_server),
        ("plan_pddl", Client.close),
    ],
)
def test_nothing_is_computed_for_a_client_that_has_gone(
    tool: str, leave: Callable[[Client], None]
) -> None:
    with Client() as client:
        client.call(1, tool, ENDLESS if tool == "validate_plan" else hostile(150, 5))
        at_work = client.working()
        leave(client)
        client.server.wait()
    assert not psutil.wait_procs(at_work)[1]


def test_a_cancelled_request_ends_and_the_next_one_is_answered() -> None:
    with Client() as client:
        client.call(1, "validate_plan", ENDLESS)
        at_work = client.working()
        client.send("notifications/cancelled", {"requestId": 1})
        assert not psutil.wait_procs(at_work)[1]
        client.call(2, "validate_plan", {**FILES, "plan": GO})
        answer = json.loads(client.read())
        assert answer["id"] == 2
        assert '"valid": true' in answer["result"]["content"][0]["text"]
        client.close()
        assert client.server.wait() == 0


Asked = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    """What a tool answers, without a client."""
    with ConfinedPool() as processes:

        def ask(tool: str, **arguments: Any) -> dict[str, Any]:
            answer: dict[str, Any] = asyncio.run(
                getattr(mcp.Tools(processes), tool)(**arguments)
            )
            return answer

        yield ask


@pytest.mark.parametrize(
    ("files", "limits"),
    [
        (ENDLESS, Limits(cpu_s=1)),
        (ENDLESS, Limits(wall_s=0.5)),
        (MANY_OBJECTS, Limits(wall_s=0.01)),
    ],
    ids=["forall, cpu", "forall, wall", "objects, wall"],
)
def test_a_request_beyond_its_limits_has_a_named_outcome(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], limits: Limits
) -> None:
    monkeypatch.setattr(mcp.Tools._ask, "__kwdefaults__", {"limits": limits})
    told = asked("validate_plan", **files)
    assert told["valid"] is None
    assert told["outcome"] == "timeout"
    assert told["why_not"].startswith("The request was ended, because the limit of")


def test_memory_is_limited_too(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(memory_mb=96)
    monkeypatch.setattr(mcp.Tools._ask, "__kwdefaults__", {"limits": limits})
    told = asked("check_pddl", **hostile(40_000, 1))
    assert told["accepted"] is None
    assert told["outcome"] == "out_of_memory"
    assert "96 MiB" in told["faults"][0]


def test_the_command_ends_at_its_limits(
    tmp_path: Path, pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validate, "Limits", partial(Limits, cpu_s=1))
    paths = [tmp_path / name for name in ("domain.pddl", "problem.pddl", "plan")]
    for path, text in zip(paths, ENDLESS.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    told = pddlego("validate", *paths, code=1)
    assert told.out.startswith("timeout: the plan was not judged")


@pytest.mark.parametrize(
    "plan",
    [GO, [GO], {"outcome": "solved", "plan": [GO], "message": "found"}, {"plan": GO}],
)
def test_a_plan_is_taken_in_each_form(asked: Asked, plan: object) -> None:
    assert asked("validate_plan", **FILES, plan=plan) == {"valid": True, "why_not": ""}


@pytest.mark.parametrize("plan", [{"outcome": "refused"}, {"plan": None}])
def test_an_object_without_a_plan_is_named(asked: Asked, plan: object) -> None:
    told = asked("validate_plan", **FILES, plan=plan)
    assert told["valid"] is None
    assert 'has no "plan"' in told["why_not"]


A_PATH = "is a path: give the content"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("check_pddl", {**FILES, "domain": "domain.pddl"}),
        ("check_pddl", {**FILES, "problem": "/tmp/my files/d.PDDL"}),
        ("plan_pddl", {**FILES, "problem": "./d"}),
        ("validate_plan", {**FILES, "plan": GO, "domain": "domain.pddl"}),
        ("validate_plan", {**FILES, "plan": "runs\\plan"}),
        ("formalize", {"text": "a.txt", "model": "nano"}),
        ("formalize", {"text": "A block.", "model": "nano", "domain": "d.pddl"}),
    ],
)
def test_a_path_in_place_of_a_text_is_named(
    asked: Asked, tool: str, arguments: dict[str, str]
) -> None:
    assert A_PATH in json.dumps(asked(tool, **arguments))


def test_what_the_planner_returns_is_validated(asked: Asked) -> None:
    made = asked("plan_pddl", **FILES)
    assert made["plan"] == [GO]
    assert asked("validate_plan", **FILES, plan=made)["valid"] is True
