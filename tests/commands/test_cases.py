"""Inputs rebuilt from public reports, files and answers of models, and the right result
of each.

A folder of `cases` is one of them. `command.txt` is run in a copy of the folder, and
`right.yaml` says what must come of it:

code      the exit code, or a list of those that are right; 0 if it is left out
json      keys of the JSON object on standard output, and their values
says      regular expressions that the output must match somewhere
says_not  regular expressions that it must match nowhere
absent    files that must not exist afterwards

Tokenizers with added tokens that spell PDDL are in tests/models/test_added_tokens.py.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pddlego import Pddlego, Printed

CASES = Path(__file__).with_name("cases")
RIGHT = {"code", "json", "says", "says_not", "absent"}


def carried_out(words: list[str], codes: tuple[int, ...], pddlego: Pddlego) -> Printed:
    """Runs the command. `pddlego` runs in this process, and every other program in one
    of its own, which finds `pddlego` on its path.
    """
    if words[0] == "pddlego":
        return pddlego(*words[1:], code=codes)
    scripts = Path(sys.executable).parent
    path = os.pathsep.join([str(scripts), os.environ["PATH"]])
    ended = subprocess.run(
        words, env={**os.environ, "PATH": path}, capture_output=True, encoding="utf-8"
    )
    printed = Printed(ended.stdout, ended.stderr)
    assert ended.returncode in codes, printed
    assert "Traceback" not in ended.stderr
    return printed


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir()))
def test_a_reported_case_has_the_right_result(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pddlego: Pddlego
) -> None:
    folder = shutil.copytree(CASES / name, tmp_path / name)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    right: dict[str, Any] = yaml.safe_load(Path("right.yaml").read_text("utf-8"))
    assert right.keys() <= RIGHT
    code = right.get("code", 0)
    codes = tuple(code) if isinstance(code, list) else (code,)
    words = shlex.split(Path("command.txt").read_text("utf-8"))

    printed = carried_out(words, codes, pddlego)

    if "json" in right:
        found = json.loads(printed.out)
        for key, value in right["json"].items():
            assert str(found.get(key)).strip() == str(value).strip(), key
    said = printed.out + printed.err
    for pattern in right.get("says", ()):
        assert re.search(pattern, said), said
    for pattern in right.get("says_not", ()):
        assert not re.search(pattern, said), said
    for file in right.get("absent", ()):
        assert not Path(file).exists()
