"""How lines of code are counted, and what happens above a budget."""

import re
import subprocess
from pathlib import Path

import pytest

from tools import lines

FILE = '''"""A module.

With a docstring of three lines."""

import re  # counts, and so does each line of what follows


def shown(
    text: str,
) -> str:
    """Not this line."""
    # nor this one
    return f"""{text}

    """
'''


def test_blank_lines_comments_and_docstrings_are_no_code() -> None:
    assert lines.code_lines(FILE) == 7
    assert lines.code_lines("") == lines.code_lines("# only a comment\n") == 0


def test_parts_are_counted_apart_and_only_what_git_tracks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("pddlego_local/a.py", "serving/b.py", "tests/c.py", "tools/lines.py", "d.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a = 1\n")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "pddlego_local", "serving", "tests"], cwd=tmp_path, check=True)
    assert lines.counted(tmp_path) == {"product": 2, "tests": 1}
    monkeypatch.setattr(lines, "__file__", str(tmp_path / "tools/lines.py"))
    assert lines.main() == 0
    monkeypatch.setitem(lines.BUDGETS, "product", 1)
    assert lines.main() == 1
    assert "product: 2 lines of code of 1, 1 too many" in capsys.readouterr().out


def test_no_link_is_tracked() -> None:
    """A link to an environment would hold a path of one machine, and replace the environment."""
    root = Path(__file__).parents[1]
    listed = subprocess.check_output(["git", "ls-files", "--stage"], cwd=root, text=True)
    assert listed and "120000" not in {line[:6] for line in listed.splitlines()}


def test_the_page_on_integrations_counts_their_lines() -> None:
    root = Path(lines.__file__).parents[1]
    page = (root / "docs/use/integrations.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| \[`(\w+)`\]\S+ \| [^|]+ \| (\d+) \|", page, re.MULTILINE)
    assert len(told) == 4
    for name, count in told:
        files = set((root / "integrations" / name).rglob("*.py"))
        own = [
            file
            for file in files
            if not file.name.startswith("test_") and "build" not in file.parts
        ]
        assert sum(lines.code_lines(file.read_text("utf-8")) for file in own) == int(count), name
