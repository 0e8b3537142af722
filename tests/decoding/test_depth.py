"""How deep conditions nest: counted over the whole part, whatever is rolled back or
quantified.
"""

from collections.abc import Iterable

import pytest

from pddlego_local.decoding.staged.limits import MOST_NESTED
from tests.decoding.test_typed import DOMAIN, PROBLEM_FILE, departure

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
