"""Planted slips: each is repaired so that the planner takes the files, and nothing else changes."""

import re
from dataclasses import astuple

import pytest

from pddlego_local.pddl.check import check
from pddlego_local.pddl.repair import repair
from tests.pddl.test_hostile_text import HOSTILE
from tests.pddl.test_static_check import (
    DOMAIN,
    EVERY_FEATURE,
    EVERY_PROBLEM,
    PROBLEM,
    SYMBOLS,
    SYNTAX,
    changed,
    with_change,
)

SLIPS = [  # (file, old, new, what a change says)
    ("problem", "hall - room)\n", "hall - room)\\n\n", "escapes"),
    ("domain", "(seen ?to)))\n", "(seen ?to))\n", "added 1 `)`"),
    ("domain", "(seen ?to)))\n", "(seen ?to))))\n", "removed 1 `)`"),
    ("problem", "(at hall))\n)", "(at hall))\n", "added 1 `)`"),
    ("problem", "(at hall))\n)", "(at hall))\n)))", "removed 2 `)`"),
    ("domain", "(:types", "(types", "renamed the section `types` to `:types`"),
    ("domain", "(:predicates", "(:predicate", "renamed the section `:predicate`"),
    ("problem", "(:objects", "(:types room)\n (:objects", "problem: moved what belongs"),
    ("problem", "(:domain rooms)", "(:requirements :typing) (:domain rooms)", "in order"),
    ("problem", "(:init", "(:objects attic - room) (:init", "joined double ones"),
    ("problem", "hall - room", "hall - chamber", "declared `chamber` under `:types`"),
    ("problem", "hall - room", "hall hall - room west", "were declared already"),
    ("domain", "west east - d", "west west - direction east - d", "declared twice"),
    ("domain", "(at ?from) (door", "(at hall) (door", "moved `hall` from `:objects`"),
    ("domain", ":effect (open ?a ?b)", ":effects (open ?a ?b)", "fields of action `push`"),
    ("domain", ":effect (open ?a ?b)", ":effect nil", "fields of action `push`"),
    ("domain", ":effect (open ?a ?b)", "", "fields of action `push`"),
    ("domain", ":effect (open ?a ?b)", ":effect (open ?a ?b) (at ?a)", "fields of action `push`"),
    ("domain", ":effect (open ?a ?b)", ":effect ((open ?a ?b))", "fields of action `push`"),
    ("domain", ":parameters (?a ?b - room)\n    :effect (open ?a ?b)",
     ":effect (open ?a ?b) :parameters (?a ?b - room)", "fields of action `push`"),
    ("problem", "(at k)\n", "(at k) (not (at k))\n", "removed `(not …)`"),
    ("problem", "(:init (at k)", "(:init (and (at k))", "removed `and`"),
]  # fmt: skip


def with_slip(file: str, old: str, new: str) -> tuple[str, str]:
    if file == "domain":
        return with_change(DOMAIN, old, new), PROBLEM
    return DOMAIN, with_change(PROBLEM, old, new)


@pytest.mark.parametrize(("file", "old", "new", "says"), SLIPS)
def test_a_slip_is_repaired_and_told(file: str, old: str, new: str, says: str) -> None:
    pair = with_slip(file, old, new)
    assert not check(*pair).accepted
    repaired = repair(*pair)
    found = check(repaired.domain, repaired.problem)
    assert found.accepted, (repaired, [str(fault) for fault in found.faults])
    assert any(says in change for change in repaired.changes), repaired.changes
    assert repair(repaired.domain, repaired.problem).changes == ()


def words(text: str) -> list[str]:
    return re.findall(r"[()]|[^\s()]+", text)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("domain", "(seen ?to)))\n", "(seen ?to))\n"),
        ("domain", "(:types", "(types"),
        ("domain", ":effect (open ?a ?b)", ":effects (open ?a ?b)"),
        ("problem", "hall - room", "hall hall - room"),
        ("problem", "(at k)\n", "(at k) (not (at k))\n"),
    ],
)
def test_the_repair_of_a_slip_undoes_it(file: str, old: str, new: str) -> None:
    repaired = repair(*with_slip(file, old, new))
    assert words(repaired.domain) == words(DOMAIN)
    assert words(repaired.problem) == words(PROBLEM)


def test_several_slips_at_once() -> None:
    domain = "(define (domain rooms) (types room kitchen direction) (predicates (at ?r - room)) " \
             "(:actions (move (:parameters (?a ?b - place)) (:preconditions (at ?a)) " \
             "(:effects (at ?b) (not (at ?a))))))"  # fmt: skip
    problem = (
        "(define (problem p) (:domain rooms) (:constants k hall - room) "
        "(:init (at k)) (:goal (at hall))"
    )
    repaired = repair(domain, problem)
    assert check(repaired.domain, repaired.problem).accepted, repaired
    assert "(and (at ?b) (not (at ?a)))" in repaired.domain
    assert "(:objects k hall - room)" in repaired.problem


@pytest.mark.parametrize(
    "pair",
    [
        (DOMAIN, PROBLEM),
        (EVERY_FEATURE, EVERY_PROBLEM),
        (DOMAIN, with_change(PROBLEM, "(at k)\n", "(at k) (at k) (not (at hall))\n")),
    ],
)
def test_accepted_files_come_back_byte_for_byte(pair: tuple[str, str]) -> None:
    assert astuple(repair(*pair))[:3] == (*pair, ())


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("domain", "(at ?from) (door", "(in ?from) (door"),  # a predicate of nowhere
        ("domain", "(at ?from) (door", "(at ?where) (door"),
        ("problem", "(:goal (at hall))", "(:goal (at attic))"),
        ("problem", "(at k)\n", "(at k k)\n"),
    ],
)
def test_what_would_have_to_be_invented_is_left(file: str, old: str, new: str) -> None:
    pair = with_slip(file, old, new)
    assert astuple(repair(*pair))[:3] == (*pair, ())


def test_no_repair_leaves_more_faults_than_there_were() -> None:
    def count(domain: str, problem: str) -> int:
        return sum(fault.kind != "warning" for fault in check(domain, problem).faults)

    for file, old, new, *_ in SYNTAX + SYMBOLS:
        assert not changed(file, old, new).accepted
        pair = with_slip(file, old, new)
        repaired = repair(*pair)
        assert count(repaired.domain, repaired.problem) <= count(*pair)
        again = repair(repaired.domain, repaired.problem)
        assert astuple(again)[:3] == (repaired.domain, repaired.problem, ())


def test_hostile_text_is_never_an_exception() -> None:
    for name, text in HOSTILE.items():
        for pair in ((text, PROBLEM), (DOMAIN, text)):
            repaired = repair(*pair)
            assert bool(repaired.changes) == ((repaired.domain, repaired.problem) != pair), name
