"""Each fault class on a small pair: its kind, its file, its line, and what the message
names.
"""

import pytest

from pddlego_local.pddl.check import Check, check
from tests.tables import table

CASES = table(__file__)
DOMAIN, PROBLEM = CASES["domain"], CASES["problem"]
EVERY_FEATURE, EVERY_PROBLEM = CASES["every_feature"], CASES["every_problem"]


def with_change(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    return text.replace(old, new)


def findings(result: Check) -> list[tuple[str, str, int]]:
    return [(fault.kind, fault.file, fault.line) for fault in result.faults]


def test_right_pair_has_no_fault() -> None:
    assert check(DOMAIN, PROBLEM) == Check(True, True, ())


def changed(file: str, old: str, new: str) -> tuple[str, str]:
    if file == "domain":
        return with_change(DOMAIN, old, new), PROBLEM
    return DOMAIN, with_change(PROBLEM, old, new)


FOUND = {"syntax": (False, None), "symbol": (True, False), "warning": (True, True)}


@pytest.mark.parametrize(
    ("kind", "file", "old", "new", "line", "names"),
    [(kind, *row) for kind in FOUND for row in CASES[kind]],
)
def test_each_fault_is_found_and_named(
    kind: str, file: str, old: str, new: str, line: int, names: str
) -> None:
    result = check(*changed(file, old, new))
    assert (result.syntax, result.symbols) == FOUND[kind], [
        str(f) for f in result.faults
    ]
    assert any(
        (fault.kind, fault.file, fault.line) == (kind, file, line)
        and names in fault.message
        for fault in result.faults
    ), [str(fault) for fault in result.faults]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(open ?a ?b - room)", "(lit ?r) (open ?a ?b - room)"),
        (
            ":effect (open ?a ?b)",
            ":precondition (door ?a ?b west) :effect (open ?a ?b)",
        ),
    ],
)
def test_right_domains_have_no_fault(old: str, new: str) -> None:
    assert check(*changed("domain", old, new)) == Check(True, True, ())


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_position_points_at_the_word(line_end: str) -> None:
    problem = with_change(PROBLEM, "(at hall)", "(at attic)").replace("\n", line_end)
    assert [str(fault) for fault in check(DOMAIN, problem).faults] == [
        "problem line 7, column 14: `attic` is used in `:goal` but is not declared: "
        "add it to `:objects`"
    ]


def test_all_faults_come_in_order_of_position() -> None:
    domain = with_change(DOMAIN, "(at ?from) (door", "(at ?where) (in k) (door")
    problem = with_change(PROBLEM, "(:domain rooms)", "(:domain house)")
    problem = with_change(problem, "(:goal (at hall))", "(:goal (at attic))")
    assert findings(check(domain, problem)) == [
        ("symbol", "domain", 10),  # ?where
        ("symbol", "domain", 10),  # in
        ("symbol", "domain", 10),  # k belongs to the problem
        ("symbol", "problem", 2),
        ("symbol", "problem", 7),
    ]


def test_symbols_are_checked_behind_a_missing_parenthesis() -> None:
    domain = with_change(DOMAIN, "(seen ?to)))\n", "(seen ?to))\n")
    domain = with_change(domain, ":effect (open ?a ?b)", ":effect (opened ?a ?b)")
    found = check(domain, PROBLEM)
    assert findings(found) == [("syntax", "domain", 8), ("symbol", "domain", 14)]
    assert "is missing before `(:action` in line 12" in found.faults[0].message


def test_what_follows_a_list_that_was_closed_too_early_is_found() -> None:
    problem = with_change(PROBLEM, "(:init", ") (:init")
    (fault,) = check(DOMAIN, problem).faults
    assert "`(:init` follows in line 5" in fault.message


def test_skipped_section_raises_no_faults_elsewhere() -> None:
    result = check(*changed("domain", "(:predicates", "(:predicate"))
    assert findings(result) == [("syntax", "domain", 6)]


def test_an_action_whose_cost_has_no_value_is_useless() -> None:
    domain = with_change(
        DOMAIN, "(seen ?to))", "(seen ?to) (increase (total-cost) (far ?d)))"
    )
    (fault,) = check(domain, PROBLEM).faults
    assert (fault.kind, fault.line) == ("warning", 11)
    assert "`far`" in fault.message


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_feature_is_accepted(line_end: str) -> None:
    domain = EVERY_FEATURE.replace("\n", line_end)
    assert check(domain, EVERY_PROBLEM.replace("\n", line_end)) == Check(True, True, ())


def test_the_sum_of_costs_is_no_cost() -> None:
    domain = with_change(
        DOMAIN, "(seen ?to))", "(seen ?to) (increase (total-cost) (total-cost)))"
    )
    problem = with_change(PROBLEM, "(:init (at k)", "(:init (at k) (= (total-cost) 2)")
    assert check(domain, problem).accepted
    minimal = with_change(
        problem,
        "(:goal (at hall))",
        "(:goal (at hall)) (:metric minimize (total-cost))",
    )
    (fault,) = check(domain, minimal).faults
    assert (fault.kind, fault.file, fault.line) == ("symbol", "problem", 5)
