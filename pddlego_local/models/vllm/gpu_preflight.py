"""What would keep vLLM's CUDA build from starting on this machine, found before anything is loaded.

Asked of the driver, the file system and the serving environment's own Python; imports no torch.
"""

import itertools
import logging
import math
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from pddlego_local.core.errors import MissingPart
from pddlego_local.models.machine import driver_says, gpu_count
from pddlego_local.models.vllm.settings import Server

log = logging.getLogger(__name__)
# The oldest driver of each CUDA version: its release notes, "minor version compatibility".
OLDEST_DRIVER = {11: 450, 12: 525, 13: 580}
BFLOAT16_CAPABILITY = 8.0  # vLLM refuses bfloat16 below, and most models are published in it
REST_S = 10.0
_COMPATIBLE = "VLLM_ENABLE_CUDA_COMPATIBILITY"
SHARED_MEMORY = 1024**3  # of NCCL and vLLM between GPUs; a container has 64 MiB unless told
_INCLUDES = "import sysconfig; print(sysconfig.get_path('include'))"


def check_machine(server: Server, dtype: str) -> None:
    """Raises MissingPart with all that is seen that would stop the server, a line each, in
    sentences that say what to type."""
    checks = (
        *(_driver(server), _compiler(server.env), _memory(server)),
        *(_data_type(server, dtype), _shared_memory(server)),
    )
    if wrong := "\n".join(itertools.chain(*checks)):
        raise MissingPart(wrong)


def check_count(server: Server) -> None:
    """Raises MissingPart if fewer GPUs are visible than the server is to run on."""
    needed, visible = _cards(server), gpu_count()
    if visible < needed:
        what = "model.server.tensor_parallel_size"
        what += " or --data-parallel-size" if needed > server.tensor_parallel_size else ""
        raise MissingPart(
            f"This model needs {needed} NVIDIA GPU{'s' if needed > 1 else ''} and {visible} are "
            f"visible; run it on a GPU machine, change {what}, or point model.server.url at a "
            "running server."
        )


def _cards(server: Server) -> int:
    """Of this machine: those of an engine, times its copies here."""
    here = server.argument("--data-parallel-size-local", "-dpl") or server.engines
    spread = server.argument("--data-parallel-backend", "-dpb") == "ray"
    return server.tensor_parallel_size * (int(here) if here.isdecimal() and not spread else 1)


def _told(server: Server, *asked: str) -> list[list[float]]:
    """What the driver tells of each GPU that the server will use: the first number of, say, a
    version; NaN where it does not tell, as of memory that a GPU shares with the processor. Nothing
    of the parts into which MIG divides a GPU."""
    query = [f"--query-gpu={','.join(asked)}", "--format=csv,noheader,nounits"]
    visible = {**os.environ, **server.variables}.get("CUDA_VISIBLE_DEVICES", "")
    if chosen := [one.strip() for one in visible.split(",") if one.strip()]:
        query.append(f"--id={','.join(chosen[: _cards(server)])}")
    lines = [line.split(",") for line in driver_says(*query)[: _cards(server)]]
    return [[_number(part) for part in parts] for parts in lines if len(parts) == len(asked)]


def _number(told: str) -> float:
    number = re.match(r"\s*(\d+(\.\d+)?)", told)
    return float(number[1]) if number else math.nan


def _driver(server: Server) -> Iterator[str]:
    """A driver that is too old; a warning where vLLM is told to load CUDA's compatibility layer."""
    cuda = _cuda_version(server.env)
    needed = OLDEST_DRIVER.get(int(cuda.partition(".")[0] or 0), 0)
    if old := [version for (version,) in _told(server, "driver_version") if version < needed]:
        said = (
            f"The NVIDIA driver has version {int(min(old))}, and torch in {server.env} is built "
            f"for CUDA {cuda}, which needs {needed} or newer"
        )
        asked = {**os.environ, **server.variables}.get(_COMPATIBLE, "").strip().lower()
        if asked in ("1", "true"):
            log.warning(
                "%s; %s is set, so that the server is started all the same.", said, _COMPATIBLE
            )
        else:
            yield (
                f"{said}: update the driver (`nvidia-smi` shows it), or, on a data-centre card "
                f"with NVIDIA's package cuda-compat, set +model.server.variables.{_COMPATIBLE}='1'."
            )


def _cuda_version(env: Path) -> str:
    """Of the torch that is installed there, such as "13.0"; "" if it does not tell."""
    for file in env.glob("lib/python*/site-packages/torch/version.py"):
        if told := re.search(r"^cuda\b.*= '([\d.]+)'", file.read_text(), re.MULTILINE):
            return told[1]
    return ""


def _compiler(env: Path) -> Iterator[str]:
    """Triton compiles a launcher for each of its kernels when it first runs."""
    if not any(map(shutil.which, (os.environ.get("CC", "cc"), "gcc", "clang"))):
        yield (
            "There is no C compiler, which Triton needs while a server runs: install one (Debian "
            "and Ubuntu: apt install gcc) or name it in the variable CC."
        )
    command = [str(env / "bin/python"), "-c", _INCLUDES]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return  # whether it runs, the start will say
    header = Path(told.stdout.strip()) / "Python.h"
    if not header.is_file():
        yield (
            f"There is no {header}, which Triton needs while a server runs: install Python's "
            "headers (Debian and Ubuntu: apt install python3-dev)."
        )


def _memory(server: Server) -> Iterator[str]:
    """vLLM asks for a share of a card's whole memory, and refuses to start if less is free. A
    process that has ended may hold some yet, for which we wait a while."""
    until = time.monotonic() + REST_S
    while (tight := _tight(server)) and time.monotonic() < until:
        time.sleep(1)
    if tight:
        free, memory = min(tight, key=lambda one: one[0] / one[1])
        yield (
            f"Only {free / 1024:.1f} of {memory / 1024:.1f} GiB of the GPU's memory are free, and "
            f"the server takes {server.gpu_memory_utilization:g} of it: end what else runs there "
            "(`nvidia-smi` lists it) or set "
            f"model.server.gpu_memory_utilization={int(free / memory * 100) / 100:g}."
        )


def _tight(server: Server) -> list[tuple[float, float]]:
    """MiB free and in all of each GPU that has too little of them for the server."""
    share, sizes = server.gpu_memory_utilization, _told(server, "memory.free", "memory.total")
    return [(free, memory) for free, memory in sizes if free < share * memory]


def _data_type(server: Server, dtype: str) -> Iterator[str]:
    told = _told(server, "compute_cap") if dtype == "bfloat16" else []
    if low := [capability for (capability,) in told if capability < BFLOAT16_CAPABILITY]:
        yield (
            f"model.dtype=bfloat16 needs compute capability {BFLOAT16_CAPABILITY:g} or higher, and "
            f"the GPU has {min(low):g}: set model.dtype=float16."
        )


def _shared_memory(server: Server) -> Iterator[str]:
    place = Path("/dev/shm")
    if _cards(server) > 1 and place.is_dir():
        free = shutil.disk_usage(place).free
        if free < SHARED_MEMORY:
            yield (
                f"Only {free / 1024**2:.0f} MiB of shared memory are free in {place}, through "
                "which several GPUs talk: in a container, start it with `docker run --ipc=host`."
            )
