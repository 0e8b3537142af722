"""Checks a GPU in nine minutes: neither network, Java, planner nor package index.

    python3 -m tools.gpu_check.quick --env ENV --out FOLDER [--device cuda]

ENV is the serving environment. Each line of JSON is written, to standard output and to
FOLDER/quick.jsonl, as soon as something is known. Each step has a deadline of its own;
its last line says how it ended: done, failed, out of time, cannot be done here, or not
reached. With --device cpu all steps run in a small size. Exit codes: 0 all steps done
or impossible here, 1 another end, 2 bad usage.
"""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tools.gpu_check.quick import steps
from tools.gpu_check.quick.sizes import SIZES
from tools.gpu_check.quick.timing import (
    Deadline,
    Lines,
    NotHere,
    OutOfTime,
    limited,
)


class Step(NamedTuple):
    """A step, its deadline in seconds on a GPU, and what it does."""

    name: str
    seconds: float
    work: Callable[[steps.Work, Deadline, steps.Tell], None]


STEPS = (
    Step("card", 30, steps.card),
    Step("tiles", 80, steps.tiles),
    Step("nano", 110, steps.nano),
    Step("speed", 190, steps.speed),
    Step("same", 80, steps.same),
    Step("killed", 50, steps.killed),
)


def main(arguments: list[str]) -> int:
    names = [step.name for step in STEPS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--env", type=Path, default=Path(".venv-serving"))
    parser.add_argument("--out", type=Path, default=Path("runs/quick_check"))
    parser.add_argument("--device", choices=sorted(SIZES), default="cuda")
    parser.add_argument("--steps", default=",".join(names), help=f"of {names}")
    given = parser.parse_args(arguments)
    asked = given.steps.split(",")
    if strange := sorted(set(asked) - set(names)):
        parser.error(f"--steps: there is no {', '.join(strange)}; there are {names}")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    out = given.out.absolute()
    lines = Lines(out / "quick.jsonl")
    work = steps.Work(given.env.absolute(), out, given.device, SIZES[given.device])
    chosen = [step for step in STEPS if step.name in asked]
    try:
        return carry_out(chosen, work, lines)
    finally:
        work.close()


def carry_out(chosen: Sequence[Step], work: steps.Work, lines: Lines) -> int:
    """Runs steps one after the other. The time that a step leaves is not given to the
    others, so that the last one ends by the sum of the deadlines.
    """
    times = work.sizes.times
    over = time.monotonic() + times * sum(step.seconds for step in chosen)
    code = 0
    for step in chosen:
        seconds = min(times * step.seconds, over - time.monotonic())
        outcome, said, took = "not reached", "", 0.0
        work.waiting = []
        if seconds > 1:
            outcome, said, took = _carried_out(step, seconds, work, lines)
        end = {"outcome": outcome, "seconds": took, "said": said}
        lines.tell(step.name, **end, not_reached=work.waiting)
        code |= outcome not in ("done", "cannot be done here")
    return code


def _carried_out(
    step: Step, seconds: float, work: steps.Work, lines: Lines
) -> tuple[str, str, float]:
    """Returns how a step ended, a message, and how long it took."""
    began = time.monotonic()
    outcome, said = "done", ""
    try:
        with limited(seconds) as deadline:
            step.work(work, deadline, partial(lines.tell, step.name))
    except OutOfTime:
        outcome, said = "out of time", f"after {seconds:.0f} s"
    except NotHere as absent:
        outcome, said = "cannot be done here", str(absent)
    except Exception as error:  # whatever it is, the other steps go on
        outcome, said = "failed", f"{type(error).__name__}: {error}"[:800]
    return outcome, said, round(time.monotonic() - began, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
