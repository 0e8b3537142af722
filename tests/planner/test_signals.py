"""A signal that is not ours is no verdict, whatever it ends, and whenever."""

import importlib.util
import io
import os
import resource
import signal
import threading
import time
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

from pddlego_local.core.errors import PlannerFault
from pddlego_local.core.record.folder import read_rows
from pddlego_local.planner import FastDownward, Limits, warm
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cells
from tests.planner import signals
from tests.planner.signals import CRASHES, ENDING, EVERY, Stage, Target, name_of, struck
from tests.planner.tasks import DOMAIN, problem
from tests.processes import ran

stages = pytest.mark.parametrize("stage", ["translation", "search"])


@stages
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGABRT, signal.SIGXCPU], ids=name_of
)
def test_a_perfect_formalizer_wins_under_signals(
    number: int, stage: Stage, tmp_path: Path
) -> None:
    words = ["model=reference", "games=1", "environment.rooms=5", f"run.out={tmp_path}"]
    sender = signals.Sender(number, stage, "child", times=1000, every=2)
    with sender.sending():
        run_cells([compose_cell(words)], lambda _: None, Console(file=io.StringIO()))
    (rows,) = tmp_path.rglob("episodes.jsonl")
    (row,) = read_rows(rows)
    assert sender.sent
    assert row.success and not {"planner_fault", "translate_error", "timeout"} & {
        *row.causes
    }


@stages
@pytest.mark.parametrize("target", ["child", "worker"])
@pytest.mark.parametrize("number", EVERY, ids=name_of)
def test_after_every_signal_once_the_task_is_solved(
    number: int, target: Target, stage: Stage
) -> None:
    for after_s in (0.0, 0.05):
        assert struck(number, stage, target, 1, after_s)[0] == "solved"


@stages
@pytest.mark.parametrize("target", ["child", "worker"])
@pytest.mark.parametrize("number", ENDING, ids=name_of)
def test_after_every_signal_twice_there_is_a_fault(
    number: int, target: Target, stage: Stage
) -> None:
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip("the shell that started the tests makes them ignore it")
    if (number, target) == (signal.SIGALRM, "worker"):
        pytest.skip("the worker uses this signal for its own beat")
    outcome, message = struck(number, stage, target, times=2)
    if number in CRASHES and target == "child":
        assert (
            outcome == "planner_fault"
            and f"crashed twice ({name_of(number)})" in message
        )
    else:
        assert outcome == "fault" and "twice" in message


@pytest.mark.parametrize("target", ["child", "worker"])
def test_a_process_that_is_stopped_for_ever_twice_is_a_fault(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm, "START_AND_REPLY_S", 2.0)
    with FastDownward(limits=Limits(cpu_s=60, wall_s=1)) as planner:
        sender = signals.Sender(signal.SIGSTOP, "translation", target, times=2)
        with sender.sending(), pytest.raises(PlannerFault, match="twice"):
            planner.plan(*signals.TASKS["translation"])
    assert sender.sent


@stages
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGXCPU], ids=name_of)
def test_two_ends_from_outside_are_a_fault(number: int, stage: Stage) -> None:
    outcome, message = struck(number, stage, "child", times=2)
    assert outcome == "fault" and f"ended by {name_of(number)} from outside" in message


@stages
def test_the_same_crash_twice_is_counted_apart(stage: Stage) -> None:
    part = "translator" if stage == "translation" else "search"
    outcome, message = struck(signal.SIGABRT, stage, "child", times=2)
    assert outcome == "planner_fault"
    assert message == f"Fast Downward's {part} crashed twice (SIGABRT)."


@pytest.mark.parametrize(
    ("ends", "end"),
    [
        ("SIGTERM verdict", "verdict"),
        ("SIGTERM SIGSEGV verdict", "verdict"),
        ("SIGTERM SIGKILL", "fault"),
        ("SIGSEGV SIGTERM SIGSEGV", "SIGSEGV"),
        ("SIGSEGV SIGABRT SIGABRT", "SIGABRT"),
        ("SIGSEGV SIGABRT SIGBUS", "fault"),
        ("SIGTERM SIGSEGV SIGTERM", "fault"),
    ],
)
def test_what_several_ends_mean(
    ends: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = ends.split()

    def ask(worker: warm.WarmWorker, domain: str, text: str) -> warm.Reply:
        name = left.pop(0)
        if name in warm.CRASHES:
            raise warm.Crashed({"signal": name})
        if name != "verdict":
            raise warm.WorkerDied(name)
        return {"signal": name}

    monkeypatch.setattr(warm.WarmWorker, "ask", ask)
    pool = warm.WorkerPool(1, {"wall_s": 60, "cpu_s": 6, "memory_mb": 512})
    try:
        got = pool.ask("", "")["signal"]
    except PlannerFault:
        got = "fault"
    finally:
        pool.close()
    assert (got, left) == (end, [])


def test_a_task_that_was_frozen_for_longer_than_its_limit_goes_on() -> None:
    """The wall clock runs on while a child is stopped, as it does on a frozen
    machine.
    """
    with FastDownward(limits=Limits(cpu_s=60, wall_s=3)) as planner:
        planner.plan(DOMAIN, problem())
        frozen = signals.Sender(signal.SIGSTOP, "translation", "child", times=1)

        def thaw() -> None:
            frozen.run()
            time.sleep(4)
            for _, child in signals.tasks_in("translation"):
                os.kill(child, signal.SIGCONT)

        thread = threading.Thread(target=thaw)
        thread.start()
        outcome = planner.plan(DOMAIN, problem()).outcome
        while thread.is_alive():  # on a busy machine the sender may miss a task
            outcome = planner.plan(DOMAIN, problem()).outcome
    assert frozen.sent and outcome == "solved"


@pytest.fixture
def worker() -> ModuleType:
    """The script worker.py as a module."""
    specification = importlib.util.spec_from_file_location("worker", warm.WORKER)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("pauses_s", "beats", "stopped", "is_over"),
    [
        ([], 40, False, True),
        ([], 39, False, False),
        ([], 100, True, False),
        ([3600, 86_400], 31, False, False),  # frozen twice: that counts for 2 s
        ([3600, 86_400], 32, False, True),
    ],
)
def test_time_in_which_nothing_could_run_does_not_count(
    worker: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    pauses_s: list[float],
    beats: int,
    stopped: bool,
    is_over: bool,
) -> None:
    clock_s = 0.0
    killed = []
    monkeypatch.setattr(worker.time, "monotonic", lambda: clock_s)
    monkeypatch.setattr(worker.os, "kill", lambda process, _: killed.append(process))
    monkeypatch.setattr(worker, "is_stopped", lambda _: stopped)
    watch = worker.Watch(10.0)
    watch.child = 7
    for pause_s in (*pauses_s, *[0.25] * beats):
        clock_s += pause_s
        watch.beat()
    assert watch.is_over is is_over
    assert killed == ([7] if is_over else [])


@pytest.mark.parametrize(
    ("limit", "highest", "told"),
    [
        (resource.RLIMIT_AS, 1500 << 20, "1500 MiB (`ulimit -v`)"),
        (resource.RLIMIT_FSIZE, 9 << 20, "9 MiB (`ulimit -f`)"),
        (resource.RLIMIT_CPU, 45, "45 s (`ulimit -t`)"),
    ],
)
def test_a_lower_limit_of_the_shell_is_told_before_the_first_plan(
    limit: int, highest: int, told: str, tmp_path: Path
) -> None:
    files = [tmp_path / "domain.pddl", tmp_path / "problem.pddl"]
    files[0].write_text(DOMAIN, encoding="utf-8")
    files[1].write_text(problem(), encoding="utf-8")
    lowered = ran(
        *("-m", "pddlego_local", "plan", *files),
        preexec_fn=lambda: resource.setrlimit(limit, (highest, highest)),
    )
    said = " ".join(lowered.stderr.split())
    assert lowered.returncode == 2
    assert f"{told}, and planner.limits." in said, said
    assert "Traceback" not in said
