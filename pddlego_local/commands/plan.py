"""`pddlego plan`: plans with Fast Downward, for two files or for JSON lines."""

import argparse
import dataclasses
from typing import Any

from pddlego_local.api.paths import planned
from pddlego_local.commands.shared import pairs
from pddlego_local.commands.shared.options import count
from pddlego_local.core.outcomes import PLANNED
from pddlego_local.core.visible import visible
from pddlego_local.pddl.check import explain
from pddlego_local.planner import FastDownward

DEFAULT = FastDownward.search


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pairs.add_arguments(parser)
    parser.add_argument(
        "--workers",
        type=count(1024),
        default=1,
        metavar="N",
        help="with --jsonl: plan for N lines at a time",
    )
    parser.add_argument(
        "--search",
        default=DEFAULT,
        metavar="NAME",
        help=f"lama_first, or a Fast Downward search (default {DEFAULT})",
    )


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

    with pairs.pairs_of(arguments) as given, planner:
        if arguments.jsonl or arguments.out:
            lines = pairs.output_lines(outcome, given, arguments.workers)
            return pairs.write_lines(lines, arguments.out)
        (pair,) = given
        result = planner.plan(pair.domain, pair.problem)
    for action in result.plan:
        print(visible(action))
    if result.outcome not in PLANNED:
        why = explain(pair.domain, pair.problem, result)
        print(visible(f"{result.outcome}: {why}"))
        return 1
    if not result.plan:
        print(f"; {result.message}")
    return 0
