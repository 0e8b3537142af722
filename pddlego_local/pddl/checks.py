"""Checks the names in a domain, and in a problem together with its domain."""

from dataclasses import replace

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.formulas import OPERATORS
from pddlego_local.pddl.symbols import Place, Symbols, by_name, check_literal, repeated
from pddlego_local.pddl.task import (
    ActionDefinition,
    Axiom,
    Domain,
    Effect,
    Problem,
    TypedName,
    WrittenCondition,
)

EFFECT_FORMS = (
    "an effect is a fact, `not` with a fact, `and`, `forall`, `when` or `(increase"
    " (total-cost) …)`"
)
AS_TYPE = "a type stands behind ` - `, as in `name - {}`"
FACT_FORMS = (
    "`:init` is a plain list of facts `(predicate object …)` and values `(= (function"
    " …) number)`"
)


def check_domain(domain: Domain, symbols: Symbols, log: FaultLog) -> None:
    _check_types(domain, symbols, log)
    _check_declarations(domain.constants, symbols, log)
    _check_predicates(domain, symbols, log)
    for axiom in domain.axioms:
        _check_derived(axiom, symbols, log)
    for word in repeated(action.word for action in domain.actions):
        log.misuse(word, f"action `{word}` is defined twice: rename one of them")
    for action in domain.actions:
        _check_action(action, symbols, log)


def _check_derived(axiom: Axiom, symbols: Symbols, log: FaultLog) -> None:
    """Checks a rule of `:derived`.

    If its head has too few parameters and a condition uses the predicate, the planner
    crashes on the missing ones. The planner silently accepts other mistakes in heads.
    """
    word = axiom.predicate.word
    parameters = axiom.predicate.parameters
    variables = None if parameters is None else by_name(parameters)
    called = f"the condition of `:derived` predicate `{word}`"
    _check_condition(axiom.condition, Place(called, symbols, log, variables))
    _check_variable_types(parameters or [], symbols, log)
    if word.name == "=" and symbols.objects:
        log.symbol(word, "`=` cannot be derived: give the predicate another name")
        return
    if symbols.predicates is None:
        return
    declared = symbols.predicates.get(word.name)
    if declared is None:
        log.warn(
            word,
            f"derived predicate `{word}` is not declared:"
            f" add `({word} …)` to `:predicates`",
        )
    elif parameters is not None and declared.parameters is not None:
        missing = len(declared.parameters) - len(parameters)
        if missing:
            refuse = log.symbol if missing > 0 else log.warn
            refuse(
                word,
                f"predicate `{word}` {declared.has} but is derived with"
                f" {len(parameters)}: write the same ones in both places",
            )


def _check_types(domain: Domain, symbols: Symbols, log: FaultLog) -> None:
    types = symbols.types
    for entry in domain.types:
        word = entry.word
        if word.name == "number":
            log.symbol(word, "the type `number` is reserved: rename it")
        if word.name == "object" or not types.comparable:
            continue
        for parent in entry.types:
            if word.name in types.with_ancestors(parent.name):
                log.warn(word, f"type `{word}` is its own supertype: break the cycle")


def _check_declarations(
    entries: list[TypedName], symbols: Symbols, log: FaultLog
) -> None:
    """Reports repeated names, undeclared types and unlikely names of objects or
    constants.
    """
    types = symbols.types
    for word in repeated(entry.word for entry in entries):
        remedy = "remove one of them"
        if word.name in types.declared:
            remedy = AS_TYPE.format(word)
        log.symbol(word, f"object `{word}` is declared twice: {remedy}")
    for entry in entries:
        word = entry.word
        for kind in entry.types:
            if types.reliable and kind.name not in types.declared:
                log.symbol(kind, types.unknown(kind))
        if word.name in types.declared and word.name != "object":
            log.warn(
                word,
                f"`{word}` is the name of a type, but is declared an object:"
                f" {AS_TYPE.format(word)}",
            )
        if "\\n" in word.name:
            log.warn(word, f"`{word}` is read as an object: remove it")
        if word.name[0] == "?":
            log.warn(
                word, f"object `{word}` begins with `?` like a variable: rename it"
            )


def _check_predicates(domain: Domain, symbols: Symbols, log: FaultLog) -> None:
    declared: dict[str, int | None] = {}
    for predicate in domain.predicates or ():
        word = predicate.word
        parameters = predicate.parameters
        arity = None if parameters is None else len(parameters)
        if word.name in declared:
            said = f"predicate `{word}` is declared twice"
            if declared[word.name] != arity:
                said += " with another number of parameters: only the last counts"
            log.misuse(word, f"{said}; remove one of them")
        declared[word.name] = arity
        if word.name in OPERATORS:
            log.warn(
                word,
                f"`{word}` is an operator and cannot name a predicate: rename it",
            )
        _check_variable_types(parameters or [], symbols, log)


def _check_variable_types(
    variables: list[TypedName], symbols: Symbols, log: FaultLog
) -> None:
    types = symbols.types
    if not types.reliable:
        return
    for variable in variables:
        for word in variable.types:
            if word.name not in types.named:
                said = types.unknown(word, " of a variable: no object can have it; ")
                log.warn(word, said)


def _check_condition(condition: WrittenCondition, place: Place) -> None:
    for variables in condition.quantified:
        _check_variable_types(variables, place.symbols, place.log)
    for literal in condition.literals:
        check_literal(literal, place)


def _check_action(action: ActionDefinition, symbols: Symbols, log: FaultLog) -> None:
    called = f"action `{action.word}`"
    effect = action.effect
    for word in repeated(parameter.word for parameter in action.parameters):
        log.warn(word, f"parameter `{word}` of {called} is declared twice: rename one")
    _check_variable_types(action.parameters, symbols, log)
    variables = by_name(action.parameters) if action.complete else None
    place = Place(called, symbols, log, variables)
    for condition in (action.precondition, *effect.conditions):
        _check_condition(condition, place)
    if not effect.changes and effect.complete:
        log.warn(
            action.word,
            f"{called} has no effect and is dropped by the planner:"
            " add what it makes true or false",
        )
    _check_effect(effect, replace(place, forms=EFFECT_FORMS))


def _check_effect(effect: Effect, place: Place) -> None:
    log = place.log
    for variables in effect.quantified:
        _check_variable_types(variables, place.symbols, log)
    added = {change.atom.key for change in effect.changes if not change.negated}
    for change in effect.changes:
        check_literal(change, place)
        atom = change.atom
        predicate = atom.predicate
        if predicate.name in place.symbols.derived:
            log.symbol(
                predicate,
                f"derived predicate `{predicate}` cannot be changed by {place.called}:"
                " remove it",
            )
        if change.negated and atom.key in added and not effect.conditions:
            log.warn(
                atom.block,
                f"{place.called} both adds and deletes `{atom}`:"
                " the deletion is dropped",
            )


def check_problem(
    problem: Problem, domain: Domain, symbols: Symbols, log: FaultLog
) -> None:
    word = problem.domain_word
    title = domain.word
    if word is not None and title is not None and word.name != title.name:
        log.symbol(
            word,
            f"the domain is called `{title}`, not `{word}`: write `(:domain {title})`",
        )
    _check_declarations(problem.objects, symbols, log)
    for entry in problem.objects:
        if entry.name in symbols.constants:
            log.symbol(
                entry.word,
                f"object `{entry.word}` is already declared under `:constants` of the"
                " domain: remove it here",
            )
    _check_init(problem, Place("`:init`", symbols, log, {}, FACT_FORMS))
    _check_values(problem, domain, log)
    if problem.goal is not None:
        _check_condition(problem.goal, Place("`:goal`", symbols, log, {}))


def _check_init(problem: Problem, place: Place) -> None:
    log = place.log
    truth: dict[tuple[str, ...], bool] = {}
    for fact in problem.init:
        atom = fact.atom
        is_right = check_literal(fact, place)
        if truth.setdefault(atom.key, not fact.negated) == fact.negated:
            log.symbol(
                atom.block, f"`{atom}` is both true and false in `:init`: remove one"
            )
        elif fact.negated and is_right:
            log.misuse(
                atom.block,
                "`(not …)` in `:init` says nothing, since what is not listed is false:"
                " remove it",
                "denied",
            )
        predicate = atom.predicate
        if predicate.name in place.symbols.derived and not fact.negated:
            log.symbol(
                predicate,
                f"derived predicate `{predicate}` cannot stand in `:init`: remove it",
            )


def _check_values(problem: Problem, domain: Domain, log: FaultLog) -> None:
    needed = _terms_of_costs(domain)
    numbers: dict[tuple[str, ...], int] = {}
    for value in problem.values:
        block = value.block
        if numbers.setdefault(value.function, value.number) != value.number:
            log.symbol(block, f"`{block}` contradicts an earlier value: remove one")
        name, *objects = value.function
        if name not in needed:
            continue
        if name == "total-cost" and problem.minimizes:
            log.symbol(
                block,
                "an action takes its cost from `total-cost`, which is the sum of all"
                " costs: give the action a number or another function",
            )
        if len(objects) < needed[name]:  # the planner fails on the missing ones
            log.symbol(
                block,
                f"`{block}` in `:init` gives `{name}` {len(objects)} objects, but an"
                f" action takes its cost from `{name}` with {needed[name]}",
            )


def _terms_of_costs(domain: Domain) -> dict[str, int]:
    """For each function, the largest number of terms with which an action uses it as
    its cost. The planner drops an action without changes.
    """
    needed: dict[str, int] = {}
    for action in domain.actions:
        cost = action.effect.cost
        if cost is not None and action.effect.changes:
            name = cost.predicate.name
            needed[name] = max(len(cost.terms), needed.get(name, 0))
    return needed
