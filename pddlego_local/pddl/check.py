"""The static check: what is wrong with a domain and a problem, in words a model can act on.

The judge is Fast Downward 26.6: a pair has a fault of kind "syntax" or "symbol" if and only if its
translator refuses the pair or crashes on it. Fast Downward reports one fault, without a line; this
check reports all that do not follow from others, each with its place and a remedy, and warns of
what Fast Downward passes over in silence.

    reader → domain, problem (conditions, effects, typed_list) → task → domain_checks,
    problem_checks (symbols) → solvability (rules, relaxation, obstacles)

Some refusals are left to the planner, since they show only in the grounded task: axioms that depend
on their own negation, a predicate declared twice with different numbers of parameters (a warning
here: some of these tasks crash it), and limits of time and memory.
"""

import re
from dataclasses import dataclass

from pddlego_local.pddl.domain import read_domain
from pddlego_local.pddl.domain_checks import check_domain
from pddlego_local.pddl.faults import Fault, FaultLog
from pddlego_local.pddl.problem import read_problem
from pddlego_local.pddl.problem_checks import check_problem
from pddlego_local.pddl.reader import read
from pddlego_local.pddl.solvability import why_no_plan
from pddlego_local.pddl.symbols import symbols_of

__all__ = ["SWAPPED", "Check", "Fault", "check", "swapped"]

SWAPPED = "this is a problem, and the problem file is a domain: did you swap them?"
_KIND = re.compile(r"(?:\s|;[^\n\r]*[\n\r])*\(\s*define\s*\(\s*(domain|problem)\s", re.IGNORECASE)


@dataclass(frozen=True)
class Check:
    """`syntax`, `symbols`: no fault of that kind; `symbols` is None where the syntax fails.

    `faults` are in order of position, the domain's first; warnings are among them. `no_plan` are
    those of the faults of an accepted pair that say why it has no plan or only an empty one.
    """

    syntax: bool
    symbols: bool | None
    faults: tuple[Fault, ...]
    no_plan: tuple[Fault, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the planner's translator takes the pair."""
        return self.symbols is True


def check(domain: str, problem: str) -> Check:
    """Checks any two texts; raises nothing, whatever they are.

    The first reading decides, as the planner reads. Where it finds the structure broken, a second
    one that looks for misplaced parentheses explains.
    """
    if swapped(domain, problem):
        log = FaultLog("domain", domain)
        log.syntax(domain.index("("), SWAPPED)  # and not a dozen, of each section
        return Check(False, None, log.in_order())
    decided = _examine(domain, problem, recover=False)
    if decided.syntax:
        return decided
    explained = _examine(domain, problem, recover=True)
    return decided if explained.syntax else explained


def swapped(domain: str, problem: str) -> bool:
    """Whether each is what the other should be, by what it says it defines."""
    kinds = [match and match[1].lower() for match in map(_KIND.match, (domain, problem))]
    return kinds == ["problem", "domain"]


def _examine(domain_text: str, problem_text: str, recover: bool) -> Check:
    domain_log, problem_log = FaultLog("domain", domain_text), FaultLog("problem", problem_text)
    domain_block = read(domain_text, domain_log.syntax, recover)
    problem_block = read(problem_text, problem_log.syntax, recover)
    domain = read_domain(domain_block, domain_log) if domain_block is not None else None
    problem = read_problem(problem_block, problem_log) if problem_block is not None else None
    symbols = symbols_of(domain, problem)
    if domain is not None:
        check_domain(domain, symbols, domain_log)
    if problem is not None:
        check_problem(problem, domain, symbols, problem_log)
    logs = (domain_log, problem_log)
    syntax = not any(log.has("syntax") for log in logs)
    right = syntax and not any(log.has("symbol") for log in logs)
    no_plan: tuple[Fault, ...] = ()
    if right and domain is not None and problem is not None:
        no_plan = why_no_plan(domain, problem, symbols, (domain_text, problem_text))
    faults = sorted((*domain_log.in_order(), *problem_log.in_order(), *no_plan), key=_position)
    return Check(syntax, right if syntax else None, tuple(faults), no_plan)


def _position(fault: Fault) -> tuple[bool, int, int]:
    return fault.file == "problem", fault.line, fault.column
