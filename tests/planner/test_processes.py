"""Killed processes, many threads, missing packages: nothing wrong, nothing left."""

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from pddlego_local.core.errors import MissingPart, PlannerFault
from pddlego_local.planner import FastDownward, fast_downward, warm
from tests.planner.tasks import DOMAIN, all_gone, grid, hard_search, problem, workers

ROOT = Path(__file__).parents[2]
others: set[int] = set()


@pytest.fixture(autouse=True)
def know_the_workers_of_others() -> None:
    others.clear()
    others.update(worker.pid for worker in workers())


def own_workers() -> list[psutil.Process]:
    """Those that the test at hand has started."""
    return [worker for worker in workers() if worker.pid not in others]


def test_the_same_plans_at_any_concurrency(planner: FastDownward) -> None:
    problems = [grid(size, target) for size in (12, 17, 23) for target in range(1, 6)]
    expected = [planner.plan(DOMAIN, text).plan for text in problems]
    assert all(expected) and len(set(expected)) > 10
    sequential = len(own_workers())
    with FastDownward(workers=3) as several, ThreadPoolExecutor(8) as threads:
        got = list(threads.map(lambda text: several.plan(DOMAIN, text).plan, problems))
        assert len(own_workers()) == sequential + min(3, warm._cores())
    assert got == expected


def test_all_planners_together_run_no_more_tasks_than_there_are_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else tasks would wait for each other's cores, and the wall clock would judge
    them.
    """
    ask, running, most = warm.WarmWorker.ask, list[int](), list[int]()

    def counted(worker: warm.WarmWorker, domain: str, text: str) -> dict[str, Any]:
        running.append(1)
        most.append(len(running))
        try:
            return ask(worker, domain, text)
        finally:
            running.pop()

    monkeypatch.setattr(warm, "_CORES", threading.BoundedSemaphore(1))
    monkeypatch.setattr(warm.WarmWorker, "ask", counted)
    with (
        FastDownward(workers=4) as one,
        FastDownward(workers=4, search="lama_first") as other,
        ThreadPoolExecutor(8) as threads,
    ):
        tasks = [
            threads.submit(p.plan, DOMAIN, problem())
            for p in (one, other)
            for _ in range(8)
        ]
        assert {task.result().outcome for task in tasks} == {"solved"}
    assert max(most) == 1


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("max 100000", 8), ("150000 100000", 2), ("10000 100000", 1), ("", 8)],
)
def test_a_containers_share_of_the_machine_counts(
    quota: str, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: quota)
    assert warm._cores() == cores


def test_the_wait_for_a_worker_is_no_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that the test sets: the second of two tasks waits for the only
    worker.
    """
    clock = SimpleNamespace(now=0.0)
    for module in (warm, fast_downward):
        monkeypatch.setattr(
            module, "time", SimpleNamespace(monotonic=lambda: clock.now)
        )
    begun, go_on = threading.Event(), threading.Event()
    ask = warm.WarmWorker.ask

    def slow(worker: warm.WarmWorker, domain: str, text: str) -> dict[str, Any]:
        begun.set()
        go_on.wait()
        reply = ask(worker, domain, text)
        clock.now += 5
        return reply

    monkeypatch.setattr(warm.WarmWorker, "ask", slow)
    with FastDownward(workers=1) as one, ThreadPoolExecutor(2) as threads:
        first = threads.submit(one.plan, DOMAIN, problem())
        begun.wait()
        second = threads.submit(one.plan, DOMAIN, problem())
        while not one.waiting:
            time.sleep(0.01)
        clock.now += 100
        go_on.set()
        took = [
            (done.result().wall_time_s, done.result().wait_s)
            for done in (first, second)
        ]
    assert took == [(105, 0), (5, 105)]


def test_a_worker_killed_between_tasks_is_replaced() -> None:
    with FastDownward() as planner:
        expected = planner.plan(DOMAIN, problem())
        (before,) = own_workers()
        before.kill()
        assert planner.plan(DOMAIN, problem()).plan == expected.plan
        assert own_workers() != [before]


def in_background(planner: FastDownward) -> tuple[threading.Thread, list[object]]:
    """`planner` at a task that it does not end by itself, and what became of it."""
    ends: list[object] = []

    def work() -> None:
        try:
            ends.append(planner.plan(*hard_search()))
        except PlannerFault as fault:
            ends.append(fault)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, ends


def searching(but: frozenset[int] = frozenset()) -> psutil.Process:
    """The search process at work, once there is one that is not among `but`."""
    while True:
        with suppress(
            psutil.NoSuchProcess
        ):  # killed, and looked at before it was waited for
            for child in [
                child for worker in own_workers() for child in worker.children()
            ]:
                if child.pid not in but and child.name() == "downward":
                    return child
        time.sleep(0.02)


@pytest.mark.parametrize("victim", ["worker", "search"])
def test_what_is_killed_twice_during_a_task_is_a_planner_fault(victim: str) -> None:
    with FastDownward() as planner:
        thread, ends = in_background(planner)
        first = searching()
        family = [first, *first.parents()[:1]]
        (family[1] if victim == "worker" else first).kill()
        second = searching(but=frozenset([first.pid]))
        family += [second, *second.parents()[:1]]
        (family[3] if victim == "worker" else second).kill()
        thread.join()
        assert isinstance(ends[0], PlannerFault) and "twice" in str(ends[0])
        assert all_gone(family)
        assert planner.plan(DOMAIN, problem()).outcome == "solved"


def test_closing_ends_a_task_under_way_and_all_processes() -> None:
    planner = FastDownward()
    thread, ends = in_background(planner)
    family = [searching(), *own_workers()]
    planner.close()
    planner.close()
    thread.join()
    assert isinstance(ends[0], PlannerFault) and "closed" in str(ends[0])
    assert all_gone(family)
    with pytest.raises(PlannerFault, match="closed"):
        planner.plan(DOMAIN, problem())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_a_killed_user(how: signal.Signals) -> None:
    script = (
        "from pddlego_local.planner import FastDownward\n"
        "from tests.planner.tasks import hard_search\n"
        "FastDownward().plan(*hard_search())\n"
    )
    user = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    family = []
    names: set[str] = set()
    while "downward" not in names:
        assert user.poll() is None
        time.sleep(0.05)
        family = psutil.Process(user.pid).children(recursive=True)
        names = {process.name() for process in family}
    assert len(family) == 2
    user.send_signal(how)
    user.wait()
    assert all_gone(family)


def test_a_missing_package_is_named_with_the_command_that_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        sys, "path", [part for part in sys.path if "site-packages" not in part]
    )
    monkeypatch.delitem(
        sys.modules, "up_fast_downward", raising=False
    )  # another test's
    with (
        FastDownward() as planner,
        pytest.raises(MissingPart, match="pip install up-fast-downward"),
    ):
        planner.plan(DOMAIN, problem())
