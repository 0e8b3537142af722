"""What would stop a CUDA server on this machine: no C compiler, no headers of Python,
or too little free memory. Loads nothing, and needs the standard library alone.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

SHARE = 0.9  # of a GPU's memory: what a server takes unless told otherwise
_HEADERS = "import sysconfig; print(sysconfig.get_path('include'))"


def obstacles(env: Path, memory_mib: Sequence[tuple[float, float]]) -> list[str]:
    """Returns what would stop a server of this environment, a sentence each, with what
    to do.

    `memory_mib` has the free and the whole memory of each GPU.
    """
    return [*_compiler(), *_headers(env), *_memory(memory_mib)]


def _compiler() -> Iterator[str]:
    """Triton compiles a launcher for each kernel when it first runs."""
    compilers = (os.environ.get("CC", "cc"), "gcc", "clang")
    if not any(map(shutil.which, compilers)):
        yield (
            "There is no C compiler, which Triton needs while a server runs: install"
            " one (Debian and Ubuntu: apt install gcc) or name it in the variable CC."
        )


def _headers(env: Path) -> Iterator[str]:
    command = [str(env / "bin/python"), "-c", _HEADERS]
    try:
        told = subprocess.run(
            command, capture_output=True, encoding="utf-8", timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return  # the server's start will say what is wrong with this Python
    header = Path(told.stdout.strip()) / "Python.h"
    if not header.is_file():
        yield (
            f"There is no {header}, which Triton needs while a server runs: install"
            " Python's headers (Debian and Ubuntu: apt install python3-dev)."
        )


def _memory(memory_mib: Sequence[tuple[float, float]]) -> Iterator[str]:
    """vLLM refuses to start if less is free than it would take."""
    tight = [(free, whole) for free, whole in memory_mib if free < SHARE * whole]
    if tight:
        free, whole = min(tight, key=lambda pair: pair[0] / pair[1])
        yield (
            f"Only {free / 1024:.1f} of {whole / 1024:.1f} GiB of the GPU's memory are"
            f" free, and a server takes {SHARE:g} of it: end what else runs there"
            " (`nvidia-smi` lists it) or set"
            f" model.server.gpu_memory_utilization={int(free / whole * 100) / 100:g}."
        )
