"""Work in a process of its own: its result, its limits, its errors, and that nothing is
left.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from pddlego_local.core.confined import WORKER, Confined, ConfinedPool, Exceeded
from pddlego_local.core.errors import ConfigError, InfrastructureError, PddlegoError
from tests import confined_work as work

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("what", "arguments", "result"),
    [
        (work.doubled, (3,), 6),
        (work.echoed, ("\ud800 ä\n\0" * 100_000,), "\ud800 ä\n\0" * 100_000),
        (work.print_much, (), ""),
    ],
)
def test_work_has_its_result(
    what: Callable[..., Any], arguments: Any, result: Any
) -> None:
    with Confined() as confined:
        assert confined.ask(what, *arguments) == result
        assert (
            confined.ask(what, *arguments, cpu_s=10, memory_mb=512, wall_s=1000)
            == result
        )


@pytest.mark.parametrize(
    ("what", "limits", "outcome", "said"),
    [
        (work.spin, {"cpu_s": 0.5}, "timeout", "0.5 seconds of CPU time"),
        (work.spin, {"wall_s": 0.2}, "timeout", "0.2 seconds"),
        (work.sleep, {"wall_s": 0.2, "cpu_s": 60}, "timeout", "0.2 seconds"),
        (work.fill, {"memory_mb": 256}, "out_of_memory", "256 MiB"),
        (work.fill_slowly, {"memory_mb": 256}, "out_of_memory", "256 MiB"),
        (work.fill_below_another_error, {"memory_mb": 256}, "out_of_memory", "256 MiB"),
    ],
)
def test_a_limit_is_a_named_outcome_and_the_next_request_is_served(
    what: Callable[..., Any], limits: dict[str, float], outcome: str, said: str
) -> None:
    with Confined() as confined:
        with pytest.raises(Exceeded, match=said) as found:
            confined.ask(what, **limits)
        assert found.value.outcome == outcome
        assert confined.ask(work.doubled, 4) == 8


@pytest.mark.parametrize(
    ("what", "kind", "said"),
    [
        (work.refuse, ConfigError, "domain: no"),
        (work.refuse_a_grammar, InfrastructureError, "does not compile"),
        (work.nest, InfrastructureError, "RecursionError"),
        (work.crash, InfrastructureError, "crashed .SIGSEGV"),
        (work.leave, InfrastructureError, "crashed .exit code 1"),
        (work.result_that_is_no_json, InfrastructureError, "crashed"),
    ],
)
def test_an_error_keeps_its_kind_and_the_next_request_is_served(
    what: Callable[..., Any], kind: type[PddlegoError], said: str
) -> None:
    with Confined() as confined:
        with pytest.raises(PddlegoError, match=said) as found:
            confined.ask(what, cpu_s=60)
        assert type(found.value) is kind
        assert confined.ask(work.doubled, 4) == 8


def test_close_ends_a_request_at_once_and_a_pool_goes_on_with_another_process() -> None:
    pool, ended = ConfinedPool(), threading.Event()
    one = pool.take()

    def wait() -> None:
        with pytest.raises(InfrastructureError):
            one.ask(work.sleep)
        ended.set()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    (worker,) = wait_for(workers)
    children = wait_for(worker.children)
    one.close()
    thread.join()
    pool.give_back(one)
    assert ended.is_set() and not psutil.wait_procs([worker, *children])[1]
    with pool:
        assert pool.ask(work.doubled, 1) == 2
        assert pool.ask(work.process_id) == pool.ask(
            work.process_id
        )  # the same warm process
    assert not workers()


def workers() -> list[psutil.Process]:
    """Those of this process; other tests may have left children of other kinds."""
    return [one for one in psutil.Process().children() if str(WORKER) in one.cmdline()]


def test_nothing_outlives_a_parent_that_is_killed() -> None:
    code = (
        "from pddlego_local.core.confined import WORKER, Confined; from tests import"
        " confined_work;Confined().ask(confined_work.spin)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    everything = wait_for(lambda: of_two_generations(parent.pid))
    parent.kill()
    parent.wait()
    assert not psutil.wait_procs(everything)[1]


def of_two_generations(pid: int) -> list[psutil.Process]:
    """The worker and its child, once both are there."""
    found = psutil.Process(pid).children(recursive=True)
    return found if len(found) == 2 else []


def wait_for(found: Callable[[], list[psutil.Process]]) -> list[psutil.Process]:
    while not (processes := found()):
        time.sleep(0.01)
    return processes


def test_a_worker_that_is_killed_is_replaced() -> None:
    with Confined() as confined:
        os.kill(confined.ask(work.process_id), 9)
        with pytest.raises(InfrastructureError, match="has ended"):
            confined.ask(work.doubled, 2)
        assert confined.ask(work.doubled, 2) == 4
