"""A sample of the pairs that models wrote: the checker and the explanation against the
planner that the runs use."""

import json
import lzma
import random
import re
from pathlib import Path

import pytest

from pddlego_local.core.nouns import PlanResult
from pddlego_local.pddl.check import check, explain
from pddlego_local.planner.fast_downward import FastDownward
from tests.grammars.cases import data_folder

SAMPLE = 100
FILE = (data_folder() or Path("absent")) / "llm_pddl" / "open_weight_dev.jsonl.xz"
pytestmark = pytest.mark.skipif(
    not FILE.exists(), reason="the recorded pairs are not there"
)


@pytest.fixture(scope="module")
def planned(planner: FastDownward) -> list[tuple[str, str, PlanResult]]:
    with lzma.open(FILE, "rt") as file:
        rows = [json.loads(line) for line in file]
    sample = random.Random(11).sample(rows, SAMPLE)
    pairs = [(row["domain"], row["problem"]) for row in sample]
    return [(*pair, planner.plan(*pair)) for pair in pairs]


def test_the_checker_agrees_with_the_planner(
    planned: list[tuple[str, str, PlanResult]],
) -> None:
    for domain, problem, result in planned:
        found = check(domain, problem)
        assert found.accepted == (result.outcome != "translate_error"), (
            domain,
            problem,
            result,
        )
        for fault in found.no_plan:
            if "no action can make" in fault.message:
                assert result.outcome == "unsolvable", fault
            elif "already hold" in fault.message:
                assert result.outcome == "goal_already_true", fault


def test_every_refusal_and_most_dead_ends_are_explained(
    planned: list[tuple[str, str, PlanResult]],
) -> None:
    dead_ends = []
    for domain, problem, result in planned:
        said = explain(domain, problem, result)
        assert re.match("domain line|problem line|.* plan", said), said
        if result.outcome in ("unsolvable", "goal_already_true"):
            dead_ends.append("problem line" in said)
    assert sum(dead_ends) >= 0.9 * len(dead_ends) > 0  # all the pairs: 99 %
