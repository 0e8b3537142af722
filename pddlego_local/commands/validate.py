"""`pddlego validate`: simulates a plan action by action and checks that it reaches the
goal.

The judge of states (pddl/state.py) decides, which accepts what the planner accepts. If
VAL is installed (its program `Validate`), it validates the plan too, and both verdicts
are printed.
"""

import argparse
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pddlego_local.commands.shared.options import path
from pddlego_local.commands.shared.pairs import text_of
from pddlego_local.core.confined import Confined, Exceeded
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.visible import visible
from pddlego_local.environments.described.simulator import Simulator
from pddlego_local.environments.described.world import World
from pddlego_local.pddl.check import check
from pddlego_local.planner import Limits

_NUMBER = r"\d+(?:\.\d+)?"
_LINE = re.compile(
    rf"(?:{_NUMBER}\s*:\s*)?\(\s*([^()]+?)\s*\)(?:\s*\[\s*{_NUMBER}\s*\])?"
)
"""An action, perhaps with its time before it and its duration behind it."""
VAL = "Validate"
VAL_LIMIT_S = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("domain", type=path, help="a domain file")
    parser.add_argument("problem", type=path, help="a problem file")
    parser.add_argument(
        "plan", type=path, help="a plan: one action such as (move a b) per line"
    )


def carry_out(arguments: argparse.Namespace) -> int:
    """Returns 0 for a valid plan, 1 for an invalid one, or for one that could not be
    judged within the limits.
    """
    paths = arguments.domain, arguments.problem, arguments.plan
    with Confined([__name__]) as confined:
        try:
            texts = [text_of(path) for path in paths]
            fault = confined.ask(judge, *texts, **Limits().in_full)
        except Exceeded as limit:
            fault = not_judged(limit)
    print(visible(fault or "The plan is valid."))
    if program := shutil.which(VAL):
        print(f"VAL says: {val_says(program, paths)}")
    return 1 if fault else 0


def actions_of(plan: str) -> list[str]:
    """Returns the actions of a plan file, without parentheses, comments, times and
    durations.

    Raises ConfigError, with the line number, for a line that is not an action.
    """
    actions = []
    lines = re.split("\r\n|\r|\n", plan.removeprefix("\ufeff"))
    for number, line in enumerate(lines, start=1):
        if text := line.partition(";")[0].strip():
            match = _LINE.fullmatch(text)
            if match is None:
                raise ConfigError(
                    f"the plan's line {number}: {text[:60]!r} is not an (action …)"
                )
            actions.append(match[1])
    return actions


def why_invalid(domain: str, problem: str, actions: Sequence[str]) -> str:
    """Returns "" for a valid plan, else which action is not applicable and why, or that
    the goal is not reached. Raises ConfigError for files that the planner would refuse.
    """
    found = check(domain, problem)
    if not found.accepted:
        faults = [fault for fault in found.faults if fault.kind != "warning"]
        raise ConfigError(f"the planner would refuse the files: {faults[0]}")
    try:
        return _why_invalid(domain, problem, actions)
    except RecursionError as error:
        raise ConfigError(
            "the conditions of the files are nested too deeply"
        ) from error


def _why_invalid(domain: str, problem: str, actions: Sequence[str]) -> str:
    world = World(
        name="problem",
        domain_text="",
        problem_text="",
        heads=(),
        domain=domain,
        problem=problem,
    )
    simulator = Simulator(world, "these files", exact=True)
    for number, action in enumerate(actions, start=1):
        if refusal := simulator.carry_out(action):
            return f"Action {number} of {len(actions)}: {refusal}"
    if simulator.done:
        return ""
    return f"The goal does not hold after the {len(actions)} actions."


def judge(domain: str, problem: str, plan: str) -> str:
    """Returns and raises as `why_invalid`, for the text of a plan, as `actions_of`."""
    return why_invalid(domain, problem, actions_of(plan))


def not_judged(limit: Exceeded) -> str:
    return f"{limit.outcome}: the plan was not judged, because {limit}."


def val_says(program: str, paths: Sequence[Path]) -> str:
    """Runs VAL and returns "valid", "not valid", or that it took too long."""
    try:
        done = subprocess.run(
            (program, *paths), capture_output=True, timeout=VAL_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return f"nothing within {VAL_LIMIT_S} seconds"
    return "valid" if b"Plan valid" in done.stdout else "not valid"
