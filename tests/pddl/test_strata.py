"""Derived predicates that depend on their own negation: the check says what the planner
says.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from pddlego_local.commands.validate import why_invalid
from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward

CASES: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("strata.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    ("accepted", "row"),
    [
        (kind == "accepted", row)
        for kind in ("accepted", "refused")
        for row in CASES[kind]
    ],
)
def test_it_is_the_planners_verdict(
    accepted: bool, row: list[str], planner: FastDownward
) -> None:
    domain, problem = CASES["domain"].format(*row[:3]), CASES["problem"].format(row[3])
    result, found = planner.plan(domain, problem), check(domain, problem)
    assert (result.outcome != "translate_error") is accepted, result.message
    assert found.accepted is accepted
    said = [str(fault) for fault in found.faults if fault.kind != "warning"]
    assert accepted or ("domain line 2" in said[0] and "its own negation" in said[0])
    if result.plan:
        assert why_invalid(domain, problem, [step[1:-1] for step in result.plan]) == ""
