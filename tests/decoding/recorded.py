"""Pairs that open-weight models wrote and that were recorded: what the planner makes of
each, and which rungs exclude it.

The pairs are as they were extracted, and are printed in the layout "line" first, which
takes away what carries no meaning. Observations are not in the data: of the rung
"grounded" the names are not judged, its rule about goals is.
"""

import itertools
import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pddlego_local.core.protocols import Planner
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.grammars.lark_text import accepts, load
from pddlego_local.decoding.layout import Printer
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.decoding.staged.reading import domain_of, problem_in
from pddlego_local.environments.alfworld import game as alfworld
from pddlego_local.environments.coin import game as coin
from pddlego_local.pddl.check import Check, check
from pddlego_local.pddl.sections import (
    domain_without_repetition,
    problem_without_repetition,
)
from pddlego_local.pddl.state import goal_already_true
from tests.decoding.on_rung import constraint_for

RUNGS = ("syntax", "signatures", "typed", "grounded")
WORKED = "worked"
SCENES = {
    "coincollector": GrammarContext(actions=coin.TABLES.schemas),
    "alfworld": GrammarContext(actions=alfworld.TABLES.schemas),
}

Row = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """`cause` is why the pair is of no use, else `WORKED`; `outside` are the rungs that
    exclude it.
    """

    row: Row
    outcome: str
    cause: str
    outside: frozenset[str]


def rows(file: Path, every: int = 1) -> list[Row]:
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in itertools.islice(lines, 0, None, every)]


def judge(row: Row, planner: Planner) -> Judged:
    """Judges a pair. Of a pair in the language of "typed", the planner gets what a run
    hands on: without what it states twice.
    """
    domain, problem, context = row["domain"], row["problem"], SCENES[row["environment"]]
    outside = {
        rung for rung in RUNGS[:3] if _is_outside(rung, domain, problem, context)
    }
    # The printer leaves out wrong `:requirements`, which is not to count as written
    # right.
    if not check(domain, problem).syntax:
        outside.add("typed")
    if "typed" not in outside:
        domain, _ = domain_without_repetition(domain)
        problem, _ = problem_without_repetition(problem, domain)
    task = problem_in(json.dumps({"pf": problem}))
    if "typed" in outside or goal_already_true(domain_of(domain), task):
        outside.add("grounded")
    outcome = planner.plan(domain, problem).outcome
    cause = _cause(outcome, check(domain, problem))
    return Judged(row, outcome, cause, frozenset(outside))


def _cause(outcome: str, found: Check) -> str:
    if outcome == "solved":
        return WORKED
    if found.accepted:
        return outcome
    return "symbols" if found.syntax else "syntax"


def _is_outside(rung: str, domain: str, problem: str, context: GrammarContext) -> bool:
    """Whether a printed pair leaves the rung."""
    printer = Printer("line", context.actions, as_staged=rung == "typed")
    try:
        text = printer.answer({"df": domain, "pf": problem})
    except ValueError:
        return True
    if rung == "syntax":
        return not accepts(load("syntax", "line"), text)
    return place_of_departure(constraint_for(rung, PDDL, context, "line"), text) != ""
