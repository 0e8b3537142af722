"""What would keep vLLM's CUDA build from starting on this machine, found before anything is loaded.

Asked of the driver, the file system and the serving environment's own Python; imports no torch.
"""

import logging
import math
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pddlego_local.core.errors import MissingPart
from pddlego_local.models.machine import driver_says, gpu_count
from pddlego_local.models.vllm.settings import Server

log = logging.getLogger(__name__)
GIB = 1024**3
# The oldest driver of each CUDA version: its release notes, "minor version compatibility".
OLDEST_DRIVER = {11: 450, 12: 525, 13: 580}
BFLOAT16_CAPABILITY = 8.0  # vLLM refuses bfloat16 below, and most models are published in it
REST_S = 10.0
_COMPATIBLE = "VLLM_ENABLE_CUDA_COMPATIBILITY"
SHARED_MEMORY = GIB  # of NCCL and vLLM between GPUs; a container has 64 MiB unless told otherwise


@dataclass(frozen=True)
class Gpu:
    """One that a server would see. Memory in bytes; `driver` is its major version. NaN is what the
    driver does not tell, as of memory that a GPU shares with the processor."""

    driver: float
    capability: float
    free: float
    memory: float


def gpus(variables: Mapping[str, str] = os.environ) -> list[Gpu]:
    """Those of this machine, or of CUDA_VISIBLE_DEVICES where it names some of them."""
    query = "--query-gpu=index,driver_version,compute_cap,memory.free,memory.total"
    found: dict[str, Gpu] = {}
    for line in driver_says(query, "--format=csv,noheader,nounits"):
        index, *told = (part.strip() for part in line.split(","))
        if index.isdecimal() and len(told) == 4:
            driver, capability, free, memory = (_number(part) for part in told)
            found[index] = Gpu(driver // 1, capability, free * 1024**2, memory * 1024**2)
    named = found | _by_uuid(found)
    chosen = [one.strip() for one in variables.get("CUDA_VISIBLE_DEVICES", "").split(",")]
    visible = [
        gpu
        for one in chosen
        for name, gpu in named.items()
        if one == name or (one.startswith(("GPU-", "MIG-")) and name.startswith(one))
    ]
    return visible or list(found.values())


def _number(told: str) -> float:
    """The first number of, say, a version; NaN where the driver says [N/A] or the like."""
    number = re.match(r"\d+(\.\d+)?", told)
    return float(number[0]) if number else math.nan


def _by_uuid(found: dict[str, Gpu]) -> dict[str, Gpu]:
    """The cards, and the parts into which MIG divides them, whose memory is not told."""
    named: dict[str, Gpu] = {}
    card = None
    for line in driver_says("--list-gpus"):
        whole = re.match(r"GPU (\d+):", line)
        card = found.get(whole[1]) if whole else card
        if card and (uuid := re.search(r"UUID: ([\w/-]+)", line)):
            named[uuid[1]] = card if whole else replace(card, free=math.nan, memory=math.nan)
    return named


def obstacles(server: Server, dtype: str = "auto") -> list[str]:
    """In sentences that say what to type; none if nothing is seen that would stop the server."""
    used = _rested(server)
    return [
        *_driver(server, used),
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
    here = server.argument("--data-parallel-size-local", "-dpl") or server.engines
    spread = server.argument("--data-parallel-backend", "-dpb") == "ray"
    return server.tensor_parallel_size * (int(here) if here.isdecimal() and not spread else 1)


def _rested(server: Server) -> list[Gpu]:
    """The GPUs that it will use, after a while if a process that has ended still holds memory."""
    until = time.monotonic() + REST_S
    while True:
        used = gpus({**os.environ, **server.variables})[: _cards(server)]
        if not any(_memory(server, used)) or time.monotonic() > until:
            return used
        time.sleep(1)


def _driver(server: Server, used: list[Gpu]) -> Iterator[str]:
    """A driver that is too old; a warning where vLLM is told to load CUDA's compatibility layer."""
    cuda = _cuda_version(server.env)
    needed = OLDEST_DRIVER.get(int(cuda.partition(".")[0] or 0), 0)
    if old := [gpu.driver for gpu in used if gpu.driver < needed]:
        said = (
            f"The NVIDIA driver has version {min(old):g}, and torch in {server.env} is built for "
            f"CUDA {cuda}, which needs {needed} or newer"
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
    low = [gpu.capability for gpu in used if gpu.capability < BFLOAT16_CAPABILITY]
    if dtype == "bfloat16" and low:
        yield (
            f"model.dtype=bfloat16 needs compute capability {BFLOAT16_CAPABILITY:g} or higher, and "
            f"the GPU has {min(low):g}: set model.dtype=float16."
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
