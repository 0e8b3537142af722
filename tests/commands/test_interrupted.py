"""An interrupted sweep says how far it has come."""

import subprocess
import time
from pathlib import Path

from pddlego_local.core.record.counting import Standing
from pddlego_local.core.record.folder import read_rows
from tests.processes import interrupt, start
from tools.chaos.sweeps import wrong_records


def test_an_interrupted_sweep_tells_what_is_done(tmp_path: Path) -> None:
    """Also when it is continued: what was done before counts, and faults and cut cells
    do not.
    """
    words = ["-m", "environment.rooms=3,5", "games=0-199", f"run.out={tmp_path}"]
    interrupted(words, tmp_path, rows=3)
    shown = " ".join(interrupted(words, tmp_path, rows=30).split())
    assert "finishing current episodes" in shown
    assert "rerun the command to continue" in shown and "Traceback" not in shown
    assert not list(tmp_path.rglob("faults.jsonl"))
    assert wrong_records(tmp_path) == []
    cells = {file: read_rows(file) for file in tmp_path.rglob("episodes.jsonl")}
    standing = Standing()
    done = whole = 0
    for file, found in cells.items():
        done += len(found)
        whole += len(found) == 200
        for row in found:
            standing.add(file, row)
    assert done >= 30
    assert f" {done}/400 cells {whole}/2, " in shown
    assert f"success {standing.won / standing.counting:.1%} of" in shown


def interrupted(words: list[str], out: Path, rows: int) -> str:
    """What a sweep shows that is interrupted when it has so many rows."""
    with start("run", *words, stderr=subprocess.STDOUT) as process:
        while count_rows(out) < rows:
            assert process.poll() is None
            time.sleep(0.01)
        interrupt(process)
        told, _ = process.communicate()
    assert process.returncode == 130
    return told


def count_rows(out: Path) -> int:
    files = out.rglob("episodes.jsonl")
    return sum(file.read_bytes().count(b"\n") for file in files)
