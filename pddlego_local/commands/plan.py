"""`pddlego plan`: Fast Downward, for two files or for JSON lines."""

import argparse
import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pddlego_local.commands import pairs
from pddlego_local.commands.in_order import Here, in_order
from pddlego_local.planner import FastDownward
from pddlego_local.visible import visible

HELP = "plan with Fast Downward"
add_arguments = pairs.add_arguments


def carry_out(arguments: argparse.Namespace) -> int:
    """With two files 1 if there is no plan; with --jsonl 0 once every line has its outcome."""
    planner = FastDownward(workers=arguments.workers)

    def outcome(entry: pairs.Entry) -> dict[str, Any]:
        result = dataclasses.asdict(planner.plan(entry.domain, entry.problem))
        del result["wait_s"]  # says how many workers there are, nothing of the pair
        return {"id": entry.id, **result}

    with pairs.entries_of(arguments) as entries, planner:
        if arguments.jsonl or arguments.out:
            pool = ThreadPoolExecutor(arguments.workers) if arguments.workers > 1 else Here()
            pairs.write_lines(in_order(outcome, entries, pool, arguments.workers), arguments.out)
            return 0
        (entry,) = entries
        result = planner.plan(entry.domain, entry.problem)
    for action in result.plan:
        print(visible(action))
    if result.outcome not in ("solved", "goal_already_true"):
        print(f"{result.outcome}: {result.message}")
        return 1
    if not result.plan:
        print(f"; {result.message}")
    return 0
