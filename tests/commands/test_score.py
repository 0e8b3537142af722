"""`pddlego score`: answers of others, line by line."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.cli import run
from pddlego_local.planner import FastDownward, Limits
from tests.commands.test_cli import DOMAIN, PROBLEM, UNDECLARED, UNSOLVABLE
from tests.commands.test_mcp import ENDLESS

GOLD = {"domain": DOMAIN, "problem": PROBLEM}


def answered(*files: str) -> str:
    return json.dumps(dict(zip(("df", "pf"), files, strict=True)))


@pytest.fixture
def scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def score(*lines: object) -> tuple[int, list[dict[str, Any]], str]:
        path = tmp_path / "answers.jsonl"
        path.write_text(
            "\n".join(
                one if isinstance(one, str) else json.dumps(one) for one in lines
            ),
            encoding="utf-8",
        )
        code = run(["score", str(path)])
        told = capsys.readouterr()
        return code, [json.loads(line) for line in told.out.splitlines()], told.err

    return score


def test_each_answer_is_read_planned_and_held_against_the_gold(scored: Any) -> None:
    fenced = f"Here it is:\n```\n{DOMAIN}\n```\nand\n```\n{PROBLEM}\n```"
    code, lines, said = scored(
        {"id": 1, "answer": answered(DOMAIN, PROBLEM), "gold": GOLD},
        {"id": 2, "answer": fenced},
        {"id": 3, "answer": answered(DOMAIN, UNDECLARED)},
        {"id": 4, "answer": answered(DOMAIN, UNSOLVABLE), "gold": GOLD},
        {"id": 5, "answer": "I cannot do that."},
        {
            "id": 6,
            "answer": json.dumps({"pf": PROBLEM}),
            "domain": DOMAIN,
            "gold": GOLD,
        },
    )
    assert code == 0 and [line["id"] for line in lines] == [1, 2, 3, 4, 5, 6]
    first, second, third, fourth, fifth, sixth = lines
    assert first["outcome"] == "solved" and first["plan"] == ["(Go Kitchen Hall)"]
    assert first["why_not_in_gold"] == ""
    assert second["df"].strip() == DOMAIN
    assert third["outcome"] == "translate_error"
    assert fourth["why_not_in_gold"] == "There is no plan."
    assert fifth["fault"] == "no_json"
    assert sixth["plan"] == first["plan"] and sixth["why_not_in_gold"] == ""
    assert "answers 6, read 5, planned 3, valid in gold 2" in said


def test_a_plan_that_is_wrong_in_the_gold_is_said_to_be(scored: Any) -> None:
    back = PROBLEM.replace(
        "(at Kitchen) (way Kitchen Hall)", "(at Hall) (way Hall Kitchen)"
    )
    back = back.replace("(:goal (at Hall))", "(:goal (at Kitchen))")
    _, (line,), _ = scored({"answer": answered(DOMAIN, back), "gold": GOLD})
    assert (
        line["plan"] == ["(Go Hall Kitchen)"] and "(at hall)" in line["why_not_in_gold"]
    )


def test_gold_files_have_the_planners_limits(
    scored: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The condition of the gold action would hold for 150 ** 5 assignments."""
    limited = partial(FastDownward, limits=Limits(cpu_s=3))
    monkeypatch.setattr("pddlego_local.commands.score.FastDownward", limited)
    domain = (
        "(define (domain big) (:predicates (q)) (:action a :parameters () :effect (q)))"
    )
    problem = "(define (problem big) (:domain big) (:init) (:goal (q)))"
    endless = {"domain": ENDLESS["domain"], "problem": ENDLESS["problem"]}
    plain = {"domain": domain, "problem": problem}
    lines = [
        {"answer": answered(domain, problem), "gold": gold} for gold in (endless, plain)
    ]
    code, (first, second), said = scored(*lines)
    assert code == 0 and first["plan"] == ["(a)"] and second["why_not_in_gold"] == ""
    assert first["why_not_in_gold"].startswith(
        "timeout: the plan was not judged, because"
    )
    assert "valid in gold 1" in said


def test_a_line_without_an_answer_is_named_and_the_others_are_judged(
    scored: Any,
) -> None:
    whole = {"answer": answered(DOMAIN, PROBLEM), "gold": GOLD}
    broken = whole | {
        "id": "b",
        "gold": {"domain": DOMAIN, "problem": "(define (problem p))"},
    }
    code, lines, said = scored(broken, '{"id": 7, "prompt": 5}', "no JSON", whole)
    assert (
        code == 2
        and lines[3]["plan"]
        and "answer: Field required" in lines[1]["unreadable"]
    )
    assert [line["id"] for line in lines] == ["b", 7, None, None]
    assert "can be judged: Invalid JSON" in lines[2]["unreadable"]
    assert "gold files" in lines[0]["unreadable"]
    assert "no `:domain`" in lines[0]["unreadable"]
    assert (
        "3 lines could not be read" in said and "line 1" in said and "answers 1" in said
    )
    assert "answers 0, read 0" in scored()[2]


ALONE = {"answer": json.dumps({"pf": PROBLEM}), "domain": DOMAIN}
OBJECTS, ACTION = "(:objects Kitchen Hall)", "(:action Go :parameters (?a ?b)"
# An answer, its rungs, and where it leaves the language of each of the others.
RUNGS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "both files": ({"answer": answered(DOMAIN, PROBLEM)}, {}),
    "both files in fences": (
        {"answer": f"Here:\n```\n{DOMAIN}\n```\nand\n```\n{PROBLEM}\n```"},
        {"syntax": "answer: after '' comes 'Here"},
    ),
    "the problem for a given domain": (ALONE, {}),
    "a predicate that the given domain lacks": (
        ALONE | {"answer": json.dumps({"pf": PROBLEM.replace("(at ", "(is-at ")})},
        {"typed": "facts: after ' (:init (' comes 'is-at "},
    ),
    "an undeclared object": (
        {"answer": answered(DOMAIN, UNDECLARED)},
        {"typed": "facts: after ' (:init (at ' comes 'cellar)"},
    ),
    "an object twice": (
        {
            "answer": answered(
                DOMAIN, PROBLEM.replace(OBJECTS, "(:objects Hall Kitchen Hall)")
            )
        },
        {"typed": "problem line 1, column 60: object `hall` is declared twice"},
    ),
    "an object of two types": (
        {
            "answer": answered(
                DOMAIN,
                PROBLEM.replace(OBJECTS, "(:objects Kitchen - object Hall - room)"),
            )
        },
        {"typed": "objects: after"},
    ),
    "an action without parameters": (
        {"answer": answered(DOMAIN.replace(ACTION, "(:action Go"), PROBLEM)},
        {"typed": "predicates: an entry contradicts"},
    ),
    "an action that is spelled as no rung spells it": (
        {
            "answer": answered(
                DOMAIN.replace(ACTION, ACTION.replace("Go", 'Go"\\')), PROBLEM
            )
        },
        {"syntax": "answer: after", "typed": "predicates: an entry contradicts"},
    ),
    "two actions": (
        {
            "answer": answered(
                DOMAIN[:-1] + DOMAIN[DOMAIN.index("(:action") :].replace("Go", "Do"),
                PROBLEM,
            )
        },
        {},
    ),
    "a text that is no PDDL": (
        {"answer": answered("(define (domain d)", PROBLEM)},
        {"syntax": "answer: after", "typed": "domain line 1, column "},
    ),
    "no answer": (
        {"answer": "I cannot do that."},
        {
            "syntax": "answer: after '' comes 'I cannot",
            "typed": "no files could be read: no_json",
        },
    ),
}


def test_each_rung_is_told_or_where_the_answer_leaves_it(scored: Any) -> None:
    _, lines, _ = scored(*(given for given, _ in RUNGS.values()))
    for (name, (_, outside)), line in zip(RUNGS.items(), lines, strict=True):
        assert line["rungs"] == [
            rung for rung in ("syntax", "typed") if rung not in outside
        ], name
        assert line["outside"].keys() == outside.keys(), name
        for rung, why in outside.items():
            assert line["outside"][rung].startswith(why), (name, line["outside"])
        if "typed" in line["rungs"]:
            assert line["outcome"] == "solved", name
