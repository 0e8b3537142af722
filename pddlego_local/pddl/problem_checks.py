"""What is wrong with the names of a problem."""

from pddlego_local.pddl.domain_checks import CONDITION_FORMS, check_condition, check_declarations
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.symbols import Place, Symbols, check_literal
from pddlego_local.pddl.task import Domain, Problem

FACT_FORMS = (
    "`:init` is a plain list of facts `(predicate object …)` and values `(= (function …) number)`"
)


def check_problem(problem: Problem, domain: Domain | None, symbols: Symbols, log: FaultLog) -> None:
    word, title = problem.domain_word, domain.word if domain is not None else None
    if word is not None and title is not None and word.name != title.name:
        log.symbol(word, f"the domain is called `{title}`, not `{word}`: write `(:domain {title})`")
    check_declarations(problem.objects, symbols, log)
    for entry in problem.objects:
        if entry.name in symbols.constants:
            log.symbol(
                entry.word,
                f"object `{entry.word}` is already declared under `:constants` of the domain: "
                "remove it here",
            )
    _check_init(problem, symbols, log)
    _check_values(problem, domain, log)
    if problem.goal is not None:
        check_condition(problem.goal, Place("`:goal`", CONDITION_FORMS, {}), symbols, log)


def _check_init(problem: Problem, symbols: Symbols, log: FaultLog) -> None:
    place = Place("`:init`", FACT_FORMS, {})
    truth: dict[tuple[str, ...], bool] = {}
    for fact in problem.init:
        atom = fact.atom
        right = check_literal(fact, place, symbols, log)
        if truth.setdefault(atom.key, not fact.negated) == fact.negated:
            log.symbol(atom.block, f"`{atom}` is both true and false in `:init`: remove one")
        elif fact.negated and right:
            log.warn(
                atom.block,
                "`(not …)` in `:init` says nothing, since what is not listed is false: remove it",
            )
        if atom.predicate.name in symbols.derived and not fact.negated:
            log.symbol(
                atom.predicate,
                f"derived predicate `{atom.predicate}` cannot stand in `:init`: remove it",
            )


def _check_values(problem: Problem, domain: Domain | None, log: FaultLog) -> None:
    needed = _cost_arities(domain)
    numbers: dict[tuple[str, ...], int] = {}
    for value in problem.values:
        if numbers.setdefault(value.function, value.number) != value.number:
            log.symbol(value.block, f"`{value.block}` contradicts an earlier value: remove one")
        name, *objects = value.function
        if len(objects) < needed.get(name, 0):  # the planner looks for the missing ones and fails
            log.symbol(
                value.block,
                f"`{value.block}` in `:init` gives `{name}` {len(objects)} objects, "
                f"but an action takes its cost from `{name}` with {needed[name]}",
            )


def _cost_arities(domain: Domain | None) -> dict[str, int]:
    """The largest number of terms with which an action uses each function as its cost."""
    arities: dict[str, int] = {}
    for action in domain.actions if domain is not None else ():
        for cost in action.effect.costs[-1:] if action.effect.changes else ():
            arities[cost.function.name] = max(cost.arity, arities.get(cost.function.name, 0))
    return arities
