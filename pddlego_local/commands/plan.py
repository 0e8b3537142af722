"""`pddlego plan`: Fast Downward, for two files or for JSON lines."""

import argparse
import contextlib
import dataclasses
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pddlego_local.commands import pairs
from pddlego_local.planner import FastDownward

HELP = "plan with Fast Downward"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pairs.add_arguments(parser)
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="plan N tasks at a time"
    )


def carry_out(given: argparse.Namespace) -> int:
    """With two files 1 if there is no plan; with --jsonl 0 once every line has its outcome."""
    if given.jsonl or given.out:
        pairs.write_lines(_outcomes(given), given.out)
        return 0
    (pair,) = pairs.read_pairs(given)
    with contextlib.closing(FastDownward()) as planner:
        result = planner.plan(pair.domain, pair.problem)
    for action in result.plan:
        print(action)
    if result.outcome not in ("solved", "goal_already_true"):
        print(f"{result.outcome}: {result.message}")
        return 1
    if not result.plan:
        print(f"; {result.message}")
    return 0


def _outcomes(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """In the order of the input, whatever the number of workers."""
    workers = max(1, given.workers)
    with (
        contextlib.closing(FastDownward(workers=workers)) as planner,
        ThreadPoolExecutor(workers) as pool,
    ):

        def outcome(pair: pairs.Pair) -> dict[str, Any]:
            result = dataclasses.asdict(planner.plan(pair.domain, pair.problem))
            del result["wait_s"]  # says how many workers there are, nothing of the pair
            return {"id": pair.id, **result}

        yield from pool.map(outcome, pairs.read_pairs(given))
