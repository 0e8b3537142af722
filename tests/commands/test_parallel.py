"""Many lines by several workers: order, bounded memory, interruption."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from pddlego_local.commands.shared.pairs import (
    MOST_AHEAD,
    Pair,
    in_order,
    output_lines,
)
from pddlego_local.core.errors import PlannerFault
from tests.planner.tasks import DOMAIN, all_gone, problem

ROOT = Path(__file__).parents[2]


def entries(count: int, asked: list[int] | None = None) -> Iterator[Pair]:
    for number in range(count):
        if asked is not None:
            asked.append(number)
        yield Pair(number, "", "", f"lines {number}")


def test_no_more_is_read_than_the_workers_need() -> None:
    asked: list[int] = []
    results = in_order(lambda entry: entry.id, entries(10_000, asked), 2)
    for number in range(100):
        assert next(results) == number
        assert len(asked) <= number + 1 + 2 * MOST_AHEAD
    assert list(results) == list(range(100, 10_000))


def test_without_a_pool_each_result_comes_before_the_next_line_is_read() -> None:
    asked: list[int] = []
    lines = output_lines(lambda domain, problem: {}, entries(9, asked))
    assert [(next(lines)["id"], len(asked)) for _ in range(9)] == [
        (n, n + 1) for n in range(9)
    ]


def test_infrastructure_names_the_entry_it_failed_at() -> None:
    def fail(domain: str, problem: str) -> dict[str, Any]:
        raise PlannerFault("The planner died.")

    with pytest.raises(PlannerFault, match="lines 0: The planner died"):
        list(output_lines(fail, entries(9)))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_it_leaves_whole_lines_in_order_and_no_process(
    how: signal.Signals,
) -> None:
    given = ["plan", "--jsonl", "-", "--workers", "2"]
    user = subprocess.Popen(
        [sys.executable, "-m", "pddlego_local", *given],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    assert user.stdin and user.stdout and user.stderr
    pair = {"domain": DOMAIN, "problem": problem()}
    user.stdin.writelines(
        json.dumps({"id": n} | pair).encode() + b"\n" for n in range(100)
    )
    user.stdin.flush()  # and it waits for more
    first = user.stdout.readline()
    family = psutil.Process(user.pid).children(recursive=True)
    send = (
        os.killpg if how == signal.SIGINT else os.kill
    )  # Ctrl-C goes to the whole group
    send(user.pid, how)
    out, errors = first + user.stdout.read(), user.stderr.read()
    for pipe in (user.stdin, user.stdout, user.stderr):
        pipe.close()
    assert user.wait() == (130 if how == signal.SIGINT else -how)
    assert len(family) >= 2 and all_gone(family, within_s=60)
    assert [json.loads(line)["id"] for line in out.splitlines()] == list(
        range(out.count(b"\n"))
    )
    assert b"Traceback" not in errors
