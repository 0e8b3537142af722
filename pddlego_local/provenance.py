"""What a record needs so that the run can be made again: versions, commit, machine."""

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

PACKAGES = (
    "pddlego_local",
    "outlines",
    "llguidance",
    "lark",
    "pddl",
    "torch",
    "transformers",
    "openai",
    "up-fast-downward",
    "fast-downward.translate",
    "textworld-express",
    "hydra-core",
)


def provenance() -> dict[str, object]:
    """Python, package versions, the commit of this checkout and whether it was changed, machine."""
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "commit": _git("rev-parse", "HEAD"),
        "dirty": bool(_git("status", "--porcelain")),
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
        },
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    """None outside a checkout or without git."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
