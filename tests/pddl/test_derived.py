"""Derived predicates that depend on their own negation: the check warns of each that
the planner refuses, and the judge agrees about those that the planner accepts.
"""

from pathlib import Path
from typing import Any

import yaml

from pddlego_local.commands.validate import why_invalid
from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward

CASES: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("derived.yaml").read_text(encoding="utf-8")
)


def test_what_the_planner_refuses_is_warned_of(planner: FastDownward) -> None:
    for row in CASES["refused"]:
        domain, problem = pair(row)
        assert planner.plan(domain, problem).outcome == "translate_error"
        faults = check(domain, problem).faults
        assert {(fault.kind, fault.line) for fault in faults} == {("warning", 2)}
        assert "its own negation" in faults[0].message


def test_what_the_planner_accepts_is_judged_as_it_does(planner: FastDownward) -> None:
    for row in CASES["accepted"]:
        domain, problem = pair(row)
        result = planner.plan(domain, problem)
        assert result.outcome in ("solved", "unsolvable"), result.message
        assert check(domain, problem).accepted
        plan = [step[1:-1] for step in result.plan]
        assert (why_invalid(domain, problem, plan) == "") is bool(plan)


def pair(row: list[str]) -> tuple[str, str]:
    rules, precondition, effect, facts = row
    domain = CASES["domain"].format(rules, precondition, effect)
    return domain, CASES["problem"].format(facts)
