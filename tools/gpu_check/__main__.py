"""`make gpu-check`: tries on this machine what the project does on a GPU, and times it.

    python -m tools.gpu_check [--device cuda] [--out runs/gpu_check] [--steps server,decoding]

No network is needed. The first steps take two minutes and tell most: is the machine fit, and does a
small model whose answers are known give them. Then comes one of random weights in the shape of
Llama 3.1 8B, made here; without a GPU everything is tried in small. Each step is a process with a
time limit and a log; one that fails is reported, those that need it are left out, and the others go
on. On a GPU the steps `nano` and `plain` are tried a second time if they fail, with vLLM's first
model runner in place of its second; where that helps, the later steps use the first one too. The
same command again does what is not done yet. Exit codes: 0 done, 1 a step failed or was out of
time, 2 bad usage.
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

_STEPS = (  # in the order of what tells most: seconds that it may take on a GPU, what it needs
    ("preflight", 60, "", "which GPUs and which build of vLLM are here"),
    ("nano", 300, "preflight", "a trained model plays on each rung, with the answers of the CPU"),
    ("weights", 240, "nano", "random weights are made in the shape of a large model"),
    ("plain", 600, "weights", "obeys; each rung's cost; an episode; a killed engine; a clean end"),
    ("invariance", 420, "plain", "batch-invariant: the same answers alone and in company"),
    ("drafts", 480, "plain", "the first model runner, without drafts of forced tokens and with"),
    ("smollm2", 300, "nano", "a model of others plays"),
    ("transformers", 180, "weights", "each rung's cost in process"),
    ("training", 240, "", "how fast a small model is trained"),
)
_FIRST_RUNNER = {"VLLM_USE_V2_MODEL_RUNNER": "0"}  # which vLLM calls deprecated


def main(arguments: list[str]) -> int:
    names = [name for name, *_ in _STEPS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found = "cuda" if gpu_count() else "cpu"
    parser.add_argument("--device", choices=["cpu", "cuda"], default=found)
    parser.add_argument("--out", type=Path, default=Path("runs/gpu_check"))
    parser.add_argument("--steps", default=",".join(names), help=f"of {', '.join(names)}")
    given = parser.parse_args(arguments)
    asked = given.steps.split(",")
    if strange := sorted(set(asked) - set(names)):
        parser.error(f"--steps: there is no {', '.join(strange)}; there are {', '.join(names)}")
    setting = Setting(given.device, given.out.absolute(), scale_for(given.device))
    steps = _steps(setting)
    chosen = [step for step in steps if step.name in asked]
    commit, file = str(provenance()["commit"]), setting.out / "report.md"
    failed = False
    # What a step has begun is killed with it, also where this command is ended from outside.
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
            _FIRST_RUNNER if setting.device == "cuda" and name in ("nano", "plain") else {},
        )
        for name, limit_s, needs, why in _STEPS
    ]


def _state(setting: Setting) -> str:
    """What a step that is done was done with."""
    text = json.dumps(asdict(setting.scale), sort_keys=True)
    return f"{setting.device} {hashlib.sha256(text.encode()).hexdigest()}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
