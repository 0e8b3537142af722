"""`pddlego plan`: plans with Fast Downward, for two files or for JSON lines."""

import argparse
import dataclasses
from typing import Any

from pddlego_local.commands.shared import pairs
from pddlego_local.commands.shared.options import count
from pddlego_local.core.nouns import PlanResult
from pddlego_local.core.outcomes import PLANNED
from pddlego_local.core.visible import visible
from pddlego_local.pddl.check import PLANNER_SAYS, SWAPPED, explain
from pddlego_local.pddl.paths import path_in_place_of_text
from pddlego_local.planner import FastDownward

DEFAULT = FastDownward.search


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pairs.add_arguments(parser)
    lines = "with --jsonl: plan for N lines at a time"
    parser.add_argument(
        "--workers", type=count(1024), default=1, metavar="N", help=lines
    )
    search = f"lama_first, or a Fast Downward search (default {DEFAULT})"
    parser.add_argument("--search", default=DEFAULT, metavar="NAME", help=search)


def planned(planner: FastDownward, domain: str, problem: str) -> PlanResult:
    """Plans. If a text is a path, the planner is not asked, and the message names the
    path.
    """
    for name, text in (("domain", domain), ("problem", problem)):
        if path := path_in_place_of_text(text):
            return PlanResult("translate_error", (), f"{name}: {path}", 0.0)
    return planner.plan(domain, problem)


def carry_out(arguments: argparse.Namespace) -> int:
    """With two files, returns 1 if there is no plan. With --jsonl, returns 0 if every
    line has an outcome, 2 if a line held no pair.
    """
    planner = FastDownward(
        search=arguments.search or DEFAULT, workers=arguments.workers
    )

    def outcome(domain: str, problem: str) -> dict[str, Any]:
        result = dataclasses.asdict(planned(planner, domain, problem))
        del result["wait_s"]  # depends on the number of workers, not on the pair
        return result

    with pairs.entries_of(arguments) as entries, planner:
        if arguments.jsonl or arguments.out:
            lines = pairs.answer_lines(outcome, entries, arguments.workers)
            return pairs.write_lines(lines, arguments.out)
        (entry,) = entries
        result = planner.plan(entry.domain, entry.problem)
    for action in result.plan:
        print(visible(action))
    if result.outcome not in PLANNED:
        found = explain(entry.domain, entry.problem, result).splitlines()
        shown = [] if SWAPPED in found[0] else result.message.splitlines()
        shown += [
            line for line in found if line not in shown and PLANNER_SAYS not in line
        ]
        print(visible(f"{result.outcome}: " + "\n".join(shown)))
        return 1
    if not result.plan:
        print(f"; {result.message}")
    return 0
