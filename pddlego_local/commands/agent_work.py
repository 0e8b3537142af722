"""The work of the tools for coding agents, which `core.confined` carries out in another
process.

This module imports little, so that such a process starts soon.
"""

from dataclasses import asdict
from typing import Any

from pddlego_local.commands.validate import judge
from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward, Limits


def checked(domain: str, problem: str) -> dict[str, Any]:
    found = check(domain, problem)
    return {
        "accepted": found.accepted,
        "faults": [str(fault) for fault in found.faults],
    }


def judged(domain: str, problem: str, plan: str) -> str:
    return judge(domain, problem, plan)


def planned(domain: str, problem: str, cpu_s: float) -> dict[str, Any]:
    with FastDownward(limits=Limits(cpu_s=cpu_s)) as planner:
        return asdict(planner.plan(domain, problem))


def formalized(text: str, model: str, domain: str) -> dict[str, Any]:
    from pddlego_local.api import library  # slow to import

    return asdict(library.formalize(text, model, domain=domain))
