"""What cannot be written where a command is told to write is one sentence and exit code
3.
"""

from pathlib import Path

import pytest

from tests.commands.test_cli import DOMAIN, PROBLEM, lines
from tests.pddlego import Pddlego
from tests.planted import WON, plant
from tests.processes import finish, start

WRITING = {
    "run": "run model=reference games=1 run.out={out}",
    "sweep": "run -m model=reference games=1 seed=0,1 run.out={out}",
    "report": "report {runs} --out {out}",
    "report without pages": "report {runs} --out {out} --without-pages",
    "export": "export {runs} --out {out}/calls.csv",
    "check": "check {domain} {problem} --out {out}/verdicts",
    "check of lines": "check --jsonl {lines} --out {out}/verdicts",
    "plan": "plan {domain} {problem} --out {out}/plans",
}


@pytest.fixture
def words(tmp_path: Path) -> dict[str, Path]:
    plant(tmp_path / "runs", outcomes={1: WON})
    (tmp_path / "runs" / "file").touch()
    for name, text in {
        "domain": DOMAIN,
        "problem": PROBLEM,
        "lines": lines(PROBLEM),
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / name for name in ("runs", "domain", "problem", "lines")}


@pytest.mark.parametrize(
    ("command", "out"),
    [(name, "below a file") for name in WRITING]
    + [("run", out) for out in ("x" * 300, "/proc/nothing", "/dev/null")],
)
def test_an_output_that_cannot_be(
    words: dict[str, Path], command: str, out: str, pddlego: Pddlego
) -> None:
    place = words["domain"] / "out" if out == "below a file" else words["runs"] / out
    given = [word.format(out=place, **words) for word in WRITING[command].split()]
    told = pddlego(*given, code=3).err
    assert "Traceback" not in told
    assert "out" in told or str(place)[:20] in told


@pytest.mark.parametrize(
    "device", ["/dev/full", "/proc/self/mem"]
)  # no room; an I/O error
def test_a_disk_that_fails_amid_a_file(words: dict[str, Path], device: str) -> None:
    code, told = finish(start("check", "--jsonl", str(words["lines"]), "--out", device))
    assert code == 3
    assert told.startswith("pddlego: [Errno")
    assert "then rerun the command" in told
    assert "Traceback" not in told
