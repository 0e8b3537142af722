"""Texts that are no PDDL, or far too much of it: faults, never an exception."""

import pytest

from pddlego_local.pddl.check import Check, check
from tests.pddl.test_static_check import DOMAIN, PROBLEM, with_change


def nested(operator: str, depth: int) -> str:
    condition = f"({operator} " * depth + "(at ?a)" + ")" * depth
    return with_change(
        DOMAIN, ":effect (open", f":precondition {condition} :effect (open"
    )


HOSTILE = {
    "empty": "",
    "blank": " \n\t",
    "thousands of blank lines": "\n" * 20_000,
    "only a comment": "; (define",
    "null bytes": "\0" * 100,
    "binary": bytes(range(256)).decode("latin-1") * 50,
    "lone surrogate": "(define \ud800)",
    "byte order mark": "\ufeff" + PROBLEM,
    "one parenthesis": "(",
    "closing first": ")(",
    "empty list": "()",
    "deep": "(" * 5000,
    "deep and closed": "(" * 5000 + ")" * 5000,
    "sections in sections": "(:init " * 5000,
    "definitions that close early": "(define (domain d)" + ") (:init " * 5000,
    "deep condition": nested("and", 900),
    "deep negation": nested("not", 899),
    "deep effect": with_change(
        DOMAIN,
        ":effect (open ?a ?b)",
        ":effect " + "(and " * 990 + "(at ?a)" + ")" * 991,
    ),
    "type chain": "(define (domain d) (:types "
    + " ".join(f"t{i} - t{i + 1}" for i in range(9999)),
    "long word": "(define (domain " + "x" * 100_000 + ")",
    "huge number": with_change(PROBLEM, "(at k)\n", f"(at k) (= (f) {'9' * 9000})\n"),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_a_fault_and_never_an_exception(text: str) -> None:
    for result, file in (
        (check(text, PROBLEM), "domain"),
        (check(DOMAIN, text), "problem"),
    ):
        assert not result.syntax
        assert any(
            fault.kind == "syntax" and fault.file == file for fault in result.faults
        )
        assert all(len(fault.message) < 1000 for fault in result.faults)


@pytest.mark.parametrize("depth", [100, 480])
def test_nesting_that_the_planner_reads_is_accepted(depth: int) -> None:
    assert check(nested("and", depth), PROBLEM) == Check(True, True, ())


def test_many_faults_are_bounded() -> None:
    facts = " ".join(f"(at x{number})" for number in range(5000))
    result = check(DOMAIN, with_change(PROBLEM, "(at k)\n", facts))
    assert result.symbols is False
    assert len(result.faults) == 200
