"""Freezes the suite as it is now: writes its hashes into conf/suite/frozen.yaml, and
plays the floor and the ceiling of its first size, whose records come with the package.

    python -m tools.suite

A suite that is in use is not frozen again: another one has another number.
"""

import contextlib
import shutil
import sys
import tempfile
from pathlib import Path

from pddlego_local.api.evaluation import evaluation
from pddlego_local.core.record.entry import RECORD
from pddlego_local.core.resources import folder
from pddlego_local.runner.config import hydra_for
from pddlego_local.runner.run import run_cells
from pddlego_local.runner.suite import (
    BY_RULES,
    NUMBER,
    part_sha256,
    suite,
    suite_sha256,
)

ABOUT = "# Written by `python -m tools.suite` when each suite was frozen."


def main() -> None:
    place = folder("conf") / "suite"
    sys.argv = ["python", "-m", "tools.suite"]  # records name no folder of this machine
    with hydra_for(None):
        (place / "frozen.yaml").write_text(hashes(), encoding="utf-8")
        for name in BY_RULES:
            with tempfile.TemporaryDirectory() as here, contextlib.chdir(here):
                _keep(_played(name), place / str(NUMBER) / name)


def hashes() -> str:
    parts = {name: part_sha256(name) for name in suite().parts}
    lines = [ABOUT, f"{NUMBER}:", f"  sha256: {suite_sha256(parts)}", "  parts:"]
    lines += [f"    {name}: {sha256}" for name, sha256 in parts.items()]
    return "\n".join(lines) + "\n"


def _played(name: str) -> Path:
    planned = evaluation(name)
    planned.begin()
    run_cells(planned.configs, lambda result: None)
    return planned.folder


def _keep(run: Path, kept: Path) -> None:
    """Keeps the records without transcripts."""
    shutil.rmtree(kept, ignore_errors=True)
    for pattern in (RECORD, "*/run.json", "*/episodes.jsonl"):
        for file in run.glob(pattern):
            path = kept / file.relative_to(run)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, path)


if __name__ == "__main__":
    main()
