"""`pddlego check`, `plan`, `show`: the formats and exit codes that others rely on."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.pddlego import Pddlego

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
def files(tmp_path: Path) -> Path:
    texts = {
        "domain": DOMAIN,
        "problem": PROBLEM,
        "unsolvable": UNSOLVABLE,
        "undeclared": UNDECLARED,
        "broken": BROKEN,
        "done": DONE,
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.pddl").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "problem", "code", "said"),
    [
        ("plan", "problem", 0, "(Go Kitchen Hall)"),
        ("plan", "unsolvable", 1, "unsolvable"),
        ("plan", "broken", 1, "translate_error"),
        ("plan", "done", 0, ""),
        ("check", "problem", 0, ""),
        ("check", "undeclared", 1, "Cellar"),
        ("check", "broken", 1, "problem line"),
        ("plan --search lama_first", "problem", 0, "(Go Kitchen Hall)"),
        ("plan --search astar(blind())", "problem", 0, "(Go Kitchen Hall)"),
        ("plan --search=", "problem", 0, "(Go Kitchen Hall)"),
        (
            "plan --search nonsense",
            "problem",
            2,
            "Write lama_first, or a search of Fast",
        ),
    ],
)
def test_two_files(
    files: Path, pddlego: Pddlego, command: str, problem: str, code: int, said: str
) -> None:
    given = [*command.split(), files / "domain.pddl", files / f"{problem}.pddl"]
    output = pddlego(*given, code=code)
    assert said in (output.err if code == 2 else output.out)


def lines(*problems: str) -> str:
    return "".join(
        json.dumps({"id": f"task {number}", "domain": DOMAIN, "problem": problem})
        + "\n"
        for number, problem in enumerate(problems)
    )


def answers(
    pddlego: Pddlego, folder: Path, command: str, asked: bytes | str, code: int = 0
) -> tuple[list[dict[str, Any]], str]:
    """What a command answers to JSON lines, line by line, and what it says of them."""
    (folder / "in").write_bytes(asked if isinstance(asked, bytes) else asked.encode())
    words = [*command.split(), "--jsonl", folder / "in", "--out", folder / "out"]
    said = pddlego(*words, code=code).err
    return [
        json.loads(line)
        for line in (folder / "out").read_text(encoding="utf-8").splitlines()
    ], said


def test_check_of_json_lines(tmp_path: Path, pddlego: Pddlego) -> None:
    asked = lines(PROBLEM, UNDECLARED, BROKEN)
    (good, undeclared, broken), _ = answers(pddlego, tmp_path, "check", asked)
    assert good == {"id": "task 0", "syntax": True, "symbols": True, "faults": []}
    assert (undeclared["syntax"], undeclared["symbols"]) == (True, False)
    assert (broken["syntax"], broken["symbols"]) == (False, None)
    fault = undeclared["faults"][0]
    assert set(fault) == {"kind", "file", "line", "column", "message"}
    assert (fault["file"], fault["line"]) == ("problem", 2)
    assert "Cellar" in fault["message"]


@pytest.mark.parametrize("command", ["check", "plan"])
def test_files_that_stand_in_each_others_place_are_one_question(
    files: Path, pddlego: Pddlego, command: str
) -> None:
    told = pddlego(command, files / "problem.pddl", files / "domain.pddl", code=1).out
    assert "did you swap them" in told and told.count("\n") <= 2


@pytest.mark.parametrize("command", ["check", "plan", "plan --workers 2"])
def test_a_line_that_cannot_be_read_has_its_fault_and_the_others_their_verdicts(
    tmp_path: Path, pddlego: Pddlego, command: str
) -> None:
    bad = '{\n\n[1]\n{"id": 7, "domain": ""}\n'
    asked = lines(PROBLEM, DONE, BROKEN) + bad + lines(PROBLEM)
    found, told = answers(pddlego, tmp_path, command, asked, code=2)
    ids = ["task 0", "task 1", "task 2", None, None, 7, "task 0"]
    assert [answer["id"] for answer in found] == ids
    assert [answer["line"] for answer in found[3:6]] == [4, 6, 7]
    assert (
        "is not JSON" in found[3]["unreadable"]
        and '"problem"' in found[5]["unreadable"]
    )
    assert found[6].keys() == found[0].keys() and "unreadable" not in found[6]
    assert "3 lines could not be read" in told and "line 4 is not JSON" in told


def test_characters_that_are_none_pass_through(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    odd = {
        "id": "\udfff",
        "domain": DOMAIN,
        "problem": PROBLEM.replace("Hall", "\ud800é"),
    }
    second = (  # after the mark that Windows puts first
        b'\n{"domain": "\xff", "problem": ""}'
    )
    asked = b"\xef\xbb\xbf" + json.dumps(odd).encode() + second
    assert answers(pddlego, tmp_path, "check", asked)[0][0]["id"] == "\udfff"


@pytest.mark.parametrize("command", ["check --jsonl", "score"])
def test_the_input_is_never_overwritten(
    tmp_path: Path, pddlego: Pddlego, command: str
) -> None:
    (tmp_path / "in").write_text(lines(PROBLEM), encoding="utf-8")
    given = [*command.split(), tmp_path / "in", "--out", tmp_path / "in"]
    assert "name another" in pddlego(*given, code=2).err
    assert (tmp_path / "in").read_text(encoding="utf-8") == lines(PROBLEM)


@pytest.mark.parametrize("workers", ["1", "3"])
def test_plan_of_json_lines_keeps_their_order(
    tmp_path: Path, pddlego: Pddlego, workers: str
) -> None:
    asked = lines(*[PROBLEM, UNSOLVABLE, BROKEN, DONE] * 3)
    found, _ = answers(pddlego, tmp_path, f"plan --workers {workers}", asked)
    assert [answer["id"] for answer in found] == [
        f"task {number}" for number in range(12)
    ]
    outcomes = ["solved", "unsolvable", "translate_error", "goal_already_true"] * 3
    assert [answer["outcome"] for answer in found] == outcomes
    assert set(found[0]) == {"id", "outcome", "plan", "message", "wall_time_s", "cost"}
    assert [answer["cost"] for answer in found[:4]] == [1, None, None, 0]
    assert found[0]["plan"] == ["(Go Kitchen Hall)"]


def test_standard_input_and_output(
    monkeypatch: pytest.MonkeyPatch, pddlego: Pddlego
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(lines(PROBLEM)))
    assert json.loads(pddlego("check", "--jsonl", "-").out)["id"] == "task 0"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("check", "DOMAIN"),
        ("plan nowhere.pddl nowhere.pddl", "nowhere.pddl"),
        ("check --jsonl nowhere.jsonl", "nowhere.jsonl"),
        ("score nowhere.jsonl", "nowhere.jsonl: No such file"),
        ("show nowhere 1", "no such transcript"),
        (
            "rnu model=reference",
            "no command 'rnu'; did you mean run? The commands are run, report,",
        ),
        ("plan --workers 0", "'0' is not a whole number from 1 to 1,024"),
        ("plan --workers x", "'x' is not a whole number"),
        ("train foo", "choose from"),
    ],
)
def test_bad_usage_is_told_with_exit_code_2(
    pddlego: Pddlego, given: str, said: str
) -> None:
    assert said in pddlego(*given.split(), code=2).err
