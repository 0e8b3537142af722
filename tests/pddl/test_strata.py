"""Derived predicates that depend on their own negation: the check and the judge say
what the planner says.
"""

from pddlego_local.commands.validate import why_invalid
from pddlego_local.pddl.check import check
from pddlego_local.planner import FastDownward
from tests.tables import table

CASES = table(__file__)


def test_what_the_planner_refuses_is_refused(planner: FastDownward) -> None:
    for row in CASES["refused"]:
        domain, problem = pair(row)
        result = planner.plan(domain, problem)
        assert result.outcome == "translate_error", row
        assert "not stratifiable" in result.message
        [fault] = check(domain, problem).faults
        assert (fault.kind, fault.file, fault.line) == ("symbol", "domain", 3)
        assert "its own negation" in fault.message


def test_what_the_planner_accepts_is_judged_as_it_does(planner: FastDownward) -> None:
    for row in CASES["accepted"]:
        domain, problem = pair(row)
        result = planner.plan(domain, problem)
        assert result.outcome != "translate_error", result.message
        assert check(domain, problem).accepted
        plan = [step[1:-1] for step in result.plan]
        is_valid = why_invalid(domain, problem, plan) == ""
        assert is_valid is (result.outcome in ("solved", "goal_already_true"))


def pair(row: list[str]) -> tuple[str, str]:
    rules, precondition, effect, facts = row
    domain = CASES["domain"].format(rules, precondition, effect)
    return domain, CASES["problem"].format(facts)


def test_in_a_large_task_the_planner_decides() -> None:
    path = "(exists (?x ?y ?z - n) (and (next ?x ?y) (next ?y ?z) (not (bad))))"
    things = [f"n{number}" for number in range(60)]
    roads = " ".join(f"(next {start} {end})" for start in things for end in things)
    domain, problem = pair([f"(:derived (bad) {path})", "(bad)", "(on ?x)", roads])
    problem = problem.replace("c e - n", f"c e {' '.join(things)} - n")
    found = check(domain, problem)
    assert found.accepted
    [fault] = found.faults
    assert (fault.kind, fault.line) == ("warning", 3)
    assert "its own negation" in fault.message
