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
from collections.abc import Sequence
from dataclasses import dataclass

from pddlego_local.core.nouns import PlanResult
from pddlego_local.pddl.checks import check_domain, check_problem
from pddlego_local.pddl.faults import Fault, FaultLog, File, Kind
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.marks import stray_mark
from pddlego_local.pddl.reachability import OUT_OF_REACH, TooLarge, why_no_plan
from pddlego_local.pddl.reader import Block, read, words_in
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
        for fault in self.no_plan:
            if fault.message.startswith(OUT_OF_REACH):
                return fault.message
        return ""


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
    first = _KIND.match(domain)
    second = _KIND.match(problem)
    if first is None or second is None:
        return False
    return first[1].lower() == "problem" and second[1].lower() == "domain"


class Examined:
    """Two texts after reading, with the logs of their faults."""

    def __init__(self, domain: str, problem: str, recover: bool = False) -> None:
        """`recover` has the same meaning as in `reader.read`."""
        log = FaultLog("domain", domain)
        problem_log = FaultLog("problem", problem)
        self.logs = (log, problem_log)
        self.roots: dict[File, Block | None] = {
            "domain": read(domain, log.syntax, recover),
            "problem": read(problem, problem_log.syntax, recover),
        }
        self.domain = read_domain(self.roots["domain"], log)
        self.problem = read_problem(self.roots["problem"], problem_log)
        self.symbols = Symbols(self.domain, self.problem)
        check_domain(self.domain, self.symbols, log)
        check_problem(self.problem, self.domain, self.symbols, problem_log)

    def has(self, kind: Kind) -> bool:
        return any(log.has(kind) for log in self.logs)

    @property
    def accepted(self) -> bool:
        return not self.has("syntax") and not self.has("symbol")


def _examine(domain: str, problem: str, recover: bool) -> Check:
    pair = Examined(domain, problem, recover)
    for log in pair.logs:
        root = pair.roots[log.file]
        for word in words_in(root) if root else ():
            if stray_mark(str(word)):
                log.warn(word, "")  # the log replaces the message for such a word
    if pair.has("syntax"):
        return Check(False, None, _in_order(pair))
    if pair.accepted:
        _check_circles(pair)
    if not pair.accepted:
        return Check(True, False, _in_order(pair))
    no_plan = why_no_plan(pair.domain, pair.problem, (domain, problem))
    return Check(True, True, _in_order(pair, no_plan), no_plan)


def _in_order(pair: Examined, no_plan: Sequence[Fault] = ()) -> tuple[Fault, ...]:
    """All findings by their position, first those of the domain."""
    found = [fault for log in pair.logs for fault in log.in_order()]
    found += no_plan
    found.sort(key=lambda fault: (fault.file, fault.line, fault.column))
    return tuple(found)


def _check_circles(pair: Examined) -> None:
    """Refuses a derived predicate that depends on its own negation. In a task that is
    too large to be grounded here, the planner decides.
    """
    if not pair.domain.axioms:
        return
    refused = ""
    undecided = set[str]()
    try:
        task = Task(pair.domain, pair.problem)
        refused = depends_on_its_negation(task)
    except RecursionError:
        return  # the planner judges what is nested so deeply
    except TooLarge:
        for group in task.groups:
            if group.circular:
                undecided |= {rule.head[0] for rule in group.rules}
    log = pair.logs[0]
    for axiom in pair.domain.axioms:
        word = axiom.predicate.word
        if word.name == refused:
            log.symbol(
                word,
                f"derived predicate `{word}` depends on its own negation, so that it is"
                " neither true nor false: break the circle",
            )
        elif word.name in undecided:
            log.warn(
                word,
                f"derived predicate `{word}` depends on its own negation, and the"
                " planner refuses it if one of its facts does: break the circle",
            )


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
    lines: list[str] = []
    if result.outcome in ("translate_error", "unsolvable", "goal_already_true"):
        lines = _findings(check(domain, problem), result)
    first, *others = lines or [result.message]
    text = _cut(first, MOST_CHARACTERS)
    for line in others:  # as many as fit
        if len(text) + 1 + len(line) > MOST_CHARACTERS:
            break
        text += f"\n{line}"
    return text


def _findings(verdict: Check, result: PlanResult) -> list[str]:
    """The findings with the words of the planner; [] if the check finds nothing."""
    is_refused = result.outcome == "translate_error"
    errors = [fault for fault in verdict.faults if fault.kind != "warning"]
    faults = errors if is_refused else verdict.no_plan
    # Without errors or reasons, the warnings are shown.
    shown = faults or verdict.faults
    lines = [str(fault) for fault in shown[:MOST_FAULTS]]
    if not lines:
        return []
    if not is_refused:
        first_line = result.message.split("\n", 1)[0]
        return [first_line, *lines]
    is_explained = verdict.syntax and errors
    if not is_explained and lines[0] not in result.message:
        message = " ".join(result.message.split())
        lines.append(f"{PLANNER_SAYS} {_cut(message, MOST_OF_PLANNER)}")
    return lines


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 2] + " …"
