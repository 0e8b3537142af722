"""Finds mistakes in the PDDL that an environment supplies: in its domain and its goals.
The planner would refuse them in every episode alike.
"""

import functools

from pddlego_local.environments import family
from pddlego_local.pddl.check import check
from pddlego_local.pddl.faults import Fault, FaultLog
from pddlego_local.pddl.files import read_domain
from pddlego_local.pddl.formulas import read_condition
from pddlego_local.pddl.reader import read

REFUSED = "the planner would refuse it"
_PROBLEM = (
    "(define (problem p) (:domain {name}) (:objects {objects}) (:init) (:goal {goal}))"
)


@functools.cache
def domain_fault(domain: str) -> str:
    """Returns the first fault for which the planner would refuse a domain; "" if there
    is none. A blank domain is that of an environment without one.
    """
    fault = _first_fault("domain", domain, "(and)")
    return str(fault) if fault else ""


@functools.cache
def goal_fault(domain: str, goal: str) -> str:
    """Returns why the planner would refuse a goal beside a domain without faults; "" if
    it would not. The names in the goal count as declared, because problems declare
    them.
    """
    fault = _first_fault("problem", domain, goal)
    return fault.message if fault else ""


def _first_fault(file: str, domain: str, goal: str) -> Fault | None:
    if not domain.strip():
        return None
    for fault in check(domain, _problem(domain, goal)).faults:
        if fault.kind != "warning" and fault.file == file:
            return fault
    return None


def faults(package: str) -> list[str]:
    """Returns a sentence if the planner would refuse the domain in an environment's
    folder. A domain that is missing is no fault here.
    """
    if family.missing(package, "domain.pddl"):
        return []
    place = family.place(package, "domain.pddl")
    fault = domain_fault(family.text(package, "domain.pddl"))
    if not fault:
        return []
    return [f"{place}: {REFUSED}: {fault}"]


def _problem(domain: str, goal: str) -> str:
    """Returns a problem with this goal, which declares the names in the goal."""
    written = read_domain(read(domain, recover=True))
    block = read(goal, recover=True)
    literals = read_condition(block, FaultLog()).literals if block else []
    constants = {entry.name for entry in written.constants}
    objects = set()
    for literal in literals:
        for term in literal.atom.terms:
            if not term.name.startswith("?") and term.name not in constants:
                objects.add(term.name)
    name = written.word.text if written.word else "domain"
    return _PROBLEM.format(name=name, objects=" ".join(sorted(objects)), goal=goal)
