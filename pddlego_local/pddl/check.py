"""The static check: what is wrong with a domain and a problem, in words a model can act on.

The judge is Fast Downward 26.6: a pair has a fault of kind "syntax" or "symbol" if and only if its
translator refuses the pair or crashes on it. Fast Downward reports one fault, without a line; this
check reports all that do not follow from others, each with its place and a remedy, and warns of
what Fast Downward passes over in silence. `explain` makes of it what a model reads.

    reader → files (formulas, typed_list) → task → checks (symbols)
        → solvability

Some refusals show only in the grounded task. Left to the planner are axioms that depend on their
own negation, costs beyond 32 bits, and limits of time and memory. Warned of is a predicate declared
twice with different numbers of parameters (some of these tasks crash it). Refused is a derived
predicate with too few parameters, also where no fact of it makes the planner crash.
"""

import re
from dataclasses import dataclass

from pddlego_local.core.nouns import PlanResult
from pddlego_local.pddl.checks import check_derived, check_domain, check_problem
from pddlego_local.pddl.faults import Fault, FaultLog, Kind
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.marks import stray_mark
from pddlego_local.pddl.reader import read, words_in
from pddlego_local.pddl.solvability import OUT_OF_REACH, why_no_plan
from pddlego_local.pddl.symbols import Symbols

__all__ = ["PLANNER_SAYS", "SWAPPED", "Check", "Fault", "check", "explain"]

MOST_FAULTS = 5  # in an explanation
MOST_CHARACTERS = 2000  # of the whole explanation
MOST_OF_PLANNER = 300  # characters of the planner's own words beside the checker's

SWAPPED = "this is a problem, and the problem file is a domain: did you swap them?"
PLANNER_SAYS = "The planner says:"
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

    @property
    def out_of_reach(self) -> str:
        """Why the goal could not be reached even if nothing were ever undone; "" where it could."""
        reasons = (fault.message for fault in self.no_plan)
        return next((reason for reason in reasons if reason.startswith(OUT_OF_REACH)), "")


def check(domain: str, problem: str) -> Check:
    """Checks any two texts; raises nothing, whatever they are.

    The first reading decides, as the planner reads. Where it finds the structure broken, a second
    one that looks for misplaced parentheses explains.
    """
    if _swapped(domain, problem):
        log = FaultLog("domain", domain)
        log.syntax(domain.index("("), SWAPPED)  # and not a dozen, of each section
        return Check(False, None, log.in_order())
    decided = _examine(domain, problem, recover=False)
    if decided.syntax:
        return decided
    explained = _examine(domain, problem, recover=True)
    return decided if explained.syntax else explained


def _swapped(domain: str, problem: str) -> bool:
    """Whether each is what the other should be, by what it says it defines."""
    kinds = [match and match[1].lower() for match in map(_KIND.match, (domain, problem))]
    return kinds == ["problem", "domain"]


class Examined:
    """Two texts as they were read, and the logs of what is wrong with them."""

    def __init__(self, domain: str, problem: str, recover: bool = False) -> None:
        """`recover` as for `reader.read`."""
        self.logs = log, problem_log = FaultLog("domain", domain), FaultLog("problem", problem)
        self.roots = read(domain, log.syntax, recover), read(problem, problem_log.syntax, recover)
        self.domain = read_domain(self.roots[0], log)
        self.problem = read_problem(self.roots[1], problem_log)
        self.symbols = Symbols(self.domain, self.problem)
        check_domain(self.domain, self.symbols, log)
        check_problem(self.problem, self.domain, self.symbols, problem_log)
        check_derived(self.problem, self.domain, self.symbols, log)

    def has(self, kind: Kind) -> bool:
        return any(log.has(kind) for log in self.logs)


def _examine(domain: str, problem: str, recover: bool) -> Check:
    read_ = Examined(domain, problem, recover)
    for log, root in zip(read_.logs, read_.roots, strict=True):
        for word in words_in(root) if root else ():
            if stray_mark(str(word)):
                log.warn(word, "")  # for the log says what is wrong with such a word
    syntax = not read_.has("syntax")
    right = syntax and not read_.has("symbol")
    parts, texts = (read_.domain, read_.problem, read_.symbols), (domain, problem)
    no_plan = why_no_plan(*parts, texts) if right else ()
    faults = sorted((*(f for log in read_.logs for f in log.in_order()), *no_plan), key=_position)
    return Check(syntax, right if syntax else None, tuple(faults), no_plan)


def _position(fault: Fault) -> tuple[bool, int, int]:
    return fault.file == "problem", fault.line, fault.column


def explain(domain: str, problem: str, result: PlanResult) -> str:
    """What a model reads about files without a plan: at most five findings, each on a line
    "domain line 12, column 7: …".

    The planner names the first thing that it stumbles over, without a line. Refused files: the
    faults, errors before anything else; where the structure is broken, or there are only warnings,
    the planner's own words too. No plan or an empty one: the planner's verdict, then why. Else, and
    where the checker finds nothing, the planner's message. Never longer than MOST_CHARACTERS.
    """
    lines: list[str] = []
    if result.outcome in ("translate_error", "unsolvable", "goal_already_true"):
        verdict = check(domain, problem)
        errors = [fault for fault in verdict.faults if fault.kind != "warning"]
        # Where there are neither errors nor reasons, what else is odd about the files.
        faults = errors if result.outcome == "translate_error" else verdict.no_plan
        lines = [str(fault) for fault in (faults or verdict.faults)[:MOST_FAULTS]]
        if lines and result.outcome != "translate_error":
            lines.insert(0, result.message.split("\n", 1)[0])
        elif lines and not (verdict.syntax and errors) and lines[0] not in result.message:
            planners = _cut(" ".join(result.message.split()), MOST_OF_PLANNER)
            lines.append(f"{PLANNER_SAYS} {planners}")
    first, *others = lines or [result.message]
    text = _cut(first, MOST_CHARACTERS)
    for line in others:  # as far as they fit
        if len(text) + 1 + len(line) > MOST_CHARACTERS:
            break
        text += f"\n{line}"
    return text


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 2] + " …"
