"""Every text is read and written as UTF-8, whatever the machine's locale is."""

import ast
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego_local.cli import run
from tests.processes import COMMAND

ROOT = Path(__file__).parents[1]
FOLDERS = ("pddlego_local", "serving", "tools", "tests", "examples", "integrations")
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def without_encoding(tree: ast.AST) -> Iterator[int]:
    """The lines of calls that would use the locale's encoding. ruff finds those of
    `open` and of paths whose type it sees (PLW1514); this finds those of every path,
    and of subprocesses.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        named = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        if "encoding" in named:
            continue
        reads_text = node.func.attr == "read_text" and not node.args
        writes_text = node.func.attr == "write_text" and len(node.args) < 2
        if reads_text or writes_text or named.get("text") == "True":
            yield node.lineno


def test_no_text_has_the_encoding_of_the_machine() -> None:
    found = []
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            found += [f"{file}:{line}" for line in without_encoding(tree)]
    assert not found


def test_a_run_does_not_depend_on_the_locale(tmp_path: Path) -> None:
    """The folder of its records has a name that ASCII cannot write. Its second part
    continues it, so the hashes of the prompts are the same under both locales.
    """
    out = tmp_path / "größe"
    words = ["run", f'run.out="{out}"', "model=reference", "environment.rooms=3"]
    assert run([*words, "games=0"]) == 0
    ended = subprocess.run(
        [*COMMAND, *words, "games=0-1"],
        env={**os.environ, **PLAIN},
        capture_output=True,
        encoding="utf-8",
    )
    assert ended.returncode == 0, ended.stderr
    (rows,) = out.rglob("episodes.jsonl")
    assert rows.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize(
    "words", [("read", "-"), ("check", "--jsonl", "-"), ("show", "größe")]
)
def test_commands_under_a_plain_locale(tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = subprocess.run(
        [*COMMAND, *words],
        cwd=tmp_path,
        env={**os.environ, **PLAIN, "PYTHONPATH": str(ROOT)},
        input='{"id": "ü", "domain": "(define (domain ü–☃))", "problem": "größe"}\n',
        capture_output=True,
        encoding="utf-8",
    )
    assert ended.returncode in (0, 1, 2) and "Traceback" not in ended.stderr
