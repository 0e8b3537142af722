"""Why a task that the planner accepts can have no plan, or an empty one.

First by predicates alone, then by the facts that actions can reach (relaxation, obstacles).
"""

from collections.abc import Callable

from pddlego_local.pddl.faults import Fault, FaultLog
from pddlego_local.pddl.obstacles import Obstacles
from pddlego_local.pddl.relaxation import Relaxation, TooLarge
from pddlego_local.pddl.rules import fact_of
from pddlego_local.pddl.symbols import Symbols
from pddlego_local.pddl.task import ActionDefinition, Condition, Domain, Literal, Problem

MOST_FACTS_SHOWN = 5
LONGEST_REASON = 600  # characters

Explorer = Callable[[], Relaxation]


class _Facts:
    """What is true at first, and which predicates some action can make true or false."""

    def __init__(self, domain: Domain, problem: Problem, symbols: Symbols) -> None:
        changes = [change for action in domain.actions for change in action.effect.changes]
        self.derived = symbols.derived
        self.added = {c.atom.predicate.name for c in changes if not c.negated} | symbols.derived
        self.deleted = {c.atom.predicate.name for c in changes if c.negated} | symbols.derived
        self.init = {fact.atom.key for fact in problem.init if not fact.negated}
        self.initial_predicates = {key[0] for key in self.init} | {"="}
        self.functions = {value.function[0] for value in problem.values}

    def holds(self, literal: Literal) -> bool:
        key = literal.atom.key
        true = key[1] == key[2] if key[0] == "=" and len(key) == 3 else key in self.init
        return true != literal.negated

    def can_change(self, literal: Literal) -> bool:
        changing = self.deleted if literal.negated else self.added
        return literal.atom.predicate.name in changing


def why_no_plan(
    domain: Domain, problem: Problem, symbols: Symbols, texts: tuple[str, str]
) -> tuple[Fault, ...]:
    """The warnings, in order; for pairs without faults of syntax and symbols."""
    domain_log, problem_log = FaultLog("domain", texts[0]), FaultLog("problem", texts[1])
    facts = _Facts(domain, problem, symbols)
    for action in domain.actions:
        _warn_of_action(action, facts, domain_log)
    if problem.goal is not None:
        _warn_of_goal(
            problem,
            problem.goal,
            facts,
            lambda: Relaxation(domain, problem, symbols),
            problem_log,
        )
    return domain_log.in_order() + problem_log.in_order()


def _warn_of_action(action: ActionDefinition, facts: _Facts, log: FaultLog) -> None:
    for literal in action.precondition.literals if action.precondition.plain else ():
        predicate = literal.atom.predicate
        possible = facts.added | facts.initial_predicates
        if not literal.negated and predicate.name not in possible:
            log.warn(
                literal.atom.block,
                f"action `{action.word}` can never be used: no action adds `{predicate}` "
                "and `:init` has no such fact",
            )
    for function in (cost.function for cost in action.effect.costs):
        if function.name not in facts.functions:
            log.warn(
                function,
                f"action `{action.word}` can never be used: `:init` gives its cost `{function}` "
                f"no value `(= ({function} …) number)`",
            )


def _warn_of_goal(
    problem: Problem, goal: Condition, facts: _Facts, explorer: Explorer, log: FaultLog
) -> None:
    if problem.goal_block is None or not goal.complete:
        return
    if any(literal.atom.predicate.name in facts.derived for literal in goal.literals):
        return
    open_literals = [literal for literal in goal.literals if not facts.holds(literal)]
    if goal.plain and not open_literals:
        log.warn(problem.goal_block, _of_a_goal_that_is_true(goal))
    required = [literal for literal in open_literals if literal.required]
    for literal in required:
        if not facts.can_change(literal):
            verb, truth = ("deletes", "false") if literal.negated else ("adds", "true")
            log.warn(
                literal.atom.block,
                f"no action can make `{literal.atom}` {truth}: no action {verb} "
                f"`{literal.atom.predicate}`"
                + ("" if literal.negated else " and the fact is not in `:init`"),
            )
    if all(map(facts.can_change, required)):
        _warn_of_obstacles(required, explorer, log)


def _of_a_goal_that_is_true(goal: Condition) -> str:
    if not goal.literals:
        return (
            "the goal asks for nothing, so it already holds and the plan is empty: "
            "name the facts that are to be made true"
        )
    shown = ", ".join(f"`{_shown(literal)}`" for literal in goal.literals[:MOST_FACTS_SHOWN])
    more = ", …" if len(goal.literals) > MOST_FACTS_SHOWN else ""
    hold = "holds" if len(goal.literals) == 1 else "hold"
    return (
        f"the goal {shown}{more} already {hold} in `:init`, so the plan is empty: "
        "ask for something that is not true yet, or correct `:init`"
    )


def _shown(literal: Literal) -> str:
    return f"(not {literal.atom})" if literal.negated else str(literal.atom)


def _warn_of_obstacles(open_literals: list[Literal], explorer: Explorer, log: FaultLog) -> None:
    """Says of each open literal of the goal that is out of reach why it is; or nothing at all,
    where that would take too long to find out."""
    try:
        relaxation = explorer()
        missing = set(relaxation.reach(fact_of(literal) for literal in open_literals))
        obstacles = Obstacles(relaxation)
        reasons = [
            (literal, obstacles.of(literal))
            for literal in open_literals
            if fact_of(literal) in missing
        ]
    except TooLarge:
        return
    for literal, reason in reasons:
        truth = "false" if literal.negated else "true"
        if len(reason) > LONGEST_REASON:
            reason = reason[:LONGEST_REASON] + "…"
        log.warn(literal.atom.block, f"no action can make `{literal.atom}` {truth}: {reason}")
