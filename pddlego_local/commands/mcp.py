"""`pddlego mcp`: serves PDDL tools to coding agents, with the Model Context Protocol on
stdio.

The tools do what the commands of the same names do, with the same texts. Each request
is carried out in a process of its own. It ends at the planner's limits, and when the
client cancels the request or goes away.
"""

import argparse
import asyncio
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from pddlego_local.commands.agent_work import checked, formalized, judged, planned
from pddlego_local.commands.validate import not_judged
from pddlego_local.core.confined import ConfinedPool, Exceeded
from pddlego_local.core.errors import ConfigError, MissingPart, PddlegoError
from pddlego_local.pddl.paths import path_in_place_of_text
from pddlego_local.planner import Limits
from pddlego_local.runner.clear_errors import clear_errors

MOST_PLAN_CPU_S = 600
BY_DEFAULT = Limits()


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
    with ConfinedPool([judged.__module__]) as processes:
        tools = Tools(processes)
        for name in TOOLS:
            server.tool()(getattr(tools, name))
        server.run("stdio")
    return 0


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
        try:
            refuse_paths(domain=domain, problem=problem)
            found: dict[str, Any] = await self._ask(checked, domain, problem)
        except Exceeded as limit:
            why = f"The files were not checked, because {limit}."
            return {"accepted": None, "outcome": limit.outcome, "faults": [why]}
        except PddlegoError as error:
            return {"accepted": None, "outcome": "refused", "faults": [str(error)]}
        return found

    async def plan_pddl(
        self, domain: str, problem: str, cpu_seconds: float = 60
    ) -> dict[str, Any]:
        """Plans with Fast Downward, a shortest plan where its search allows that.
        `cpu_seconds` is CPU time, at most 600. `outcome` is solved, goal_already_true,
        unsolvable, translate_error, timeout, out_of_memory, or refused if the request
        could not be carried out.
        """
        try:
            refuse_paths(domain=domain, problem=problem)
            with clear_errors("seconds"):
                limits = Limits(cpu_s=min(cpu_seconds, MOST_PLAN_CPU_S))
            made: dict[str, Any] = await self._ask(
                planned, domain, problem, limits.cpu_s, limits=limits
            )
        except Exceeded as limit:
            why = f"There is no plan, because {limit}."
            return {"outcome": limit.outcome, "plan": [], "message": why}
        except PddlegoError as error:
            return {"outcome": "refused", "message": str(error)}
        return made

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
        try:
            text = text_of_plan(plan)
            refuse_paths(domain=domain, problem=problem, plan=text)
            fault: str = await self._ask(judged, domain, problem, text)
        except Exceeded as limit:
            return {
                "valid": None,
                "outcome": limit.outcome,
                "why_not": not_judged(limit),
            }
        except PddlegoError as error:
            return {"valid": None, "why_not": str(error)}
        return {"valid": not fault, "why_not": fault}

    async def formalize(
        self, text: str, model: str, domain: str = ""
    ) -> dict[str, Any]:
        """Lets a local language model write PDDL for a planning problem that is
        described in words, and plans with it. `model` is a name that `pddlego doctor`
        lists, or a model folder; `domain` is the text of a PDDL domain, if there is one
        already.
        """
        try:
            refuse_paths(text=text, domain=domain)
            made: dict[str, Any] = await self._ask(
                formalized, text, model, domain, limits=None
            )
        except PddlegoError as error:
            return {"outcome": "refused", "message": str(error)}
        return made

    async def _ask(
        self,
        work: Callable[..., Any],
        *arguments: Any,
        limits: Limits | None = BY_DEFAULT,
    ) -> Any:
        """Carries work out in a process, and ends the process if the request is
        cancelled.
        """
        async with self._at_once:
            process, within = self._processes.take(), limits.in_full if limits else {}
            try:
                return await asyncio.to_thread(
                    partial(process.ask, work, *arguments, **within)
                )
            except asyncio.CancelledError:
                process.close()
                raise
            finally:
                self._processes.give_back(process)


TOOLS = ("check_pddl", "plan_pddl", "validate_plan", "formalize")


def refuse_paths(**texts: str) -> None:
    """Raises ConfigError if the path of a file was given in place of a text."""
    for name, text in texts.items():
        if path := path_in_place_of_text(text):
            raise ConfigError(f"{name}: {path}")


def text_of_plan(plan: str | list[str] | dict[str, Any]) -> str:
    """Returns an action on each line. Raises ConfigError for an object without a
    plan.
    """
    if isinstance(plan, dict):
        if not isinstance(plan.get("plan"), str | list):
            raise ConfigError('plan: the object has no "plan" with a list of actions')
        plan = plan["plan"]
    return plan if isinstance(plan, str) else "\n".join(map(str, plan))
