"""Every command of the README and of docs/ is run here, in small; one that no case
covers fails.

`pddlego` runs in this process, `make` in one of its own.
"""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from pddlego_local.cli import run
from tests.pddlego import exit_code
from tests.tables import table

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# The lab notes tell of commands of their time.
TEXT = "\n".join(
    page.read_text(encoding="utf-8") for page in PAGES if page.name != "lab-notes.md"
)

DOMAIN = (
    (
        "(define (domain d) (:predicates (a) (b)) (:action go :precondition (a) :effect"
        " (b)))"
    ),
    "(define (problem p) (:domain d) (:init (a)) (:goal (b)))",
)


def commands() -> list[str]:
    """The lines of their fenced blocks that begin with make or pddlego, without
    comments.
    """
    blocks = re.findall(r"^```\w*\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    inline = re.findall(r"`(make [^`]+)`", TEXT)
    lines = [line for block in blocks for line in block.splitlines()] + inline
    return list(
        dict.fromkeys(
            re.split(r"\s{2,}", line)[0]
            for line in lines
            if line.startswith(("make ", "pddlego "))
        )
    )


CASES = table(__file__, "readme_commands")
RUN_HERE = [
    command
    for command, case in CASES.items()
    if "elsewhere" not in case and not shutil.which(case.get("without", ""))
]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("played")
    assert run(["run", "games=7", "environment.rooms=5", f"run.out={out}"]) == 0
    return out


def test_each_command_of_the_pages_has_a_case_and_each_case_a_command() -> None:
    assert set(commands()) == CASES.keys()


@pytest.mark.parametrize(
    "command", RUN_HERE, ids=str
)  # long ones get no name otherwise
def test_the_pages_commands_do_what_they_say(
    tmp_path: Path,
    played: Path,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", "/nowhere")
    monkeypatch.setattr("webbrowser.open", lambda page: True)
    for name, value in {
        "COLUMNS": "200",
        "MAKEFLAGS": "",
        "HF_HUB_CACHE": "/nowhere",
    }.items():
        monkeypatch.setenv(name, value)
    for name, text in zip(("domain", "problem"), DOMAIN, strict=True):
        (tmp_path / f"{name}.pddl").write_text(text, encoding="utf-8")
    case = CASES[command]
    (cell,) = (path.parent for path in played.rglob("run.json"))
    words = shlex.split(
        case.get("run", command).format(tmp=tmp_path, played=played, cell=cell)
    )
    ended = (
        exit_code(words[1:])
        if words[0] == "pddlego"
        else subprocess.run(words).returncode
    )
    told = "".join(capfd.readouterr())
    assert ended == case.get("exit", 0), told
    assert case.get("says", "") in told
    assert "Traceback" not in told


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_links_to_is_there(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
        assert link.startswith("http") or (page.parent / link).exists(), link


def test_what_is_said_to_lie_somewhere_lies_there() -> None:
    rows = re.findall(
        r"^\| .* \| (.*) \|$",
        (ROOT / "docs/extend/code.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    paths = [
        path for row in rows for path in re.findall(r"`([^`]*[/.](?:py|yaml|)?)`", row)
    ]
    assert len(paths) > 40
    for path in paths:
        pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
        assert [*(ROOT / "pddlego_local").glob(pattern), *ROOT.glob(pattern)], path
