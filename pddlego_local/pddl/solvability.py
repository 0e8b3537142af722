"""Why a task that the planner accepts can have no plan, or an empty one.

First by predicates alone, then by the facts that actions can reach (relaxation, obstacles).
"""

from pddlego_local.pddl.faults import Fault, FaultLog
from pddlego_local.pddl.obstacles import Obstacles
from pddlego_local.pddl.relaxation import Relaxation, TooLarge, fact_of
from pddlego_local.pddl.symbols import Symbols
from pddlego_local.pddl.task import ActionDefinition, Condition, Domain, Literal, Problem

MOST_FACTS_SHOWN = 5
LONGEST_REASON = 600  # characters


def why_no_plan(
    domain: Domain, problem: Problem, symbols: Symbols, texts: tuple[str, str]
) -> tuple[Fault, ...]:
    """The warnings, in order; for pairs without faults of syntax and symbols."""
    domain_log, problem_log = FaultLog("domain", texts[0]), FaultLog("problem", texts[1])
    changes = [change for action in domain.actions for change in action.effect.changes]
    added = {c.atom.predicate.name for c in changes if not c.negated} | symbols.derived
    deleted = {c.atom.predicate.name for c in changes if c.negated} | symbols.derived
    init = {fact.atom.key for fact in problem.init if not fact.negated}
    possible = added | {key[0] for key in init} | {"="}
    valued = {value.function[0] for value in problem.values}
    for action in domain.actions:
        _warn_of_action(action, possible, valued, domain_log)
    goal = problem.goal
    if goal is not None and symbols.derived.isdisjoint(
        literal.atom.predicate.name for literal in goal.literals
    ):
        unmet = [literal for literal in goal.literals if not _holds(literal, init)]
        if goal.plain and not unmet and problem.goal_block is not None:
            problem_log.warn(problem.goal_block, _of_a_goal_that_is_true(goal))
        required = [literal for literal in unmet if literal.required]
        hopeless = [
            literal
            for literal in required
            if literal.atom.predicate.name not in (deleted if literal.negated else added)
        ]
        for literal in hopeless:
            _warn_of_hopeless(literal, problem_log)
        if not hopeless:
            _warn_of_obstacles(required, domain, problem, symbols, problem_log)
    return domain_log.in_order() + problem_log.in_order()


def _holds(literal: Literal, init: set[tuple[str, ...]]) -> bool:
    key = literal.atom.key
    true = key[1] == key[2] if key[0] == "=" and len(key) == 3 else key in init
    return true != literal.negated


def _warn_of_action(
    action: ActionDefinition, possible: set[str], valued: set[str], log: FaultLog
) -> None:
    never = f"action `{action.word}` can never be used"
    for literal in action.precondition.literals if action.precondition.plain else ():
        predicate = literal.atom.predicate
        if not literal.negated and predicate.name not in possible:
            log.warn(
                literal.atom.block,
                f"{never}: no action adds `{predicate}` and `:init` has no such fact",
            )
    for function in (cost.predicate for cost in action.effect.costs):
        if function.name not in valued:
            value = f"no value `(= ({function} …) number)`"
            log.warn(function, f"{never}: `:init` gives its cost `{function}` {value}")


def _warn_of_hopeless(literal: Literal, log: FaultLog) -> None:
    verb, truth = ("deletes", "false") if literal.negated else ("adds", "true")
    log.warn(
        literal.atom.block,
        f"no action can make `{literal.atom}` {truth}: no action {verb} `{literal.atom.predicate}`"
        + ("" if literal.negated else " and the fact is not in `:init`"),
    )


def _of_a_goal_that_is_true(goal: Condition) -> str:
    if not goal.literals:
        return (
            "the goal asks for nothing, so it already holds and the plan is empty: "
            "name the facts that are to be made true"
        )
    facts = [
        f"`(not {literal.atom})`" if literal.negated else f"`{literal.atom}`"
        for literal in goal.literals
    ]
    more = ", …" if len(facts) > MOST_FACTS_SHOWN else ""
    return (
        f"the goal {', '.join(facts[:MOST_FACTS_SHOWN])}{more} already "
        f"{'holds' if len(facts) == 1 else 'hold'} in `:init`, so the plan is empty: "
        "ask for something that is not true yet, or correct `:init`"
    )


def _warn_of_obstacles(
    literals: list[Literal], domain: Domain, problem: Problem, symbols: Symbols, log: FaultLog
) -> None:
    """Says of each literal of the goal that is out of reach why it is; or nothing at all, where
    that would take too long to find out."""
    try:
        relaxation = Relaxation(domain, problem, symbols)
        missing = set(relaxation.reach(map(fact_of, literals)))
        obstacles = Obstacles(relaxation)
        reasons = [
            (literal, obstacles.of(literal)) for literal in literals if fact_of(literal) in missing
        ]
    except TooLarge:
        return
    for literal, reason in reasons:
        truth = "false" if literal.negated else "true"
        if len(reason) > LONGEST_REASON:
            reason = reason[:LONGEST_REASON] + "…"
        log.warn(literal.atom.block, f"no action can make `{literal.atom}` {truth}: {reason}")
