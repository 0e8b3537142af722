"""How deep conditions nest: counted over the whole part, whatever is rolled back or
quantified.
"""

import json
from collections.abc import Iterable

import pytest

from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.grammars.lark_text import decoder_fault
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.staged.limits import MOST_NESTED
from tests.decoding.test_typed import DOMAIN, PROBLEM_FILE, SCENE, departure
from tools.bench.walk import stages_of

FACT = "(at hall)"
GOAL = "(at cellar)))"


def nested(operators: Iterable[str], innermost: str) -> str:
    """The operators around an expression, the first one outermost."""
    listed = list(operators)
    return (
        "".join(f"({operator} " for operator in listed) + innermost + ")" * len(listed)
    )


def departure_of(goal: str) -> str:
    return departure(DOMAIN, PROBLEM_FILE.replace(GOAL, f"{goal}))"))


QUANTIFIED = ["and", "or", "and", "exists (?r - room)", "or", "and", "or"]


def test_as_many_operators_as_the_limit_says_may_nest() -> None:
    assert departure_of(nested(QUANTIFIED, FACT)) == ""
    assert len(QUANTIFIED) - 1 == MOST_NESTED


@pytest.mark.parametrize("at", [0, 2, 3, 4, 7])
def test_one_operator_more_is_refused_wherever_it_stands(at: int) -> None:
    deeper = [*QUANTIFIED[:at], "and", *QUANTIFIED[at:]]
    assert "facts: after" in departure_of(nested(deeper, f"{FACT} (at cellar)"))


@pytest.mark.parametrize("rung", ["typed", "grounded"])
@pytest.mark.parametrize("depth", [1, 3, 7, 15, 30, 60])
def test_what_follows_a_repeated_operand_compiles_however_deep_it_stands(
    rung: str, depth: int
) -> None:
    """The decoder cannot write this. A text that came otherwise is read, and no grammar
    fails.
    """
    staged = constraint_for(rung, PDDL, SCENE)
    texts = [
        text
        for _, text in stages_of(staged, json.dumps({"df": DOMAIN, "pf": PROBLEM_FILE}))
    ]
    deep = nested(["and", "or"] * depth, f"{FACT} {FACT}")
    assert GOAL in texts[-1]
    stages = staged.stages()
    stage = next(stages)
    for text in [*texts[:-1], texts[-1].replace(GOAL, f"{deep}))")]:
        stage = stages.send(text)
    assert stage.rollback_chars > 0
    assert decoder_fault(stage.grammar) == ""
