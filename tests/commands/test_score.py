"""`pddlego score`: answers of others, line by line."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.planner import FastDownward, Limits
from tests.commands.test_cli import DOMAIN, PROBLEM, UNDECLARED, UNSOLVABLE
from tests.commands.test_mcp import ENDLESS
from tests.pddlego import Pddlego

GOLD = {"domain": DOMAIN, "problem": PROBLEM}
FENCED = f"Here it is:\n```\n{DOMAIN}\n```\nand\n```\n{PROBLEM}\n```"
Scored = Callable[..., list[dict[str, Any]]]


def answered(domain: str, problem: str) -> str:
    return json.dumps({"df": domain, "pf": problem})


@pytest.fixture
def scored(tmp_path: Path, pddlego: Pddlego) -> Scored:
    """Writes lines, and returns the verdicts on them. Standard error ends with
    `totals`.
    """

    def score(*lines: object, totals: str = "", code: int = 0) -> list[dict[str, Any]]:
        path = tmp_path / "answers.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(texts), encoding="utf-8")
        printed = pddlego("score", path, code=code)
        assert totals in printed.err
        return [json.loads(line) for line in printed.out.splitlines()]

    return score


def test_each_answer_is_read_planned_and_held_against_the_gold(scored: Scored) -> None:
    alone = json.dumps({"pf": PROBLEM})
    first, second, third, fourth, fifth, sixth = scored(
        {"id": 1, "answer": answered(DOMAIN, PROBLEM), "gold": GOLD},
        {"answer": FENCED},
        {"answer": answered(DOMAIN, UNDECLARED)},
        {"answer": answered(DOMAIN, UNSOLVABLE), "gold": GOLD},
        {"answer": "I cannot do that."},
        {"answer": alone, "domain": DOMAIN, "gold": GOLD},
        totals="answers 6, read 5, planned 3, valid in gold 2",
    )
    assert first["id"] == 1
    assert first["outcome"] == "solved"
    assert first["plan"] == sixth["plan"] == ["(Go Kitchen Hall)"]
    assert first["why_not_in_gold"] == sixth["why_not_in_gold"] == ""
    assert second["df"].strip() == DOMAIN
    assert third["outcome"] == "translate_error"
    assert fourth["why_not_in_gold"] == "There is no plan."
    assert fifth["fault"] == "no_json"


def test_a_plan_that_is_wrong_in_the_gold_is_said_to_be(scored: Scored) -> None:
    back = UNSOLVABLE.replace("(at Kitchen)", "(at Hall)")
    back = back.replace("(:goal (at Hall))", "(:goal (at Kitchen))")
    (verdict,) = scored({"answer": answered(DOMAIN, back), "gold": GOLD})
    assert verdict["plan"] == ["(Go Hall Kitchen)"]
    assert "(at hall)" in verdict["why_not_in_gold"]


def test_gold_files_have_the_planners_limits(
    scored: Scored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The condition of the gold action would hold for 150 ** 5 assignments."""
    limited = partial(FastDownward, limits=Limits(cpu_s=3))
    monkeypatch.setattr("pddlego_local.commands.score.FastDownward", limited)
    domain = (
        "(define (domain big) (:predicates (q)) (:action a :parameters () :effect (q)))"
    )
    problem = "(define (problem big) (:domain big) (:init) (:goal (q)))"
    plain = {"domain": domain, "problem": problem}
    endless = {"domain": ENDLESS["domain"], "problem": ENDLESS["problem"]}
    answer = answered(domain, problem)
    first, second = scored(
        {"answer": answer, "gold": endless},
        {"answer": answer, "gold": plain},
        totals="valid in gold 1",
    )
    assert first["plan"] == ["(a)"]
    assert second["why_not_in_gold"] == ""
    not_judged = "timeout: the plan was not judged, because"
    assert first["why_not_in_gold"].startswith(not_judged)


def test_a_line_without_an_answer_is_named_and_the_others_are_judged(
    scored: Scored,
) -> None:
    whole = {"answer": answered(DOMAIN, PROBLEM), "gold": GOLD}
    broken = {"domain": DOMAIN, "problem": "(define (problem p))"}
    bad_gold, bad_prompt, no_json, judged = scored(
        {**whole, "id": "b", "gold": broken},
        '{"id": 7, "prompt": 5}',
        "no JSON",
        whole,
        totals="answers 1, read 1, planned 1, valid in gold 1",
        code=2,
    )
    assert bad_gold["id"] == "b"
    assert bad_gold["line"] == 1
    assert "gold files" in bad_gold["unreadable"]
    assert "no `:domain`" in bad_gold["unreadable"]
    assert bad_prompt["id"] == 7
    assert "answer: Field required" in bad_prompt["unreadable"]
    assert "can be judged: Invalid JSON" in no_json["unreadable"]
    assert judged["plan"]
    scored(totals="answers 0, read 0")


HEAD = "(:action Go :parameters (?a ?b)"
ACTION = DOMAIN[DOMAIN.index("(:action") : -1]


@pytest.mark.parametrize(
    ("answer", "outside"),
    [
        (answered(DOMAIN, PROBLEM), {}),
        (FENCED, {"syntax": "answer: after '' comes 'Here"}),
        (
            answered(DOMAIN, UNDECLARED),
            {"typed": "facts: after ' (:init (at ' comes 'cellar)"},
        ),
        (
            answered(
                DOMAIN.replace(ACTION, ACTION + ACTION.replace("Go", "Do")), PROBLEM
            ),
            {},
        ),
        (
            answered(DOMAIN.replace(HEAD, "(:action Go"), PROBLEM),
            {"typed": "predicates: an entry contradicts"},
        ),
        (
            answered(DOMAIN.replace(HEAD, HEAD.replace("Go", 'Go"\\')), PROBLEM),
            {"syntax": "answer: after", "typed": "predicates: an entry contradicts"},
        ),
        (
            answered("(define (domain d)", PROBLEM),
            {"syntax": "answer: after", "typed": "domain line 1, column "},
        ),
        (
            "I cannot do that.",
            {
                "syntax": "answer: after '' comes 'I cannot",
                "typed": "no files could be read: no_json",
            },
        ),
    ],
)
def test_each_rung_is_told_or_where_the_answer_leaves_it(
    answer: str, outside: dict[str, str], scored: Scored
) -> None:
    (verdict,) = scored({"answer": answer})
    assert {*verdict["rungs"], *outside} == {"syntax", "typed"}
    assert verdict["outside"].keys() == outside.keys()
    for rung, why in outside.items():
        assert verdict["outside"][rung].startswith(why)
    if "typed" in verdict["rungs"]:
        assert verdict["outcome"] == "solved"


def test_a_problem_alone_may_use_what_the_given_domain_declares(scored: Scored) -> None:
    alone = json.dumps({"pf": PROBLEM})
    unknown = alone.replace("(at ", "(is-at ")
    inside, outside = scored(
        {"answer": alone, "domain": DOMAIN}, {"answer": unknown, "domain": DOMAIN}
    )
    assert inside["rungs"] == ["syntax", "typed"]
    why = "facts: after ' (:init (' comes 'is-at "
    assert outside["outside"]["typed"].startswith(why)


ENUMERATED = {"enum": [{"answer": "yes"}, {"answer": "no"}]}


@pytest.mark.parametrize(
    ("option", "language"),
    [
        ("--schema", json.dumps(ENUMERATED)),
        ("--grammar", 'start: "{" "\\"answer\\": " WORD "}"\nWORD: /"(yes|no)"/\n'),
    ],
)
def test_answers_in_a_language_are_counted_by_group(
    option: str, language: str, tmp_path: Path, pddlego: Pddlego
) -> None:
    answers = tmp_path / "answers.jsonl"
    lines = [
        {"answer": '{"answer": "yes"}', "group": "bound"},
        {"answer": '{"answer": "no"}', "group": "bound"},
        {"answer": '{"answer": "perhaps"}', "group": "free"},
        {"answer": "Yes!", "group": "free"},
    ]
    answers.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    file = tmp_path / "language"
    file.write_text(language, encoding="utf-8")
    printed = pddlego("score", answers, option, file)
    verdicts = [json.loads(line) for line in printed.out.splitlines()]
    assert [verdict["conforms"] for verdict in verdicts] == [True, True, False, False]
    assert [bool(v["why_not_conforming"]) for v in verdicts] == [False] * 2 + [True] * 2
    assert "bound: 2 of 2 answers are in the language of" in printed.err
    assert "free: 0 of 2 answers" in printed.err and "0.00 % (0.00 to 65.76)" in (
        printed.err
    )


@pytest.mark.parametrize(
    ("option", "language", "message"),
    [
        ("--schema", '{"type": 3}', "is no JSON schema"),
        ("--schema", "{", "is no JSON schema"),
        ("--grammar", "start: nowhere", "nowhere"),
    ],
)
def test_a_language_that_is_none_is_refused(
    option: str, language: str, message: str, tmp_path: Path, pddlego: Pddlego
) -> None:
    (tmp_path / "answers.jsonl").write_text("{}", encoding="utf-8")
    file = tmp_path / "language"
    file.write_text(language, encoding="utf-8")
    printed = pddlego("score", tmp_path / "answers.jsonl", option, file, code=2)
    assert message in printed.err


def test_a_schema_fetches_nothing(tmp_path: Path, pddlego: Pddlego) -> None:
    (tmp_path / "answers.jsonl").write_text('{"answer": "1"}', encoding="utf-8")
    file = tmp_path / "schema"
    file.write_text('{"$ref": "http://127.0.0.1:9/schema"}', encoding="utf-8")
    printed = pddlego("score", tmp_path / "answers.jsonl", "--schema", file)
    assert "not in it" in json.loads(printed.out)["why_not_conforming"]
