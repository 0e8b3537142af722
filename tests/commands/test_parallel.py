"""Many lines by several workers: order, bounded memory, interruption."""

import contextlib
import json
import signal
import subprocess
from collections.abc import Iterator

import psutil
import pytest

from pddlego_local.commands.shared.pairs import (
    MOST_AHEAD,
    Pair,
    in_order,
    output_lines,
)
from tests.planner.tasks import DOMAIN, all_gone, problem
from tests.processes import interrupt, start


def pairs(count: int, asked: list[int]) -> Iterator[Pair]:
    for number in range(count):
        asked.append(number)
        yield Pair(number)


def test_no_more_is_read_than_the_workers_need() -> None:
    asked: list[int] = []
    results = in_order(lambda entry: entry.id, pairs(10_000, asked), 2)
    for number in range(100):
        assert next(results) == number
        assert len(asked) <= number + 1 + 2 * MOST_AHEAD
    assert list(results) == list(range(100, 10_000))


def test_without_a_pool_each_result_comes_before_the_next_line_is_read() -> None:
    asked: list[int] = []
    lines = output_lines(lambda domain, problem: {}, pairs(9, asked))
    for number in range(9):
        assert next(lines)["id"] == number
        assert len(asked) == number + 1


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_it_leaves_whole_lines_in_order_and_no_process(
    how: signal.Signals,
) -> None:
    words = ("plan", "--jsonl", "-", "--workers", "2")
    with start(*words, stdin=subprocess.PIPE) as user:
        assert user.stdin
        assert user.stdout
        assert user.stderr
        for number in range(100):
            pair = {"id": number, "domain": DOMAIN, "problem": problem()}
            user.stdin.write(json.dumps(pair) + "\n")
        user.stdin.flush()  # and it waits for more
        out = user.stdout.readline()
        family = psutil.Process(user.pid).children(recursive=True)
        if how == signal.SIGINT:
            interrupt(user)
        else:
            user.kill()
        out += user.stdout.read()
        assert "Traceback" not in user.stderr.read()
        with contextlib.suppress(BrokenPipeError):
            user.stdin.close()
    assert user.returncode == (130 if how == signal.SIGINT else -how)
    assert len(family) >= 2
    assert all_gone(family, within_s=60)
    ids = [json.loads(line)["id"] for line in out.splitlines()]
    assert ids == list(range(len(ids)))
    assert out.endswith("\n")
