"""`pddlego check`: the static check, for two files or for JSON lines."""

import argparse
import dataclasses
from typing import Any

from pddlego_local.commands.shared import pairs
from pddlego_local.core.visible import visible
from pddlego_local.pddl.check import check

add_arguments = pairs.add_arguments


def carry_out(arguments: argparse.Namespace) -> int:
    """With two files 1 if they hold a fault; with --jsonl 0 once every line has its verdict, 2 if
    one held no pair."""
    with pairs.entries_of(arguments) as entries:
        if arguments.jsonl or arguments.out:
            return pairs.write_lines(pairs.answer_lines(_verdict, entries), arguments.out)
        (entry,) = entries
    verdict = check(entry.domain, entry.problem)
    for fault in verdict.faults:
        print(visible(f"{fault.kind}: {fault}"))
    if not verdict.accepted:
        print("the planner will refuse this")
        return 1
    print("no fault that the planner's translator would refuse")
    return 0


def _verdict(domain: str, problem: str) -> dict[str, Any]:
    found = check(domain, problem)
    faults = [dataclasses.asdict(fault) for fault in found.faults]
    return {"syntax": found.syntax, "symbols": found.symbols, "faults": faults}
