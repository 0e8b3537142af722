"""The first two steps: is the machine suitable, and does a small model give its known
answers?
"""

import shutil
import time
from typing import Any

import pddlego_local
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.models.machine import driver_says
from pddlego_local.models.vllm.server import serving_build
from tools.gpu_check.findings import Findings, Wrong
from tools.gpu_check.machine_questions import obstacles
from tools.gpu_check.scale import Setting


def preflight(setting: Setting, findings: Findings) -> None:
    """Reports the GPUs and the build of vLLM, and what would stop a server. Loads
    nothing.
    """
    columns = ("driver", "compute capability", "memory free", "memory")
    query = "--query-gpu=driver_version,compute_cap,memory.free,memory.total"
    for line in driver_says(query, "--format=csv,noheader"):
        findings.tell("GPUs", dict(zip(columns, line.split(", "), strict=False)))
    build, version = serving_build(setting.env)
    findings.tell("vLLM", {"version": version, "build": build})
    if build != setting.device:
        raise Wrong(
            f"{setting.env} contains vLLM's {build} build; run `make clean serving`"
        )
    if setting.device == "cuda":
        wrong = obstacles(setting.env, _memory_mib())
        for sentence in wrong:
            findings.tell("what would stop a server", {"obstacle": sentence})
        if wrong:
            raise Wrong(" ".join(wrong))


def _memory_mib() -> list[tuple[float, float]]:
    """Returns the free and the whole memory of each GPU whose driver tells it."""
    query = "--query-gpu=memory.free,memory.total"
    found = []
    for line in driver_says(query, "--format=csv,noheader,nounits"):
        free, _, whole = line.partition(", ")
        if free.isdecimal() and whole.isdecimal():
            found.append((float(free), float(whole)))
    return found


def nano(setting: Setting, findings: Findings) -> None:
    """Plays games greedily on each rung, on one server and in process on the CPU;
    compares them.
    """
    shutil.rmtree(setting.out / "nano", ignore_errors=True)
    known = _answers(setting, model="nano")
    began = time.monotonic()
    said = _answers(
        setting,
        model="nano_vllm",
        model__server__device=setting.device,
        model__server__env=str(setting.env),
    )
    seconds = round(time.monotonic() - began, 1)
    differing = 0
    for rung in RUNGS:
        most = max(len(known[rung]), len(said[rung]))
        same = sum(map(str.__eq__, known[rung], said[rung]))
        findings.tell(
            "nano", {"rung": rung, "answers": most, "same as on the CPU": same}
        )
        differing += most - same
    findings.tell("nano on its server", {"seconds, including the start": seconds})
    if differing:
        raise Wrong(f"{differing} answers differ from those on the CPU")


def _answers(setting: Setting, **model: Any) -> dict[str, list[str]]:
    """Returns the answers by rung, in the order of games."""
    folders = pddlego_local.run(
        **model,
        decoding=list(RUNGS),
        decoding__temperature=0,
        decoding__max_tokens=1024,
        method__variant="compact",
        environment__rooms=5,
        games=setting.scale.games,
        run__out=str(setting.out / "nano"),
    )
    calls = pddlego_local.load(folders, "calls").sort_values(["game", "call"])
    return {rung: calls[calls["decoding"] == rung]["answer"].tolist() for rung in RUNGS}
