"""`pddlego mcp`: serves PDDL tools to coding agents, with the Model Context Protocol on
stdio.

The tools do what the commands of the same names do, with the same texts. Each request
is carried out in a process of its own, which imports this module. It ends at the
planner's limits, and when the client cancels the request or goes away.
"""

import argparse
import asyncio
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

from pddlego_local.api.paths import refuse_paths
from pddlego_local.commands.validate import judge
from pddlego_local.core.confined import ConfinedPool, Exceeded
from pddlego_local.core.errors import ConfigError, MissingPart, PddlegoError
from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward, Limits
from pddlego_local.runner.clear_errors import clear_errors

BY_DEFAULT = Limits()
MOST_FOR_A_PLAN = Limits(cpu_s=600)
T = TypeVar("T")
TOOLS = ("check_pddl", "plan_pddl", "validate_plan", "formalize")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        'In a client\'s configuration: {"command": "pddlego", "args": ["mcp"]}. '
        f"Tools: {', '.join(TOOLS)}."
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Serves until standard input closes. Raises MissingPart without the extra
    `mcp`.
    """
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise MissingPart(
            "pddlego mcp needs the package mcp: run `pip install 'pddlego_local[mcp]'`"
        ) from error
    server = MCPServer("pddlego")
    with ConfinedPool([checked.__module__]) as processes:
        tools = Tools(processes)
        for name in TOOLS:
            server.tool()(getattr(tools, name))
        server.run("stdio")
    return 0


@dataclass(frozen=True)
class Failed:
    """A request has no result: its outcome, and why."""

    outcome: str
    why: str


class Tools:
    """The tools. Their names, parameters and docstrings are what an agent sees."""

    def __init__(self, processes: ConfinedPool) -> None:
        self._processes = processes
        self._at_once = asyncio.Semaphore(max(2, len(os.sched_getaffinity(0))))

    async def check_pddl(self, domain: str, problem: str) -> dict[str, Any]:
        """Checks the text of a PDDL domain and of a problem for it, without planning.
        `accepted` says whether Fast Downward's translator would take them; `faults` say
        what is wrong, where, and what to write instead. If the check needs more than 60
        seconds of CPU time or 2 GiB, `accepted` is null and `outcome` is timeout or
        out_of_memory.
        """
        found = await self._ask(checked, domain, problem)
        if isinstance(found, Failed):
            return {"accepted": None, "outcome": found.outcome, "faults": [found.why]}
        return found

    async def plan_pddl(
        self, domain: str, problem: str, cpu_seconds: float = 60
    ) -> dict[str, Any]:
        """Plans with Fast Downward, a shortest plan where its search allows that.
        `cpu_seconds` is CPU time, at most 600. `outcome` is solved, goal_already_true,
        unsolvable, translate_error, timeout, out_of_memory, or refused if the request
        could not be carried out.
        """
        found = await self._ask(
            planned, domain, problem, cpu_seconds, limits=MOST_FOR_A_PLAN
        )
        if isinstance(found, Failed):
            return {"outcome": found.outcome, "plan": [], "message": found.why}
        return found

    async def validate_plan(
        self, domain: str, problem: str, plan: str | list[str] | dict[str, Any]
    ) -> dict[str, Any]:
        """Simulates a plan: a text with an action such as "(move a b)" on each line, a
        list of such actions, or what plan_pddl returned. `valid` says whether it
        reaches the goal, `why_not` which action cannot be carried out and why. `valid`
        is null if the plan cannot be judged; `why_not` then says what is wrong with the
        texts. If judging needs more than 60 seconds of CPU time or 2 GiB, `outcome` is
        timeout or out_of_memory.
        """
        found = await self._ask(judged, domain, problem, plan)
        if isinstance(found, Failed):
            return {"valid": None, "outcome": found.outcome, "why_not": found.why}
        return {"valid": not found, "why_not": found}

    async def formalize(
        self, text: str, model: str, domain: str = ""
    ) -> dict[str, Any]:
        """Lets a local language model write PDDL for a planning problem that is
        described in words, and plans with it. `model` is a name that `pddlego doctor`
        lists, or a model folder; `domain` is the text of a PDDL domain, if there is one
        already.
        """
        found = await self._ask(formalized, text, model, domain, limits=None)
        if isinstance(found, Failed):
            return {"outcome": found.outcome, "message": found.why}
        return found

    async def _ask(
        self,
        work: Callable[..., T],
        *arguments: Any,
        limits: Limits | None = BY_DEFAULT,
    ) -> T | Failed:
        """Carries work out in a process, and ends the process if the request is
        cancelled.
        """
        within = limits.in_full if limits else {}
        async with self._at_once:
            process = self._processes.take()
            try:
                asking = partial(process.ask, work, *arguments, **within)
                return await asyncio.to_thread(asking)
            except asyncio.CancelledError:
                process.close()
                raise
            except Exceeded as limit:
                why = f"The request was ended, because {limit}."
                return Failed(limit.outcome, why)
            except PddlegoError as error:
                return Failed("refused", str(error))
            finally:
                self._processes.give_back(process)


# The work of the tools, in the other process.


def checked(domain: str, problem: str) -> dict[str, Any]:
    refuse_paths(domain=domain, problem=problem)
    found = check(domain, problem)
    faults = [str(fault) for fault in found.faults]
    return {"accepted": found.accepted, "faults": faults}


def planned(domain: str, problem: str, cpu_seconds: float) -> dict[str, Any]:
    refuse_paths(domain=domain, problem=problem)
    with clear_errors("seconds"):
        limits = Limits(cpu_s=min(cpu_seconds, MOST_FOR_A_PLAN.cpu_s))
    with FastDownward(limits=limits) as planner:
        return asdict(planner.plan(domain, problem))


def judged(domain: str, problem: str, plan: str | list[str] | dict[str, Any]) -> str:
    text = text_of_plan(plan)
    refuse_paths(domain=domain, problem=problem, plan=text)
    return judge(domain, problem, text)


def formalized(text: str, model: str, domain: str) -> dict[str, Any]:
    from pddlego_local.api import library  # slow to import

    return asdict(library.formalize(text, model, domain=domain))


def text_of_plan(plan: str | list[str] | dict[str, Any]) -> str:
    """Returns an action on each line. Raises ConfigError for an object without a
    plan.
    """
    if isinstance(plan, dict):
        if not isinstance(plan.get("plan"), str | list):
            raise ConfigError('plan: the object has no "plan" with a list of actions')
        plan = plan["plan"]
    return plan if isinstance(plan, str) else "\n".join(map(str, plan))
