"""What accelerators this machine has, asked of the driver; imports no torch, loads nothing."""

import os
import subprocess


def gpu_count() -> int:
    """NVIDIA GPUs that a process started here would see; 0 without a driver."""
    try:
        listing = subprocess.run(
            ["nvidia-smi", "--list-gpus"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    present = sum(line.startswith("GPU ") for line in listing.stdout.splitlines())
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return present
    return min(present, len([part for part in chosen.split(",") if part.strip() not in ("", "-1")]))
