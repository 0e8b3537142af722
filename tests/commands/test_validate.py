"""`pddlego validate`, and the tools for coding agents, asked by the SDK's own
client.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from pddlego_local.commands.validate import why_invalid
from pddlego_local.core.errors import ConfigError
from pddlego_local.pddl.check import check
from tests.commands.test_cli import DOMAIN, PROBLEM, UNDECLARED
from tests.pddlego import Pddlego
from tests.tables import table

CASES = table(__file__)

GO = "(Go Kitchen Hall)"


def written(folder: Path, problem: str, plan: str) -> list[Path]:
    paths = [folder / name for name in ("domain.pddl", "problem.pddl", "plan")]
    for path, text in zip(paths, (DOMAIN, problem, plan), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize(
    ("plan", "code", "said"),
    CASES["a_plan_is_judged_action_by_action"],
)
def test_a_plan_is_judged_action_by_action(
    tmp_path: Path, pddlego: Pddlego, plan: str, code: int, said: str
) -> None:
    paths = written(tmp_path, UNDECLARED if said == "Cellar" else PROBLEM, plan)
    assert said in "".join(pddlego("validate", *paths, code=code))


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("printf '\\377 Plan valid'", "VAL says: valid"),
        ("echo Plan invalid", "VAL says: not valid"),
        ("exec sleep 60", "VAL says: nothing within 0.1 seconds"),
    ],
)
def test_val_is_a_second_judge_who_does_not_change_the_verdict(
    tmp_path: Path,
    pddlego: Pddlego,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    said: str,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(
        "pddlego_local.commands.validate.VAL_LIMIT_S", 0.1 if "sleep" in program else 60
    )
    (tmp_path / "Validate").write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
    (tmp_path / "Validate").chmod(0o755)
    paths = written(tmp_path, PROBLEM, GO)
    assert f"The plan is valid.\n{said}\n" in pddlego("validate", *paths).out


COSTS = """(define (domain trips) (:requirements :typing :action-costs)
 (:types place) (:predicates (at ?p - place)) (:functions (length ?a ?b - place)
 (total-cost))
 (:action go :parameters (?a ?b - place) :precondition (at ?a)
  :effect (and (not (at ?a)) (at ?b) (increase (total-cost) (length ?a ?b)))))"""
TRIP = """(define (problem trip) (:domain trips) (:objects a b c - place)
 (:init (at a) (= (total-cost) 0) (= (length a b) 3) (= (length b c) 4)) (:goal (at c))
 (:metric minimize (total-cost)))"""


def test_the_error_is_named_and_not_a_warning_before_it() -> None:
    warned = COSTS.replace("(at ?p - place)", "(at ?p - place) (at ?p - place)")
    wrong = TRIP.replace("(:goal (at c))", "(:goal (at d))")
    assert check(warned, wrong).faults[0].kind == "warning"
    with pytest.raises(
        ConfigError, match="refuse the files: problem line 2, column 85: `d`"
    ):
        why_invalid(warned, wrong, [])


def test_an_action_whose_cost_has_no_value_cannot_be_carried_out() -> None:
    assert why_invalid(COSTS, TRIP, ["go a b", "go b c"]) == ""
    assert why_invalid(COSTS, TRIP, ["go a c"]).endswith("(length a c) has no value.")


async def answers_to(
    calls: list[tuple[str, dict[str, Any]]],
) -> list[dict[str, Any]]:
    """What the tools answer to the SDK's own client."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "pddlego_local", "mcp"]
    )
    answers = []
    async with Client(server) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {name for name, _ in calls}
        for name, arguments in calls:
            answer: Any = await client.call_tool(name, arguments)
            answers.append(json.loads(answer.content[0].text))
    return answers


def test_an_agent_checks_plans_and_validates() -> None:
    files = {"domain": DOMAIN, "problem": PROBLEM}
    checked, planned, no_time, invalid, no_plan, unknown = asyncio.run(
        answers_to(
            [
                ("check_pddl", {**files, "problem": UNDECLARED}),
                ("plan_pddl", files),
                ("plan_pddl", {**files, "cpu_seconds": -1}),
                ("validate_plan", {**files, "plan": "(go hall kitchen)"}),
                ("validate_plan", {**files, "plan": "go hall kitchen"}),
                ("formalize", {"text": "A block.", "model": "nowhere/model"}),
            ]
        )
    )
    assert checked["accepted"] is False
    assert "Cellar" in checked["faults"][0]
    assert planned["plan"] == [GO]
    assert "cpu_s=-1" in no_time["message"]
    assert invalid["valid"] is False
    assert "(at hall)" in invalid["why_not"]
    assert no_plan["valid"] is None
    assert unknown["outcome"] == "refused"
    assert "nowhere/model" in unknown["message"]


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, pddlego: Pddlego
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert "pip install 'pddlego_local[mcp]'" in pddlego("mcp", code=3).err
    told = pddlego("mcp", "--help").out
    tools = "check_pddl, plan_pddl, validate_plan, formalize"
    assert tools in " ".join(told.split())
