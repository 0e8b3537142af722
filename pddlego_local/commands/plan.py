"""`pddlego plan`: Fast Downward, for two files or for JSON lines."""

import argparse
import dataclasses
from typing import Any

from pddlego_local.commands.shared import pairs
from pddlego_local.commands.shared.options import count
from pddlego_local.core.outcomes import PLANNED
from pddlego_local.core.visible import visible
from pddlego_local.pddl.check import PLANNER_SAYS, SWAPPED, explain
from pddlego_local.planner import FastDownward

DEFAULT = FastDownward.search


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pairs.add_arguments(parser)
    lines = "with --jsonl: N lines at a time"
    parser.add_argument("--workers", type=count(1024), default=1, metavar="N", help=lines)
    search = f"lama_first, or a search of Fast Downward's (default {DEFAULT})"
    parser.add_argument("--search", default=DEFAULT, metavar="NAME", help=search)


def carry_out(arguments: argparse.Namespace) -> int:
    """With two files 1 if there is no plan; with --jsonl 0 once every line has its outcome, 2 if
    one held no pair."""
    planner = FastDownward(search=arguments.search or DEFAULT, workers=arguments.workers)

    def outcome(domain: str, problem: str) -> dict[str, Any]:
        result = dataclasses.asdict(planner.plan(domain, problem))
        del result["wait_s"]  # says how many workers there are, nothing of the pair
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
        said = [] if SWAPPED in found[0] else result.message.splitlines()
        said += [line for line in found if line not in said and PLANNER_SAYS not in line]
        print(visible(f"{result.outcome}: " + "\n".join(said)))
        return 1
    if not result.plan:
        print(f"; {result.message}")
    return 0
