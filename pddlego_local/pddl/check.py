"""The static check: finds the faults of a domain and a problem, in words a model can
act on.

Fast Downward 26.6 is the reference: a pair has a fault of kind "syntax" or "symbol" if
and only if Fast Downward's translator refuses the pair or crashes on it. Fast Downward
reports one fault, without a line. This check reports all faults that do not follow from
others, each with its place and a remedy. It also warns of mistakes that Fast Downward
silently accepts. `explain` turns the findings into a text for a model.

    reader → files (formulas) → task → checks (symbols)
        → strata → reachability

There are exceptions, because some refusals show only in the grounded task. The check
leaves costs beyond 32 bits, and limits of time and memory to the planner. Where it
cannot say whether a derived predicate depends on its own negation, because the task is
too large to be grounded here, it warns, and the planner decides (strata.py). It only
warns of a predicate that is declared twice with different numbers of parameters,
although some of these tasks crash the planner. It refuses a derived predicate with too
few parameters even if no fact of this predicate makes the planner crash.
"""

import re
from contextlib import suppress
from dataclasses import dataclass

from pddlego_local.core.nouns import PlanResult
from pddlego_local.pddl.checks import check_domain, check_problem
from pddlego_local.pddl.faults import Fault, FaultLog, Kind
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.marks import stray_mark
from pddlego_local.pddl.reachability import OUT_OF_REACH, TooLarge, why_no_plan
from pddlego_local.pddl.reader import read, words_in
from pddlego_local.pddl.state import Task
from pddlego_local.pddl.strata import depends_on_its_negation
from pddlego_local.pddl.symbols import Symbols

__all__ = ["PLANNER_SAYS", "SWAPPED", "Check", "Fault", "check", "explain"]

MOST_FAULTS = 5  # findings in one explanation
MOST_CHARACTERS = 2000  # length of the whole explanation
MOST_OF_PLANNER = 300  # characters of the planner's message after the findings

SWAPPED = "this is a problem, and the problem file is a domain: did you swap them?"
PLANNER_SAYS = "The planner says:"
_KIND = re.compile(
    r"(?:\s|;[^\n\r]*[\n\r])*\(\s*define\s*\(\s*(domain|problem)\s", re.IGNORECASE
)


@dataclass(frozen=True)
class Check:
    """The result of a check.

    `syntax` and `symbols` say that there is no fault of that kind; `symbols` is None if
    the syntax is wrong. `faults` are in order of position, first those of the domain,
    and include warnings. `no_plan` are the faults of an accepted pair that say why it
    has no plan or only an empty one.
    """

    syntax: bool
    symbols: bool | None
    faults: tuple[Fault, ...]
    no_plan: tuple[Fault, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the planner's translator accepts the pair."""
        return self.symbols is True

    @property
    def out_of_reach(self) -> str:
        """Why the goal is unreachable even under delete relaxation, "" if it is
        reachable there.
        """
        reasons = (fault.message for fault in self.no_plan)
        return next(
            (reason for reason in reasons if reason.startswith(OUT_OF_REACH)), ""
        )


def check(domain: str, problem: str) -> Check:
    """Checks a domain and a problem. Raises nothing, whatever the texts are.

    The first reading is like the planner's and decides. If it finds the structure
    broken, a second reading looks for misplaced parentheses and explains the faults.
    """
    if _swapped(domain, problem):
        log = FaultLog("domain", domain)
        log.syntax(domain.index("("), SWAPPED)  # instead of one fault for each section
        return Check(False, None, log.in_order())
    decided = _examine(domain, problem, recover=False)
    if decided.syntax:
        return decided
    explained = _examine(domain, problem, recover=True)
    return decided if explained.syntax else explained


def _swapped(domain: str, problem: str) -> bool:
    """Whether the domain text defines a problem and the problem text a domain."""
    kinds = [
        match and match[1].lower() for match in map(_KIND.match, (domain, problem))
    ]
    return kinds == ["problem", "domain"]


class Examined:
    """Two texts after reading, with the logs of their faults."""

    def __init__(self, domain: str, problem: str, recover: bool = False) -> None:
        """`recover` has the same meaning as in `reader.read`."""
        self.logs = log, problem_log = (
            FaultLog("domain", domain),
            FaultLog("problem", problem),
        )
        self.roots = (
            read(domain, log.syntax, recover),
            read(problem, problem_log.syntax, recover),
        )
        self.domain = read_domain(self.roots[0], log)
        self.problem = read_problem(self.roots[1], problem_log)
        self.symbols = Symbols(self.domain, self.problem)
        check_domain(self.domain, self.symbols, log)
        check_problem(self.problem, self.domain, self.symbols, problem_log)

    def has(self, kind: Kind) -> bool:
        return any(log.has(kind) for log in self.logs)


def _examine(domain: str, problem: str, recover: bool) -> Check:
    read_ = Examined(domain, problem, recover)
    for log, root in zip(read_.logs, read_.roots, strict=True):
        for word in words_in(root) if root else ():
            if stray_mark(str(word)):
                log.warn(word, "")  # the log replaces the message for such a word
    syntax = not read_.has("syntax")
    if syntax and not read_.has("symbol"):
        _check_circles(read_)
    right = syntax and not read_.has("symbol")
    no_plan: tuple[Fault, ...] = ()
    if right:
        no_plan = why_no_plan(read_.domain, read_.problem, (domain, problem))
    found = (*(fault for log in read_.logs for fault in log.in_order()), *no_plan)
    faults = sorted(
        found, key=lambda fault: (fault.file == "problem", fault.line, fault.column)
    )
    return Check(syntax, right if syntax else None, tuple(faults), no_plan)


def _check_circles(read_: Examined) -> None:
    """Refuses a derived predicate that depends on its own negation. In a task that is
    too large to be grounded here, the planner decides.
    """
    axioms, log = read_.domain.axioms, read_.logs[0]
    refused, warned = "", set[str]()
    if axioms:
        with suppress(RecursionError):  # the planner judges what is nested so deeply
            task = Task(read_.domain, read_.problem)
            try:
                refused = depends_on_its_negation(task)
            except TooLarge:
                for group in task.groups:
                    if group.circular:
                        warned |= {rule.head[0] for rule in group.rules}
    for axiom in axioms:
        word = axiom.predicate.word
        said = f"derived predicate `{word}` depends on its own negation"
        if word.name == refused:
            neither = "so that it is neither true nor false"
            log.symbol(word, f"{said}, {neither}: break the circle")
        elif word.name in warned:
            refuses = "the planner refuses it if one of its facts does"
            log.warn(word, f"{said}, and {refuses}: break the circle")


def explain(domain: str, problem: str, result: PlanResult) -> str:
    """Explains to a model why its files gave no plan, in at most MOST_CHARACTERS
    characters.

    There are at most five findings, each on a line "domain line 12, column 7: …". The
    planner alone names only the first fault that it meets, without a line. For refused
    files, the text lists the errors, or the warnings if there are no errors. If the
    structure is broken or there are only warnings, the planner's message follows. For
    no plan or an empty plan, the text has the planner's verdict and then the reasons.
    In all other cases, and if the check finds nothing, it is the planner's message.
    """
    lines = []
    if result.outcome in ("translate_error", "unsolvable", "goal_already_true"):
        verdict = check(domain, problem)
        errors = [fault for fault in verdict.faults if fault.kind != "warning"]
        # Without errors or reasons, the warnings are shown.
        faults = errors if result.outcome == "translate_error" else verdict.no_plan
        lines = [str(fault) for fault in (faults or verdict.faults)[:MOST_FAULTS]]
        if lines and result.outcome != "translate_error":
            lines.insert(0, result.message.split("\n", 1)[0])
        elif (
            lines and not (verdict.syntax and errors) and lines[0] not in result.message
        ):
            planners = _cut(" ".join(result.message.split()), MOST_OF_PLANNER)
            lines.append(f"{PLANNER_SAYS} {planners}")
    first, *others = lines or [result.message]
    text = _cut(first, MOST_CHARACTERS)
    for line in others:  # as many as fit
        if len(text) + 1 + len(line) > MOST_CHARACTERS:
            break
        text += f"\n{line}"
    return text


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 2] + " …"
