"""Plays whole episodes, from the first observation to the record."""

import shutil
import time

from pddlego_local.core.record.folder import read_rows
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tools.gpu_check.findings import Wrong
from tools.gpu_check.scale import Setting


def play_cell(setting: Setting, model: str, overrides: list[str]) -> dict[str, object]:
    """Plays a cell and returns its row. Raises Wrong if an episode has no result."""
    decoding = compose_cell(overrides).labels["decoding"]
    out = setting.out / "runs" / model.replace(" ", "_") / decoding
    shutil.rmtree(out, ignore_errors=True)
    began = time.monotonic()
    result = run_cell(compose_cell([*overrides, f"run.out={out}"]))
    if result.faults:
        raise Wrong(f"infrastructure faults: {result.faults}")
    rows = read_rows(result.folder / "episodes.jsonl")
    return {
        "model": model,
        "decoding": decoding,
        "episodes": len(rows),
        "won": sum(row.success for row in rows),
        "outcomes": ", ".join(sorted({row.outcome for row in rows})),
        "calls": sum(row.calls for row in rows),
        "tokens": sum(row.completion_tokens for row in rows),
        "seconds": round(time.monotonic() - began, 1),
    }
