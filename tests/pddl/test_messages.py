"""What is easily overlooked in files that people bring is named: joined marks,
characters that cannot be seen, two files in one, actions of other kinds of PDDL. Each
row: what is changed in the pair, the line, and words of the message there; no message
elsewhere sends the reader astray.
"""

from pathlib import Path

import pytest

from pddlego_local.core.nouns import PlanResult
from pddlego_local.pddl.check import check, explain
from tests.pddl.test_check_agrees import disagreements
from tests.pddlego import Pddlego
from tests.tables import table

CASES = table(__file__)

DOMAIN = """(define (domain d) (:requirements :strips :typing)
 (:types t1 t2)
 (:constants k - t1)
 (:predicates (p ?x - t1) (q ?x - t1 ?y - t2) (done))
 (:action a :parameters (?x - t1 ?y - t2)
  :precondition (and (p ?x) (q ?x ?y))
  :effect (done)))
"""
PROBLEM = """(define (problem e) (:domain d)
 (:objects o o2 - t1 r - t2)
 (:init (p o) (q o r))
 (:goal (done)))
"""
OBJECTS = "o o2 - t1 r - t2"
MARKS = CASES["marks"]
OF_FILES = [
    *CASES["of_files"],
    [
        "domain",
        "(done)))\n",
        f"(done)))\n{PROBLEM}",
        8,
        "a second `(define` begins here",
    ],
    ["problem", PROBLEM, DOMAIN, 1, "this is a domain, where the problem is expected"],
    ["domain", DOMAIN, PROBLEM, 1, "this is a problem, where the domain is expected"],
]


def pair(file: str, old: str, new: str) -> tuple[str, str]:
    texts = {"domain": DOMAIN, "problem": PROBLEM}
    assert texts[file].count(old) == 1
    texts[file] = texts[file].replace(old, new)
    return texts["domain"], texts["problem"]


@pytest.mark.parametrize(("file", "old", "new", "line", "words"), MARKS + OF_FILES)
def test_what_is_wrong_is_named_where_it_stands(
    file: str, old: str, new: str, line: int, words: str
) -> None:
    found = check(*pair(file, old, new))
    every = [str(fault) for fault in found.faults]
    here = f"{file} line {line}, "
    assert any(said.startswith(here) and words in said for said in every), every
    assert len(every) == len(set(every))
    assert not any("add it to" in message or "add `(" in message for message in every)
    assert all(character.isprintable() for message in every for character in message)
    if [file, old, new, line, words] in OF_FILES:
        assert len([fault for fault in found.faults if fault.kind != "warning"]) == 1


def test_the_planner_agrees() -> None:
    assert disagreements(pair(*row[:3]) for row in MARKS + OF_FILES) == []


def test_right_files_with_such_characters_in_comments_have_no_fault() -> None:
    assert check(
        f"; a, b: \ufeff\u00a0\n{DOMAIN}", f"{PROBLEM}; (define, \u200b"
    ) == check(DOMAIN, PROBLEM)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("command", ["check", "plan"])
def test_utf_16_is_told_in_one_sentence(
    command: str, encoding: str, tmp_path: Path, pddlego: Pddlego
) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAIN, encoding="utf-8")
    (tmp_path / "problem.pddl").write_bytes(PROBLEM.encode(encoding))
    output = pddlego(
        command, tmp_path / "domain.pddl", tmp_path / "problem.pddl", code=1
    ).out
    assert output.count("the file is UTF-16") == 1
    assert output.count("problem line") == 1


def test_plan_and_the_feedback_to_models_name_it_too(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    domain, problem = pair("problem", OBJECTS, "o, o2 - t1 r - t2")
    files = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    files[0].write_text(domain, encoding="utf-8")
    files[1].write_text(problem, encoding="utf-8")
    output = pddlego("plan", *files, code=1).out
    refused = PlanResult("translate_error", (), "Undefined object", 0)
    for told in (output, explain(domain, problem, refused)):
        assert "declared as `o,`: leave out the comma" in told


DERIVED = DOMAIN.replace("(done))\n", "(done) (near ?x - t1 ?y - t1))\n {}\n")
RULE = "(:derived {} (exists (?v - t1) (p ?v)))"
HEADS = {"(near)": False, "(near ?a - t1)": False, "(near ?a ?b ?c - t1)": True}


@pytest.mark.parametrize(("head", "accepted"), [*HEADS.items(), ("(far ?a)", True)])
def test_a_derived_head_is_to_be_declared_so(head: str, accepted: bool) -> None:
    found = check(DERIVED.format(RULE.format(head)), PROBLEM)
    assert any("derived" in each.message and each.line == 5 for each in found.faults)
    assert found.accepted is accepted


def test_derived_predicates_are_judged_as_the_planner_does() -> None:
    heads = ("(near ?a ?b - t1)", "(near ?a ?b - t2)", "(near ?a ?b - t9)")
    odd_heads = ("(= ?a ?b)", "(p ?x - t1)", "(and)", "near", "(near k ?b)")
    domains = [DERIVED.format(RULE.format(head)) for head in heads + odd_heads]
    pairs = [(domain, PROBLEM) for domain in domains]
    right, stated = domains[0], PROBLEM.replace("(p o)", "(p o) (near o o2)")
    changed = right.replace(":effect (done)", ":effect (and (done) (near ?x ?x))")
    pairs += [(right, stated), (changed, PROBLEM)]
    near = PROBLEM.replace("(:goal (done))", "(:goal (near o o2))")
    pairs += [(DERIVED.format(RULE.format(head)), near) for head in HEADS]
    assert disagreements(pairs) == []
