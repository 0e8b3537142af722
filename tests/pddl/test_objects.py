"""Recorded PDDL as objects of the package `pddl`, and its refusals in a sentence."""

import sys

import pytest

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.core.nouns import Turn
from pddlego_local.environments.coin.reference import formalize
from pddlego_local.pddl import as_objects

DOMAIN, PROBLEM = formalize(
    [Turn("look around", "You are in the kitchen. To the South you see the corridor.")]
)


def test_what_the_reference_writes_comes_as_objects() -> None:
    domain, problem = as_objects(DOMAIN, PROBLEM)
    assert {action.name for action in domain.actions} == {"open-door", "move"}
    assert {str(thing.name) for thing in problem.objects} == {"kitchen", "corridor", "south"}
    assert "(at corridor)" in str(problem.goal)


@pytest.mark.parametrize(
    ("domain", "problem", "told"),
    [
        ("", PROBLEM, "refuses the domain: Unexpected"),
        (DOMAIN, PROBLEM[:-9], "refuses the problem: Unexpected"),
        (DOMAIN.replace(":types location", ":types place"), PROBLEM, "refuses the domain: .*place"),
        ("(" * 5000, PROBLEM, "refuses the domain"),
        (DOMAIN, "x" * 100_000, "refuses the problem"),
    ],
)
def test_what_pddl_refuses_is_told_with_its_reason(domain: str, problem: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as refusal:
        as_objects(domain, problem)
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 700


def test_without_the_package_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pddl.parser.domain", None)
    with pytest.raises(MissingPart, match="pip install"):
        as_objects(DOMAIN, PROBLEM)
