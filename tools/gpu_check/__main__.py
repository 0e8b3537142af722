"""`make gpu-check`: checks on this machine what the project does on a GPU, and measures
the times.

    python -m tools.gpu_check [--device cuda] [--out runs/gpu_check] [--steps
    nano,weights]

No network is needed. The first steps take two minutes and are the most informative: is
the machine suitable, and does a small model give its known answers? The next steps use
a model with random weights in the shape of Llama 3.1 8B, which is made here. Without a
GPU, all steps run in a small size. Each step is a process with a time limit and a log.
A step that fails is reported, the steps that need it are left out, and the others go
on. If the step `nano` or `plain` fails on a GPU, it is tried again with vLLM's first
model runner in place of its second; if that helps, the later steps use the first runner
too. The same command again runs the steps that are not done yet. Exit codes: 0 done, 1
a step failed or ran out of time, 2 bad usage.
"""

import argparse
import hashlib
import json
import signal
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

from pddlego_local.models.machine import gpu_count
from pddlego_local.runner.provenance import provenance
from tools.gpu_check.report import report
from tools.gpu_check.running import Step, carry_out
from tools.gpu_check.scale import Setting, scale_for

# most informative first: the time limit in seconds on a GPU, and the step it needs
_STEPS = (
    ("preflight", 60, "", "the GPUs and the vLLM build of this machine"),
    ("nano", 300, "preflight", "a trained model answers as on the CPU, on each rung"),
    (
        "weights",
        240,
        "nano",
        "random weights can be made in the shape of a large model",
    ),
    (
        "plain",
        600,
        "weights",
        "grammars obeyed; rung costs; an episode; killed engine; clean end",
    ),
    ("invariance", 420, "plain", "the same answers one at a time and in a batch"),
    ("smollm2", 300, "nano", "a published model plays"),
    (
        "pretrained",
        300,
        "nano",
        "a game of experiment=pretrained with one of its models",
    ),
    ("transformers", 180, "weights", "cost of each rung in process"),
    (
        "tiles",
        300,
        "preflight",
        "the tiles of a batch-invariant server's matrix products",
    ),
    ("training", 240, "", "training speed of a small model"),
)
_FIRST_RUNNER = {"VLLM_USE_V2_MODEL_RUNNER": "0"}  # vLLM calls it deprecated


def main(arguments: list[str]) -> int:
    names = [name for name, *_ in _STEPS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found = "cuda" if gpu_count() else "cpu"
    parser.add_argument("--device", choices=["cpu", "cuda"], default=found)
    parser.add_argument("--out", type=Path, default=Path("runs/gpu_check"))
    parser.add_argument(
        "--steps", default=",".join(names), help=f"of {', '.join(names)}"
    )
    given = parser.parse_args(arguments)
    asked = given.steps.split(",")
    if strange := sorted(set(asked) - set(names)):
        parser.error(
            f"--steps: there is no {', '.join(strange)}; there are {', '.join(names)}"
        )
    setting = Setting(given.device, given.out.absolute(), scale_for(given.device))
    steps = _steps(setting)
    chosen = [step for step in steps if step.name in asked]
    commit, file = str(provenance()["commit"]), setting.out / "report.md"
    failed = False
    # If this command is terminated from outside, the processes of the running step must
    # end, too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    for ended in carry_out(
        chosen, setting.out, _state(setting), commit, partial(print, flush=True)
    ):
        failed |= ended.outcome in ("failed", "out of time")
        file.write_text(report(steps, setting), encoding="utf-8")
    print(f"written: {file}")
    return int(failed)


def _steps(setting: Setting) -> list[Step]:
    part = [sys.executable, "-m", "tools.gpu_check.part"]
    return [
        Step(
            name,
            why,
            limit_s * setting.scale.limits_times,
            [*part, name, str(setting.out), setting.device],
            needs,
            _FIRST_RUNNER
            if setting.device == "cuda" and name in ("nano", "plain")
            else {},
        )
        for name, limit_s, needs, why in _STEPS
    ]


def _state(setting: Setting) -> str:
    """Identifies the device and the sizes with which a step is done."""
    text = json.dumps(asdict(setting.scale), sort_keys=True)
    return f"{setting.device} {hashlib.sha256(text.encode()).hexdigest()}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
