"""The machine's accelerators, as the driver reports them. Imports no torch and loads
nothing.
"""

import os
import re
import subprocess


def gpu_count() -> int:
    """Returns how many NVIDIA GPUs a process started here would see; 0 without a
    driver.
    """
    present = sum(line.startswith("GPU ") for line in driver_says("--list-gpus"))
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return present
    named = [part for part in chosen.split(",") if part.strip() not in ("", "-1")]
    return min(present, len(named))


def compute_capability() -> float:
    """Returns the lowest compute capability of the machine's NVIDIA GPUs, for example
    9.0 (H100).

    GPUs hidden by CUDA_VISIBLE_DEVICES are included. Without a GPU the result is 0.0.
    """
    lines = driver_says("--query-gpu=compute_cap", "--format=csv,noheader")
    return min(
        (float(line) for line in lines if re.fullmatch(r"\d+\.\d+", line)), default=0.0
    )


def gpu_memory() -> int:
    """Returns the memory, in bytes, of the machine's smallest NVIDIA GPU.

    GPUs hidden by CUDA_VISIBLE_DEVICES are included. The result is 0 without a GPU, and
    also if the driver does not report it, for example for memory that a GPU shares with
    the processor.
    """
    lines = driver_says("--query-gpu=memory.total", "--format=csv,noheader,nounits")
    return min((int(line) * 1024**2 for line in lines if line.isdecimal()), default=0)


def driver_says(*arguments: str) -> list[str]:
    """Returns the lines that `nvidia-smi` prints; none if it cannot be run."""
    try:
        listing = subprocess.run(
            ["nvidia-smi", *arguments],
            capture_output=True,
            encoding="utf-8",
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in listing.stdout.splitlines()]
