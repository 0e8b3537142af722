"""Why a task that the planner accepts can have no plan, as far as predicates alone tell."""

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.symbols import Symbols
from pddlego_local.pddl.task import Action, Condition, Domain, Literal, Problem


class _Facts:
    """What holds at first, and which predicates some action can make true or false."""

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


def warn_of_prospects(
    domain: Domain, problem: Problem, symbols: Symbols, domain_log: FaultLog, problem_log: FaultLog
) -> None:
    """To be asked of pairs without faults of syntax and symbols."""
    facts = _Facts(domain, problem, symbols)
    for action in domain.actions:
        _warn_of_action(action, facts, domain_log)
    if problem.goal is not None:
        _warn_of_goal(problem, problem.goal, facts, problem_log)


def _warn_of_action(action: Action, facts: _Facts, log: FaultLog) -> None:
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


def _warn_of_goal(problem: Problem, goal: Condition, facts: _Facts, log: FaultLog) -> None:
    if not goal.plain or problem.goal_block is None:
        return
    if any(literal.atom.predicate.name in facts.derived for literal in goal.literals):
        return
    open_literals = [literal for literal in goal.literals if not facts.holds(literal)]
    if not open_literals:
        log.warn(
            problem.goal_block,
            "the goal already holds in `:init`, so the plan is empty: "
            "ask for something that is not true yet, or correct `:init`",
        )
    for literal in open_literals:
        if not facts.can_change(literal):
            verb, truth = ("deletes", "false") if literal.negated else ("adds", "true")
            log.warn(
                literal.atom.block,
                f"no action can make `{literal.atom}` {truth}: no action {verb} "
                f"`{literal.atom.predicate}`"
                + ("" if literal.negated else " and the fact is not in `:init`"),
            )
