"""`pddlego check`: runs the static check on two files or on JSON lines."""

import argparse
import dataclasses
from typing import Any

from pddlego_local.commands.shared import pairs
from pddlego_local.core.visible import visible
from pddlego_local.pddl.check import check

add_arguments = pairs.add_arguments


def carry_out(arguments: argparse.Namespace) -> int:
    """With two files, returns 1 if they contain a fault. With --jsonl, returns 0 if
    every line has a verdict, 2 if a line held no pair.
    """
    with pairs.pairs_of(arguments) as given:
        if arguments.jsonl or arguments.out:
            lines = pairs.output_lines(_verdict, given)
            return pairs.write_lines(lines, arguments.out)
        (pair,) = given
    verdict = check(pair.domain, pair.problem)
    for fault in verdict.faults:
        print(visible(f"{fault.kind}: {fault}"))
    if not verdict.accepted:
        print("the planner will refuse these files")
        return 1
    print("no fault that the planner's translator would refuse")
    return 0


def _verdict(domain: str, problem: str) -> dict[str, Any]:
    found = check(domain, problem)
    faults = [dataclasses.asdict(fault) for fault in found.faults]
    return {"syntax": found.syntax, "symbols": found.symbols, "faults": faults}
