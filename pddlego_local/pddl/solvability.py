"""Why a task that the planner accepts can have no plan, or an empty one.

First by predicates alone, then by the facts that actions can reach (relaxation).
"""

from collections.abc import Iterator

from pddlego_local.pddl.faults import Fault, FaultLog
from pddlego_local.pddl.relaxation import (
    Binding,
    Fact,
    Relaxation,
    Rule,
    TooLarge,
    fact_of,
    unified,
)
from pddlego_local.pddl.symbols import Symbols, by_name
from pddlego_local.pddl.task import ActionDefinition, Condition, Domain, Literal, Problem, TypedName

MOST_FACTS_SHOWN = 5
OUT_OF_REACH = "no action can make"
NOT_IN_INIT = " and the fact is not in `:init`"
LONGEST_CHAIN = 4  # of actions, each of which needs what the next one could bring about


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
        changed = {True: deleted, False: added}
        hopeless = [one for one in required if one.atom.predicate.name not in changed[one.negated]]
        for literal in hopeless:
            done, more = ("deletes", "") if literal.negated else ("adds", NOT_IN_INIT)
            _warn_of(literal, f"no action {done} `{literal.atom.predicate}`{more}", problem_log)
        if not hopeless:
            _warn_of_unreached(required, domain, problem, symbols, problem_log)
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
            why = f"no action adds `{predicate}` and `:init` has no such fact"
            log.warn(literal.atom.block, f"{never}: {why}")
    function = action.effect.cost and action.effect.cost.predicate
    if function and not function.name.isdigit() and function.name not in valued:
        value = f"no value `(= ({function} …) number)`"
        log.warn(function, f"{never}: `:init` gives its cost `{function}` {value}")


def _warn_of(literal: Literal, reason: str, log: FaultLog) -> None:
    """Of a part of the goal that is out of reach."""
    truth = "false" if literal.negated else "true"
    log.warn(literal.atom.block, f"{OUT_OF_REACH} `{literal.atom}` {truth}: {reason}")


def _of_a_goal_that_is_true(goal: Condition) -> str:
    if not goal.literals:
        return (
            "the goal asks for nothing, so it already holds and the plan is empty: "
            "name the facts that are to be made true"
        )
    facts = [f"`{literal}`" for literal in goal.literals]
    shown = [*facts[:MOST_FACTS_SHOWN], *["…"] * (len(facts) > MOST_FACTS_SHOWN)]
    holds = "already holds" if len(facts) == 1 else "already hold"
    return (
        f"the goal {', '.join(shown)} {holds} in `:init`, so the plan is empty: "
        "ask for something that is not true yet, or correct `:init`"
    )


def _warn_of_unreached(
    literals: list[Literal], domain: Domain, problem: Problem, symbols: Symbols, log: FaultLog
) -> None:
    """Of each literal of the goal that is out of reach; of none, where that would take too long to
    find out."""
    try:
        relaxation = Relaxation(domain, problem, symbols)
        missing = set(relaxation.reach(map(fact_of, literals)))
        unreached = [literal for literal in literals if fact_of(literal) in missing]
        reasons = [_reason(relaxation, fact_of(literal)) for literal in unreached]
    except TooLarge:
        return
    for literal, reason in zip(unreached, reasons, strict=True):
        _warn_of(literal, reason, log)


def _reason(relaxation: Relaxation, fact: Fact) -> str:
    """What the first action that might add a fact needs and is out of reach too, and so on, down to
    what nothing brings about. May raise TooLarge."""
    chain, seen, end = dict[str, None](), set[Fact](), "nothing makes that true"
    while fact not in seen and len(chain) < LONGEST_CHAIN:
        seen.add(fact)
        attempts = sorted(_attempts(relaxation, fact), key=lambda attempt: bool(attempt[2]))
        if not attempts:
            break
        rule, binding, misfit = attempts[0]
        unmet = None if misfit else next(_unmet(relaxation, rule, binding), None)
        while not (misfit or unmet) and (only := _only_way(relaxation, rule, binding)):
            binding, unmet = only, next(_unmet(relaxation, rule, only), None)
        if unmet is None:
            why = misfit or "finds no objects that meet all its conditions"
            end = f"`{rule.action.word}` {why}"
            break
        chain[f"`{rule.action.word}` needs `{_shown(unmet, binding, relaxation)}`"] = None
        name, *terms = fact_of(unmet, binding)
        fact = (name, *("" if term in rule.variables else term for term in terms))
    return ", and ".join(filter(None, [", ".join(chain), end]))


def _attempts(relaxation: Relaxation, fact: Fact) -> Iterator[tuple[Rule, Binding, str]]:
    """The rules that might add a fact, in which "" stands for any object, with its objects, and
    with the parameter that one of these does not fit, in words."""
    for rule in relaxation.rules:
        for effect in rule.effects:
            variables = rule.variables | by_name(effect.scope)
            pattern = fact_of(effect)
            found = unified(pattern, fact, variables) if pattern[0] == fact[0] else None
            if found is None:
                continue
            odd = [v for t, v in found.items() if v not in relaxation.objects_for(variables[t])]
            misfits = (variables[t] for t, v in found.items() if v in odd)
            own = {term: value for term, value in found.items() if term in rule.variables}
            yield rule, own, next(map(_misfit, misfits), "")


def _misfit(variable: TypedName) -> str:
    types = " or ".join(f"`{word}`" for word in variable.types)
    return f"takes for `{variable.word}` nothing but a {types}"


def _only_way(relaxation: Relaxation, rule: Rule, binding: Binding) -> Binding | None:
    """With the objects of the only fact that meets some condition of a rule."""
    for need in rule.needs:
        ways = list(relaxation.matches(rule, need, binding))
        if len(ways) == 1 and ways[0] != binding:
            return ways[0]
    return None


def _unmet(relaxation: Relaxation, rule: Rule, binding: Binding) -> Iterator[Literal]:
    """The conditions of a rule that no reachable fact meets, each by itself."""
    for need in rule.needs:
        if next(relaxation.matches(rule, need, binding), None) is None:
            yield need
    for test in rule.tests:
        fact = fact_of(test, binding)
        if not any(term in rule.variables for term in fact[1:]) and not relaxation.holds(fact):
            yield test


def _shown(literal: Literal, binding: Binding, relaxation: Relaxation) -> str:
    objects = relaxation.symbols.objects
    bound = {name: str(objects[value].word) for name, value in binding.items()}
    terms = [bound.get(term.name, str(term)) for term in literal.atom.terms]
    atom = f"({' '.join([str(literal.atom.predicate), *terms])})"
    return f"(not {atom})" if literal.negated else atom
