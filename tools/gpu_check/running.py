"""Runs steps as processes: each has a time limit and a log, and is not repeated once it
is done.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

import psutil

from tools.gpu_check.part import CANNOT

_END_S = 60  # time for servers to end after their parent was killed
Outcome = Literal["done", "failed", "out of time", "cannot be done here"]


@dataclass(frozen=True)
class Step:
    """One step of the check: `why` says what it checks, and `command` runs it.

    If the step that it `needs` did not succeed, it is left out: it could check nothing,
    and would only start again what did not start. If it fails, it is tried again with
    the environment variables `again`, if it has any.
    """

    name: str
    why: str
    limit_s: float
    command: Sequence[str]
    needs: str = ""
    again: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """How a step ended, with its device and sizes (`state`), its environment variables
    and its commit.
    """

    outcome: Outcome
    seconds: float
    said: str
    state: str
    commit: str
    variables: Mapping[str, str] = field(default_factory=dict)


def carry_out(
    steps: Sequence[Step],
    out: Path,
    state: str,
    commit: str,
    tell: Callable[[str], None],
) -> Iterator[Ended]:
    """Runs the steps that are not done yet in this `state`, one after the other, and
    reports each.

    If a step succeeds only at its second try, the later steps use its environment
    variables at their first try.
    """
    out.mkdir(parents=True, exist_ok=True)
    variables: dict[str, str] = {}
    for step in steps:
        before = ending_of(step.name, out)
        if before and before.outcome == "done" and before.state == state:
            tell(f"{step.name}: already done")
            variables |= before.variables
            yield before
            continue
        needed = ending_of(step.needs, out) if step.needs else None
        if needed and needed.outcome != "done":
            said = f"{step.needs}: {needed.outcome}"
            now = Ended("cannot be done here", 0, said, state, commit)
        else:
            tell(f"{step.name}: {step.why} (at most {step.limit_s:.0f} s)")
            now = _run(step, out, state, commit, variables)
            if now.outcome == "failed" and not step.again.items() <= variables.items():
                now = _try_again(step, out, now, variables, tell)
                variables |= now.variables
        (out / f"{step.name}.json").write_text(
            json.dumps(asdict(now)) + "\n", encoding="utf-8"
        )
        tell(f"{step.name}: {now.outcome}, {now.seconds:.0f} s {now.said}".rstrip())
        yield now


def ending_of(name: str, out: Path) -> Ended | None:
    """Returns how a step ended when it was last run, or None if it has never ended."""
    try:
        return Ended(**json.loads((out / f"{name}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _try_again(
    step: Step,
    out: Path,
    first: Ended,
    variables: Mapping[str, str],
    tell: Callable[[str], None],
) -> Ended:
    """Runs a step again with its variables `again`, which are kept only if it then
    succeeds.
    """
    changed = " ".join(f"{name}={value}" for name, value in step.again.items())
    tell(f"{step.name}: failed, {first.said}; trying again with {changed}")
    (out / f"{step.name}.log").rename(out / f"{step.name}_first.log")
    second = _run(step, out, first.state, first.commit, {**variables, **step.again})
    said = f"{first.said}; {second.outcome} with {changed} {second.said}".rstrip()
    kept = second.variables if second.outcome == "done" else variables
    return replace(
        second, said=said, seconds=first.seconds + second.seconds, variables=kept
    )


def _run(
    step: Step, out: Path, state: str, commit: str, variables: Mapping[str, str]
) -> Ended:
    (out / f"{step.name}.jsonl").unlink(missing_ok=True)
    log = out / f"{step.name}.log"
    began = time.monotonic()
    outcome: Outcome
    with log.open("wb") as file:
        process = subprocess.Popen(
            step.command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **variables},
        )
        try:
            code = process.wait(step.limit_s)
            outcome = (
                "done"
                if code == 0
                else "cannot be done here"
                if code == CANNOT
                else "failed"
            )
        except subprocess.TimeoutExpired:
            outcome = "out of time"
        finally:
            _end(process)
    said = "" if outcome == "done" else _last_line(log)
    seconds = round(time.monotonic() - began, 1)
    return Ended(outcome, seconds, said, state, commit, dict(variables))


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kills the processes of a step that are left, and waits until its servers have
    ended, since they hold the memory that the next step needs.
    """
    if process.poll() is not None:
        return
    descendants = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    _, left = psutil.wait_procs(descendants, timeout=_END_S)
    for one in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.wait_procs(left, timeout=1)


def _last_line(log: Path) -> str:
    lines = [
        line.strip()
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()
        if line.strip()
    ]
    return lines[-1][:500] if lines else "it printed nothing"
