"""What accelerators this machine has, asked of the driver; imports no torch, loads nothing."""

import os
import re
import subprocess


def gpu_count() -> int:
    """NVIDIA GPUs that a process started here would see; 0 without a driver."""
    present = sum(line.startswith("GPU ") for line in driver_says("--list-gpus"))
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return present
    return min(present, len([part for part in chosen.split(",") if part.strip() not in ("", "-1")]))


def compute_capability() -> float:
    """The least of this machine's NVIDIA GPUs, seen or not: 9.0 for an H100; 0.0 without any."""
    lines = driver_says("--query-gpu=compute_cap", "--format=csv,noheader")
    return min((float(line) for line in lines if re.fullmatch(r"\d+\.\d+", line)), default=0.0)


def gpu_memory() -> int:
    """Bytes of the smallest of this machine's NVIDIA GPUs, seen or not; 0 without any, and where
    the driver does not tell, as of memory that a GPU shares with the processor."""
    lines = driver_says("--query-gpu=memory.total", "--format=csv,noheader,nounits")
    return min((int(line) * 1024**2 for line in lines if line.isdecimal()), default=0)


def driver_says(*arguments: str) -> list[str]:
    """The lines that the driver's tool prints; none where it cannot be run."""
    try:
        listing = subprocess.run(
            ["nvidia-smi", *arguments], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in listing.stdout.splitlines()]
