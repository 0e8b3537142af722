"""What would keep vLLM's CUDA build from starting on this machine, found before anything is loaded.

Asked of the driver, the file system and the serving environment's own Python; imports no torch.
"""

import itertools
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pddlego_local.core.errors import MissingPart
from pddlego_local.models.machine import driver_says, gpu_count
from pddlego_local.models.vllm.settings import Server

GIB = 1024**3
# The oldest driver of each CUDA version: its release notes, "minor version compatibility".
OLDEST_DRIVER = {11: 450, 12: 525, 13: 580}
BFLOAT16_CAPABILITY = 8.0  # vLLM refuses bfloat16 below, and most models are published in it
REST_S = 10.0
SHARED_MEMORY = GIB  # of NCCL and vLLM between GPUs; a container has 64 MiB unless told otherwise


@dataclass(frozen=True)
class Gpu:
    """One that a server would see. Memory in bytes; `driver` is its major version."""

    driver: int
    capability: float
    free: int
    memory: int


def gpus() -> list[Gpu]:
    """Those of this machine, or of CUDA_VISIBLE_DEVICES where that has numbers."""
    query = "--query-gpu=index,driver_version,compute_cap,memory.free,memory.total"
    found: dict[str, Gpu] = {}
    for line in driver_says(query, "--format=csv,noheader,nounits"):
        index, driver, capability, *memory = (part.strip() for part in line.split(","))
        mib = [int(part) * 1024**2 for part in memory]
        found[index] = Gpu(int(driver.partition(".")[0]), float(capability), *mib)
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    visible = [found[one.strip()] for one in chosen if one.strip() in found]
    return visible or list(found.values())


def obstacles(server: Server, dtype: str = "auto") -> list[str]:
    """In sentences that say what to type; none if nothing is seen that would stop the server."""
    used = _rested(server)
    return [
        *_driver(server.env, used),
        *_compiler(server.env),
        *_memory(server, used),
        *_data_type(dtype, used),
        *_shared_memory(server),
    ]


def check_machine(server: Server, dtype: str) -> None:
    """Raises MissingPart with all `obstacles`, a line each."""
    if wrong := obstacles(server, dtype):
        raise MissingPart("\n".join(wrong))


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
    given = [part for word in server.extra_arguments for part in word.split("=", 1)]
    values = dict(itertools.pairwise(given))
    here = values.get("--data-parallel-size-local") or values.get("--data-parallel-size", "1")
    spread = values.get("--data-parallel-backend") == "ray"
    return server.tensor_parallel_size * (int(here) if here.isdecimal() and not spread else 1)


def _rested(server: Server) -> list[Gpu]:
    """The GPUs that it will use, after a while if a process that has ended still holds memory."""
    until = time.monotonic() + REST_S
    while True:
        used = gpus()[: _cards(server)]
        if not any(_memory(server, used)) or time.monotonic() > until:
            return used
        time.sleep(1)


def _driver(env: Path, used: list[Gpu]) -> Iterator[str]:
    cuda = _cuda_version(env)
    needed = OLDEST_DRIVER.get(int(cuda.partition(".")[0] or 0), 0)
    if old := [gpu.driver for gpu in used if gpu.driver < needed]:
        yield (
            f"The NVIDIA driver has version {min(old)}, and torch in {env} is built for CUDA "
            f"{cuda}, which needs {needed} or newer: update the driver (`nvidia-smi` shows it)."
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
    headers = _include_folder(env)
    if headers and not (headers / "Python.h").is_file():
        yield (
            f"There is no {headers / 'Python.h'}, which Triton needs while a server runs: install "
            "Python's headers (Debian and Ubuntu: apt install python3-dev)."
        )


def _include_folder(env: Path) -> Path | None:
    code = "import sysconfig; print(sysconfig.get_path('include'))"
    try:
        told = subprocess.run(
            [env / "bin/python", "-c", code], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None  # whether it runs, the start will say
    return Path(told.stdout.strip())


def _memory(server: Server, used: list[Gpu]) -> Iterator[str]:
    """vLLM asks for a share of a card's whole memory, and refuses to start if less is free."""
    share = server.gpu_memory_utilization
    if tight := [gpu for gpu in used if gpu.free < share * gpu.memory]:
        gpu = min(tight, key=lambda gpu: gpu.free / gpu.memory)
        fitting = int(gpu.free / gpu.memory * 100) / 100
        yield (
            f"Only {gpu.free / GIB:.1f} of {gpu.memory / GIB:.1f} GiB of the GPU's memory are free,"
            f" and the server takes {share:g} of it: end what else runs there (`nvidia-smi` lists "
            f"it) or set model.server.gpu_memory_utilization={fitting:g}."
        )


def _data_type(dtype: str, used: list[Gpu]) -> Iterator[str]:
    least = min((gpu.capability for gpu in used), default=BFLOAT16_CAPABILITY)
    if dtype == "bfloat16" and least < BFLOAT16_CAPABILITY:
        yield (
            f"model.dtype=bfloat16 needs compute capability {BFLOAT16_CAPABILITY:g} or higher, and "
            f"the GPU has {least:g}: set model.dtype=float16."
        )


def _shared_memory(server: Server) -> Iterator[str]:
    place = Path("/dev/shm")
    if (
        _cards(server) > 1
        and place.is_dir()
        and (free := shutil.disk_usage(place).free) < SHARED_MEMORY
    ):
        yield (
            f"Only {free / 1024**2:.0f} MiB of shared memory are free in {place}, through which "
            "several GPUs talk: in a container, start it with `docker run --ipc=host`."
        )
