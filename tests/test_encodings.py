"""Every text is read and written as UTF-8, whatever the machine's locale is."""

import ast
import itertools
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

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
        named = {keyword.arg for keyword in node.keywords}
        switches = [
            one for one in node.keywords if one.arg in ("text", "universal_newlines")
        ]
        on = any(ast.unparse(one.value) == "True" for one in switches)
        if on and "encoding" not in named:
            yield node.lineno
        most = {"read_text": 0, "write_text": 1}.get(node.func.attr)
        if most is not None and len(node.args) <= most and "encoding" not in named:
            yield node.lineno


def test_no_text_has_the_encoding_of_the_machine() -> None:
    files = itertools.chain(*((ROOT / folder).rglob("*.py") for folder in FOLDERS))
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in files
        for line in without_encoding(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert not found


def test_what_the_check_finds() -> None:
    wrong = "p.read_text(); p.write_text('x'); subprocess.run(c, text=True)"
    right = "p.read_text('utf-8'); p.write_text('x', encoding='utf-8'); p.read_bytes()"
    assert [
        len(list(without_encoding(ast.parse(text)))) for text in (wrong, right)
    ] == [3, 0]


def test_a_run_does_not_depend_on_the_locale(tmp_path: Path) -> None:
    """The folder of its records has a name that ASCII cannot write. Its second part
    continues it, so the hashes of the prompts are the same under both locales.
    """
    out = tmp_path / "größe"
    words = [
        *COMMAND,
        "run",
        f'run.out="{out}"',
        "model=reference",
        "environment.rooms=3",
    ]
    for locale, games in (({}, "0"), (PLAIN, "0-1")):
        ended = subprocess.run(
            [*words, f"games={games}"],
            env={**os.environ, **locale},
            capture_output=True,
            encoding="utf-8",
        )
        assert ended.returncode == 0, ended.stderr
    (rows,) = out.rglob("episodes.jsonl")
    assert len(rows.read_text(encoding="utf-8").splitlines()) == 2


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
