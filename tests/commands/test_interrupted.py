"""A sweep says beforehand what it will play, and when it is interrupted how far it has
come.
"""

import json
import subprocess
import time
from pathlib import Path

from pddlego_local.commands.run import main as run_command
from pddlego_local.core.record.counting import Standing
from pddlego_local.core.record.folder import read_rows
from tests.processes import interrupt, start


def test_a_sweep_says_beforehand_what_it_will_play(tmp_path: Path) -> None:
    words = [
        "-m",
        "environment.rooms=3,5",
        "trials=2",
        "games=0-3",
        f"run.out={tmp_path}",
    ]
    assert run_command([*words, "run.max_hours=1e-9"]) == 0
    (file,) = (tmp_path / "default").glob("sweep-*.json")
    planned = json.loads(file.read_text(encoding="utf-8"))["cells"]
    assert list(planned.values()) == [[{"games": "0-3", "trials": 2}]] * 2


def test_an_interrupted_sweep_tells_what_is_done(tmp_path: Path) -> None:
    """Also when it is continued: what was done before counts, and faults and cut cells
    do not.
    """
    words = ["-m", "environment.rooms=3,5", "games=0-199", f"run.out={tmp_path}"]
    for before in (3, 30):
        shown = " ".join(interrupted(words, tmp_path, before).split())
        cells = {file: read_rows(file) for file in tmp_path.rglob("episodes.jsonl")}
        done = sum(map(len, cells.values()))
        whole = sum(len(rows) == 200 for rows in cells.values())
        assert done >= before
        assert f" {done}/400 cells {whole}/2, " in shown
        standing = Standing()
        for file, rows in cells.items():
            for row in rows:
                standing.add(file, row)
        assert f"success {standing.won / standing.counting:.1%} of" in shown


def interrupted(words: list[str], out: Path, rows: int) -> str:
    """What a sweep shows that is interrupted when it has so many rows."""
    with start("run", *words, stderr=subprocess.STDOUT) as process:
        while (
            sum(file.read_bytes().count(b"\n") for file in out.rglob("episodes.jsonl"))
            < rows
        ):
            assert process.poll() is None
            time.sleep(0.01)
        interrupt(process)
        told, _ = process.communicate()
    assert process.returncode == 130
    return told
