"""`pddlego check`, `plan`, `show`: the formats and exit codes that others rely on."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pddlego import Pddlego
from tests.tables import table

CASES = table(__file__)

DOMAIN = (
    "(define (domain House) (:requirements :strips) (:predicates (at ?p) (way ?a ?b))\n"
    "(:action Go :parameters (?a ?b) :precondition (and (at ?a) (way ?a ?b))\n"
    " :effect (and (not (at ?a)) (at ?b))))"
)
PROBLEM = (
    "(define (problem p) (:domain House) (:objects Kitchen Hall)\n"
    "(:init (at Kitchen) (way Kitchen Hall)) (:goal (at Hall)))"
)
UNSOLVABLE = PROBLEM.replace("(way Kitchen Hall)", "(way Hall Kitchen)")
UNDECLARED = PROBLEM.replace("(at Kitchen)", "(at Cellar)")
BROKEN = PROBLEM[:-3]
DONE = PROBLEM.replace("(:goal (at Hall))", "(:goal (at Kitchen))")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the working folder one that holds these files."""
    monkeypatch.chdir(tmp_path)
    texts = {
        "domain": DOMAIN,
        "problem": PROBLEM,
        "unsolvable": UNSOLVABLE,
        "undeclared": UNDECLARED,
        "broken": BROKEN,
        "done": DONE,
    }
    for name, text in texts.items():
        Path(f"{name}.pddl").write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("command", "problem", "code", "said"),
    CASES["two_files"],
)
def test_two_files(
    pddlego: Pddlego, command: str, problem: str, code: int, said: str
) -> None:
    words = [*command.split(), "domain.pddl", f"{problem}.pddl"]
    output = pddlego(*words, code=code)
    assert said in (output.err if code == 2 else output.out)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", ["check", "plan"])
def test_files_that_stand_in_each_others_place_are_one_question(
    pddlego: Pddlego, command: str
) -> None:
    told = pddlego(command, "problem.pddl", "domain.pddl", code=1).out
    assert "did you swap them" in told
    assert told.count("\n") <= 2


def lines(*problems: str) -> str:
    """The JSON lines of these tasks."""
    found = ""
    for number, problem in enumerate(problems):
        task = {"id": f"task {number}", "domain": DOMAIN, "problem": problem}
        found += json.dumps(task) + "\n"
    return found


def answers(
    pddlego: Pddlego, folder: Path, command: str, asked: str, code: int = 0
) -> tuple[list[dict[str, Any]], str]:
    """What a command answers to JSON lines, line by line, and what it says of them."""
    given, written = folder / "in", folder / "out"
    given.write_text(asked, encoding="latin-1")
    words = [*command.split(), "--jsonl", given, "--out", written]
    said = pddlego(*words, code=code).err
    output = written.read_text(encoding="utf-8")
    return [json.loads(line) for line in output.splitlines()], said


def test_check_of_json_lines(tmp_path: Path, pddlego: Pddlego) -> None:
    asked = lines(PROBLEM, UNDECLARED, BROKEN)
    found, _ = answers(pddlego, tmp_path, "check", asked)
    good, undeclared, broken = found
    assert good == {"id": "task 0", "syntax": True, "symbols": True, "faults": []}
    assert undeclared["syntax"] is True
    assert undeclared["symbols"] is False
    assert broken["syntax"] is False
    assert broken["symbols"] is None
    (fault,) = undeclared["faults"]
    assert set(fault) == {"kind", "file", "line", "column", "message"}
    assert fault["file"] == "problem"
    assert fault["line"] == 2
    assert "Cellar" in fault["message"]


UNREADABLE = '{\n\n[1]\n{"id": 7, "domain": ""}\n'


@pytest.mark.parametrize("command", ["check", "plan", "plan --workers 2"])
def test_a_line_that_cannot_be_read_has_its_fault_and_the_others_their_verdicts(
    tmp_path: Path, pddlego: Pddlego, command: str
) -> None:
    asked = lines(PROBLEM, BROKEN) + UNREADABLE + lines(PROBLEM)
    found, said = answers(pddlego, tmp_path, command, asked, code=2)
    first, _, not_json, no_object, no_problem, last = found
    assert not_json["line"] == 3
    assert "is not JSON" in not_json["unreadable"]
    assert no_object["unreadable"] == "is not a JSON object"
    no_text = 'has no "problem" that is a string of PDDL'
    assert no_problem == {"id": 7, "line": 6, "unreadable": no_text}
    assert last.keys() == first.keys()
    assert "3 lines could not be read" in said
    assert "line 3 is not JSON" in said


def test_characters_that_are_none_pass_through(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    problem = PROBLEM.replace("Hall", "\ud800é")
    first = json.dumps({"id": "\udfff", "domain": DOMAIN, "problem": problem})
    windows_mark = "\xef\xbb\xbf"
    second = '{"domain": "\xff", "problem": ""}'  # not UTF-8
    asked = f"{windows_mark}{first}\n{second}"
    found, _ = answers(pddlego, tmp_path, "check", asked)
    assert found[0]["id"] == "\udfff"


@pytest.mark.parametrize("command", ["check --jsonl", "score"])
def test_the_input_is_never_overwritten(
    tmp_path: Path, pddlego: Pddlego, command: str
) -> None:
    file = tmp_path / "in"
    file.write_text(lines(PROBLEM), encoding="utf-8")
    words = [*command.split(), file, "--out", file]
    assert "name another" in pddlego(*words, code=2).err
    assert file.read_text(encoding="utf-8") == lines(PROBLEM)


def test_plan_of_json_lines_keeps_their_order(tmp_path: Path, pddlego: Pddlego) -> None:
    asked = lines(*[PROBLEM, UNSOLVABLE, BROKEN, DONE] * 3)
    found, _ = answers(pddlego, tmp_path, "plan --workers 3", asked)
    assert [answer["id"] for answer in found] == [f"task {n}" for n in range(12)]
    outcomes = ["solved", "unsolvable", "translate_error", "goal_already_true"] * 3
    assert [answer["outcome"] for answer in found] == outcomes
    assert [answer["cost"] for answer in found] == [1, None, None, 0] * 3
    assert found[0]["plan"] == ["(Go Kitchen Hall)"]
    assert set(found[0]) == {"id", "outcome", "plan", "message", "wall_time_s", "cost"}


@pytest.mark.parametrize(
    ("given", "said"),
    CASES["bad_usage_is_told_with_exit_code_2"],
)
def test_bad_usage_is_told_with_exit_code_2(
    pddlego: Pddlego, given: str, said: str
) -> None:
    assert said in pddlego(*given.split(), code=2).err
