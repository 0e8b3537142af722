"""`pddlego check`: the static check, for two files or for JSON lines."""

import argparse
import dataclasses
from collections.abc import Iterator
from typing import Any

from pddlego_local.commands import pairs
from pddlego_local.pddl.check import check

HELP = "check PDDL without planning: syntax, names, types"
add_arguments = pairs.add_arguments


def carry_out(given: argparse.Namespace) -> int:
    """With two files 1 if they hold a fault; with --jsonl 0 once every line has its verdict."""
    if given.jsonl or given.out:
        pairs.write_lines(_verdicts(given), given.out)
        return 0
    (pair,) = pairs.read_pairs(given)
    verdict = check(pair.domain, pair.problem)
    for fault in verdict.faults:
        print(f"{fault.kind}: {fault}")
    if not verdict.accepted:
        print("the planner will refuse this")
        return 1
    print("no fault that the planner would refuse")
    return 0


def _verdicts(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for pair in pairs.read_pairs(given):
        verdict = check(pair.domain, pair.problem)
        yield {"id": pair.id, **dataclasses.asdict(verdict)}
