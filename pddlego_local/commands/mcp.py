"""`pddlego mcp`: serves PDDL tools to coding agents, with the Model Context Protocol on stdio.

The tools call the library's functions, so an agent gets the same texts as a user.
"""

import argparse
from dataclasses import asdict
from typing import Any

from pddlego_local.commands import library
from pddlego_local.commands.validate import actions_of, why_invalid
from pddlego_local.core.errors import MissingPart, PddlegoError

MOST_PLAN_CPU_S = 600


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        'In a client\'s configuration: {"command": "pddlego", "args": ["mcp"]}. '
        f"Tools: {', '.join(tool.__name__ for tool in TOOLS)}."
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Serves until standard input closes. Raises MissingPart without the extra `mcp`."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise MissingPart(
            "pddlego mcp needs the package mcp: run `pip install 'pddlego_local[mcp]'`"
        ) from error
    server = MCPServer("pddlego")
    for tool in TOOLS:
        server.tool()(tool)
    server.run("stdio")
    return 0


def check_pddl(domain: str, problem: str) -> dict[str, Any]:
    """Checks the text of a PDDL domain and of a problem for it, without planning. `accepted` says
    whether Fast Downward's translator would take them; `faults` say what is wrong, where, and what
    to write instead."""
    found = library.check(domain, problem)
    return {"accepted": found.accepted, "faults": [str(fault) for fault in found.faults]}


def plan_pddl(domain: str, problem: str, cpu_seconds: float = 60) -> dict[str, Any]:
    """Plans with Fast Downward, a shortest plan where its search allows that. `cpu_seconds` is CPU
    time, at most 600. `outcome` is solved, goal_already_true, unsolvable, translate_error, timeout,
    out_of_memory, or refused if the request could not be carried out."""
    try:
        return asdict(library.plan(domain, problem, min(cpu_seconds, MOST_PLAN_CPU_S)))
    except PddlegoError as error:
        return {"outcome": "refused", "message": str(error)}


def validate_plan(domain: str, problem: str, plan: str) -> dict[str, Any]:
    """Simulates a plan, an action such as "(move a b)" on each line. `valid` says whether it
    reaches the goal, `why_not` which action cannot be carried out and why. `valid` is null if the
    plan cannot be judged; `why_not` then says what is wrong with the texts."""
    try:
        fault = why_invalid(domain, problem, actions_of(plan))
    except PddlegoError as error:
        return {"valid": None, "why_not": str(error)}
    return {"valid": not fault, "why_not": fault}


def formalize(text: str, model: str, domain: str = "") -> dict[str, Any]:
    """Lets a local language model write PDDL for a planning problem that is described in words, and
    plans with it. `model` is a name that `pddlego doctor` lists, or a model folder; `domain` is the
    text of a PDDL domain, if there is one already."""
    try:
        return asdict(library.formalize(text, model, domain=domain))
    except PddlegoError as error:
        return {"outcome": "refused", "message": str(error)}


TOOLS = (check_pddl, plan_pddl, validate_plan, formalize)
