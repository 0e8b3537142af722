"""Records that are merged, foreign, broken or made to harm: what can be read is
reported, the rest is told, and nothing that they name is run.
"""

import html
import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pddlego_local import load
from pddlego_local.cli import run
from pddlego_local.core.formats import FORMAT
from pddlego_local.report.cells import find_cells
from pddlego_local.runner.run import run_cell
from tests.pddlego import Pddlego
from tests.planted import FREE, LOST, WON, composed, plant_rows
from tests.rows import row

Change = Callable[[Path], object]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two games on two rungs, by rules."""
    out = tmp_path_factory.mktemp("played")
    for rung in ("free", "syntax"):
        given = [f"run.out={out}", "model=reference", f"decoding={rung}", "games=1,3"]
        assert not run_cell(composed(*given)).faults
    return out


@pytest.fixture
def runs(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "runs"))


def a_cell(runs: Path) -> Path:
    return find_cells([runs])[0].folder


def readers(runs: Path, out: Path) -> list[list[str]]:
    return [
        ["report", str(runs), "--out", str(out / "report")],
        ["export", str(runs), "--out", str(out / "calls.csv")],
        ["export", str(runs), "--out", str(out / "episodes.csv"), "--episodes"],
        ["rescore", str(runs)],
    ]


def on_line(file: str, change: Callable[[dict[str, Any]], object]) -> Change:
    """Changes what the last line of a file says."""

    def changed(cell: Path) -> None:
        path = next(cell.glob(file))
        *before, last = path.read_text(encoding="utf-8").splitlines()
        told = json.loads(last)
        change(told)
        path.write_text("\n".join([*before, json.dumps(told)]) + "\n", encoding="utf-8")

    return changed


def in_run(change: Callable[[dict[str, Any]], object]) -> Change:
    def changed(cell: Path) -> None:
        told = json.loads((cell / "run.json").read_text(encoding="utf-8"))
        change(told)
        (cell / "run.json").write_text(json.dumps(told), encoding="utf-8")

    return changed


def garbage(file: str, content: bytes = b"\x00\xff garbage\n") -> Change:
    return lambda cell: next(cell.glob(file)).write_bytes(content)


def added(file: str, content: bytes, after: int | None = None) -> Change:
    return lambda cell: (cell / file).write_bytes(
        (cell / file).read_bytes()[:after] + content
    )


BROKEN: dict[str, Change] = {
    "a garbage transcript": garbage("transcripts/1-0.jsonl"),
    "a transcript without an end": added("transcripts/1-0.jsonl", b"", -2),
    "an empty transcript": garbage("transcripts/1-0.jsonl", b""),
    "a transcript of depth": garbage("transcripts/1-0.jsonl", b"[" * 99_999 + b"\n"),
    "an unknown outcome at the end": on_line(
        "transcripts/1-0.jsonl", lambda end: end["row"].update(outcome="abducted")
    ),
    "an unknown outcome": on_line(
        "episodes.jsonl", lambda told: told.update(outcome="abducted")
    ),
    "an unknown cause": on_line(
        "episodes.jsonl", lambda told: told["causes"].update(odd=1)
    ),
    "time that is none": on_line(
        "episodes.jsonl", lambda told: told.update(wall_time_s=1e999)
    ),
    "a line of garbage": added("episodes.jsonl", b"\xff\n"),
    "all rows are garbage": garbage("episodes.jsonl"),
    "run.json is garbage": garbage("run.json"),
    "run.json is deep": garbage("run.json", b"[" * 99_999),
    "run.json is gone": lambda cell: (cell / "run.json").unlink(),
    "run.json has no labels": in_run(lambda told: told.pop("labels")),
    "no budget": in_run(lambda told: told["identity"]["environment"].pop("budget")),
    "a billion games": in_run(
        lambda told: told["starts"][0]["config"].update(games="0-999999999")
    ),
    "a billion trials": in_run(
        lambda told: told["starts"][0]["config"].update(trials=10**9)
    ),
    "no seed": in_run(lambda told: told["identity"].pop("seed")),
    "no start": in_run(lambda told: told.update(starts=[])),
    "a command that is none": in_run(lambda told: told["starts"][0].update(command=7)),
    "another format": in_run(lambda told: told.update(format=99)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_can_be_read_is_reported_and_the_rest_is_told(
    runs: Path, tmp_path: Path, name: str, pddlego: Pddlego
) -> None:
    BROKEN[name](a_cell(runs))
    for words in readers(runs, tmp_path):
        told = "".join(pddlego(*words, code=1))
        assert words[0] == "rescore" or "problem: " in told
    with pytest.warns(UserWarning):
        load(runs, "calls")
    assert (tmp_path / "report" / "index.html").is_file()
    assert len((tmp_path / "calls.csv").read_text(encoding="utf-8").splitlines()) > 2


def test_rows_that_stand_twice_count_once_and_the_first_counts(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    rows = [row(WON, 1), row(WON, 2), row(LOST, 1), row(LOST, 2), row(WON, 1)]
    folder = plant_rows(tmp_path, composed(FREE), rows, "1,2")
    (cell,) = find_cells([folder, folder.parent / "." / ".." / folder.parent.name])
    assert [(one.game, one.outcome) for one in cell.rows] == [(1, WON), (2, WON)]
    told = "".join(
        pddlego("report", folder, "--out", tmp_path, "--without-pages", code=1)
    )
    assert "of 2" in told and told.count("is ignored") == 3
    assert "a further row of game 2, trial 0" in (tmp_path / "report.md").read_text(
        encoding="utf-8"
    )
    for command in ("rescore", "show"):
        assert "a further row of game 1" in "".join(pddlego(command, folder, code=1))


def test_nothing_that_a_record_names_is_imported(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = tmp_path / "path" / "foreign_world"
    foreign.mkdir(parents=True)
    (foreign / "__init__.py").write_text(
        f"import os; os.mkdir({str(tmp_path / 'ran')!r})\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path / "path")

    def renamed(told: dict[str, Any]) -> None:
        for group in ("environment", "method", "model", "decoding"):
            told["identity"][group]["_target_"] = "foreign_world.game.Game"

    for cell in find_cells([runs]):
        in_run(renamed)(cell.folder)
    for words in readers(runs, tmp_path / "out"):
        (tmp_path / "out").mkdir(exist_ok=True)
        run(words)
        assert not (tmp_path / "ran").exists(), words
    assert (tmp_path / "out/report/index.html").is_file()


def test_a_run_json_that_is_gone_is_written_again_by_the_same_command(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    given = ["run", f"run.out={tmp_path}", "model=reference", "games=1"]
    pddlego(*given)
    (path,) = tmp_path.rglob("run.json")
    before = json.loads(path.read_text(encoding="utf-8"))
    rows = (path.parent / "episodes.jsonl").read_bytes()
    path.unlink()
    assert "no run.json" in "".join(pddlego("report", tmp_path, code=2))
    assert "written again" in "".join(pddlego(*given))
    after = json.loads(path.read_text(encoding="utf-8"))
    assert after["identity"] == before["identity"] and after["format"] == FORMAT
    assert after["starts"][0]["rows_before"] == 1
    assert (path.parent / "episodes.jsonl").read_bytes() == rows
    pddlego("report", tmp_path)


def test_a_page_shows_a_command_that_can_be_copied(runs: Path, tmp_path: Path) -> None:
    typed = ["pddlego", "run", "-m", "games=0-9,17", "name=it's"]
    for cell in find_cells([runs]):
        assert (cell.run.starts[0].command or [""])[0] != "pddlego run"
        in_run(lambda told: told["starts"][0].update(command=typed))(cell.folder)
    assert run(["report", str(runs), "--out", str(tmp_path)]) == 0
    line = re.findall(
        r"Command</p><pre>(.*?)</pre>",
        (tmp_path / "index.html").read_text(encoding="utf-8"),
    )[0]
    assert shlex.split(html.unescape(line)) == typed
