"""An environment is a folder and one YAML, a method a module with its prompts and one YAML: those
from outside the project are played by its command.

`tests/lamp` is copied, so that nothing of it lies where the project would find its own.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import read_events, read_rows

FOLDER = Path(__file__).parent / "lamp"
METHODS = ("pddlego_plus", "pddl_gen", "pddl_edit", "plangen", "action_gen")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "elsewhere"))


def run(elsewhere: Path, *arguments: str) -> tuple[int, str]:
    """The exit code, and what was printed on standard error."""
    command = [sys.executable, "-m", "pddlego_local", "run", "environment=lamp", "games=0-5"]
    command += [f"run.out={elsewhere}/runs", "--config-dir", f"{elsewhere}/conf", *arguments]
    path = os.pathsep.join([str(elsewhere), str(Path(__file__).parents[1])])
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def test_it_is_won_by_every_method_that_it_has_prompts_for(elsewhere: Path) -> None:
    code, said = run(elsewhere, "-m", f"method={','.join(METHODS)}")
    assert code == 0, said
    cells = list(elsewhere.rglob("episodes.jsonl"))
    assert {cell.parent.name.split("-")[1] for cell in cells} == set(METHODS)
    for cell in cells:
        rows = read_rows(cell)
        assert [row.won for row in rows] == [True] * 6
        assert {row.map for row in rows} == {""}  # it tells none
        assert sum(row.refused + row.solver_errors for row in rows) == 0


def test_a_method_brings_its_own_prompts_to_our_environments_and_to_its_own(
    elsewhere: Path,
) -> None:
    code, said = run(elsewhere, "-m", "method=hopeful", "environment=lamp,coin", "+note=1")
    assert code == 2 and "note" in said
    code, said = run(elsewhere, "-m", "method=hopeful", "environment=lamp,coin")
    assert code == 0, said
    cells = {path.parent.name.split("-")[0]: path.parent for path in elsewhere.rglob("run.json")}
    assert cells.keys() == {"lamp", "coin"}
    hashes = set()
    for cell in cells.values():
        assert all(row.success for row in read_rows(cell / "episodes.jsonl"))
        hashes.add(json.loads((cell / "run.json").read_text())["prompt_sha256"])
        asked = next(e for e in read_events(cell / "transcripts/1-0.jsonl") if isinstance(e, Call))
        assert "A domain file and a problem file, please" in asked.messages[0].content
    assert len(hashes) == 2
    shutil.rmtree(elsewhere / "hopeful" / "prompts")
    code, said = run(elsewhere, "method=hopeful", "seed=1")
    assert code == 2 and "'hopeful.prompts'" in said and "Traceback" not in said


@pytest.mark.parametrize(
    ("missing", "method"),
    [
        ("game.py", "pddlego_plus"),
        ("tables.yaml", "pddlego_plus"),
        ("domain.pddl", "plangen"),
        ("reference.py", "action_gen"),
        ("prompts/environment.yaml", "pddl_edit"),
        ("prompts/deps.yaml", "deps"),
        ("", "random_policy"),
    ],
)
def test_what_is_missing_is_named_before_anything_is_played(
    elsewhere: Path, missing: str, method: str
) -> None:
    file = elsewhere / "lamp" / missing
    if file.is_file():
        file.unlink()
    elif not missing:
        shutil.rmtree(file)
    code, said = run(elsewhere, f"method={method}")
    named = f"{file} is missing" if missing else "'lamp'"
    assert code == 2 and "Traceback" not in said
    assert said.count("error:") == 1 and said.strip().count("\n") == 0 and named in said


def test_a_class_outside_game_py_is_refused(elsewhere: Path) -> None:
    code, said = run(elsewhere, "environment._target_=lamp.Lamp")
    assert code == 2 and "PACKAGE.game.CLASS" in said and said.strip().count("\n") == 0


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        ("prompts/environment.yaml", "edit_notes:", "notes_on_edits:", "edit_notes"),
        ("prompts/environment.yaml", "later:", "then:", "demonstration.later"),
        ("prompts/environment.yaml", "rules:", "rules: [", "line "),
        ("tables.yaml", "feedback:", "answers:", "'feedback'"),
        ("tables.yaml", "command: go to {to}", "says: go to {to}", "says"),
    ],
)
def test_a_key_that_is_missing_is_named_with_its_file(
    elsewhere: Path, file: str, old: str, new: str, named: str
) -> None:
    path = elsewhere / "lamp" / file
    path.write_text(path.read_text().replace(old, new))
    code, said = run(elsewhere, "-m", "method=pddl_edit")
    assert code == 2 and "Traceback" not in said
    assert str(path) in said and named in said and said.strip().count("\n") == 0
