"""What is wrong with the names of a domain."""

from collections.abc import Iterable

from pddlego_local.pddl.conditions import OPERATORS
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.symbols import Place, Symbols, by_name, check_literal
from pddlego_local.pddl.task import (
    ActionDefinition,
    Axiom,
    Condition,
    Domain,
    Effect,
    Literal,
    TypedName,
)

CONDITION_FORMS = "a condition is a fact, `and`, `or`, `not`, `imply`, `forall` or `exists`"
EFFECT_FORMS = (
    "an effect is a fact, `not` with a fact, `and`, `forall`, `when` or `(increase (total-cost) …)`"
)


def check_domain(domain: Domain, symbols: Symbols, log: FaultLog) -> None:
    _check_types(domain, symbols, log)
    check_declarations(domain.constants, symbols, log)
    _check_predicates(domain, symbols, log)
    for axiom in domain.axioms:
        _check_axiom(axiom, symbols, log)
    names: set[str] = set()
    for action in domain.actions:
        if action.word.name in names:
            log.warn(action.word, f"action `{action.word}` is defined twice: rename one of them")
        names.add(action.word.name)
        _check_action(action, symbols, log)


def check_declarations(entries: Iterable[TypedName], symbols: Symbols, log: FaultLog) -> None:
    """Objects or constants: repeated names, types that are not declared, unlikely names."""
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            log.symbol(entry.word, f"object `{entry.word}` is declared twice: remove one of them")
        seen.add(entry.name)
        for word in entry.types:
            if symbols.types.reliable and word.name not in symbols.types.declared:
                log.symbol(word, f"unknown type `{word}`: declare it under `:types`")
        if entry.name in symbols.types.declared and entry.name != "object":
            log.warn(entry.word, f"`{entry.word}` is the name of a type, but is declared an object")
        if "\\n" in entry.name:
            log.warn(entry.word, f"`{entry.word}` is read as an object: remove it")
        if entry.name[0] == "?":
            log.warn(
                entry.word, f"object `{entry.word}` begins with `?` like a variable: rename it"
            )


def check_condition(
    condition: Condition, place: Place, symbols: Symbols, log: FaultLog
) -> list[Literal]:
    """Reports misused names; the literals without any."""
    for variables in condition.quantified:
        check_variable_types(variables, symbols, log)
    return [entry for entry in condition.literals if check_literal(entry, place, symbols, log)]


def check_variable_types(variables: list[TypedName], symbols: Symbols, log: FaultLog) -> None:
    for variable in variables:
        for word in variable.types:
            if symbols.types.reliable and word.name not in symbols.types.named:
                log.warn(
                    word,
                    f"unknown type `{word}` of a variable: no object can have it; "
                    "declare it under `:types`",
                )


def _check_types(domain: Domain, symbols: Symbols, log: FaultLog) -> None:
    for entry in domain.types:
        if entry.name == "number":
            log.symbol(entry.word, "the type `number` is reserved: rename it")
        for parent in entry.types if symbols.types.comparable else ():
            is_cycle = entry.name in symbols.types.with_ancestors(parent.name)
            if is_cycle and entry.name != "object":
                log.warn(entry.word, f"type `{entry.word}` is its own supertype: break the cycle")


def _check_predicates(domain: Domain, symbols: Symbols, log: FaultLog) -> None:
    declared: dict[str, int | None] = {}
    for predicate in domain.predicates or ():
        word, parameters = predicate.word, predicate.parameters
        arity = None if parameters is None else len(parameters)
        if word.name in declared:
            arity_differs = declared[word.name] != arity
            which = (
                " with another number of parameters: only the last counts" if arity_differs else ""
            )
            log.warn(word, f"predicate `{word}` is declared twice{which}; remove one of them")
        declared[word.name] = arity
        if word.name in OPERATORS:
            log.warn(word, f"`{word}` is an operator and cannot name a predicate: rename it")
        check_variable_types(parameters or [], symbols, log)


def _check_axiom(axiom: Axiom, symbols: Symbols, log: FaultLog) -> None:
    parameters = axiom.predicate.parameters
    place = Place(
        f"the condition of `:derived` predicate `{axiom.predicate.word}`",
        CONDITION_FORMS,
        None if parameters is None else by_name(parameters),
        in_domain=True,
        loosely_typed=True,
    )
    check_condition(axiom.condition, place, symbols, log)


def _check_action(action: ActionDefinition, symbols: Symbols, log: FaultLog) -> None:
    variables = by_name(action.parameters) if action.complete else None
    place = Place(
        f"action `{action.word}`", CONDITION_FORMS, variables, in_domain=True, loosely_typed=True
    )
    seen: set[str] = set()
    for parameter in action.parameters:
        if parameter.name in seen:
            log.warn(
                parameter.word,
                f"parameter `{parameter.word}` of {place.called} is declared twice: rename one",
            )
        seen.add(parameter.name)
    check_variable_types(action.parameters, symbols, log)
    check_condition(action.precondition, place, symbols, log)
    for condition in action.effect.conditions:
        check_condition(condition, place, symbols, log)
    _check_effect(action, place, symbols, log)


def _check_effect(action: ActionDefinition, place: Place, symbols: Symbols, log: FaultLog) -> None:
    effect = action.effect
    for variables in effect.quantified:
        check_variable_types(variables, symbols, log)
    place = Place(place.called, EFFECT_FORMS, place.variables, True, True)
    for change in effect.changes:
        check_literal(change, place, symbols, log)
        predicate = change.atom.predicate
        if predicate.name in symbols.derived:
            log.symbol(
                predicate,
                f"derived predicate `{predicate}` cannot be changed by {place.called}: remove it",
            )
    if not effect.changes and effect.complete:
        log.warn(
            action.word,
            f"{place.called} has no effect and is dropped by the planner: "
            "add what it makes true or false",
        )
    if not effect.conditional:
        _warn_of_contradictions(effect, place, log)


def _warn_of_contradictions(effect: Effect, place: Place, log: FaultLog) -> None:
    added = {change.atom.key for change in effect.changes if not change.negated}
    for change in effect.changes:
        if change.negated and change.atom.key in added:
            log.warn(
                change.atom.block,
                f"{place.called} both adds and deletes `{change.atom}`: the deletion is dropped",
            )
