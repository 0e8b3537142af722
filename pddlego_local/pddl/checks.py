"""Checks the names in a domain, and in a problem together with its domain."""

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

CONDITION_FORMS = (
    "a condition is a fact, `and`, `or`, `not`, `imply`, `forall` or `exists`"
)
EFFECT_FORMS = (
    "an effect is a fact, `not` with a fact, `and`, `forall`, `when` or `(increase"
    " (total-cost) …)`"
)
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
    word, parameters = axiom.predicate.word, axiom.predicate.parameters
    variables = None if parameters is None else by_name(parameters)
    called = f"the condition of `:derived` predicate `{word}`"
    place = Place(
        called=called,
        forms=CONDITION_FORMS,
        variables=variables,
        symbols=symbols,
        log=log,
    )
    _check_condition(axiom.condition, place)
    _check_variable_types(parameters or [], symbols, log)
    if word.name == "=" and symbols.objects:
        log.symbol(word, "`=` cannot be derived: give the predicate another name")
        return
    if symbols.predicates is None:
        return
    declared = symbols.predicates.get(word.name)
    if declared is None:
        add = f"add `({word} …)` to `:predicates`"
        log.warn(word, f"derived predicate `{word}` is not declared: {add}")
    elif parameters is not None and declared.parameters is not None:
        missing = len(declared.parameters) - len(parameters)
        derived = f"is derived with {len(parameters)}"
        said = f"predicate `{word}` {declared.has} but {derived}"
        if missing:
            refuse = log.symbol if missing > 0 else log.warn
            refuse(word, f"{said}: write the same ones in both places")


def _check_types(domain: Domain, symbols: Symbols, log: FaultLog) -> None:
    for entry in domain.types:
        if entry.name == "number":
            log.symbol(entry.word, "the type `number` is reserved: rename it")
        for parent in entry.types if symbols.types.comparable else ():
            is_cycle = entry.name in symbols.types.with_ancestors(parent.name)
            if is_cycle and entry.name != "object":
                log.warn(
                    entry.word,
                    f"type `{entry.word}` is its own supertype: break the cycle",
                )


def _check_declarations(
    entries: list[TypedName], symbols: Symbols, log: FaultLog
) -> None:
    """Reports repeated names, undeclared types and unlikely names of objects or
    constants.
    """
    types, as_type = symbols.types, "a type stands behind ` - `, as in `name - {}`"
    for word in repeated(entry.word for entry in entries):
        is_type = word.name in types.declared
        remedy = as_type.format(word) if is_type else "remove one of them"
        log.symbol(word, f"object `{word}` is declared twice: {remedy}")
    for entry in entries:
        word = entry.word
        for kind in entry.types:
            if types.reliable and kind.name not in types.declared:
                log.symbol(kind, types.unknown(kind))
        if entry.name in types.declared and entry.name != "object":
            odd = f"`{word}` is the name of a type, but is declared an object"
            log.warn(word, f"{odd}: {as_type.format(word)}")
        if "\\n" in entry.name:
            log.warn(word, f"`{word}` is read as an object: remove it")
        if entry.name[0] == "?":
            log.warn(
                word, f"object `{word}` begins with `?` like a variable: rename it"
            )


def _check_predicates(domain: Domain, symbols: Symbols, log: FaultLog) -> None:
    declared: dict[str, int | None] = {}
    for predicate in domain.predicates or ():
        word, parameters = predicate.word, predicate.parameters
        arity = None if parameters is None else len(parameters)
        if word.name in declared:
            said = f"predicate `{word}` is declared twice"
            if declared[word.name] != arity:
                said += " with another number of parameters: only the last counts"
            log.misuse(word, f"{said}; remove one of them")
        declared[word.name] = arity
        if word.name in OPERATORS:
            operator = f"`{word}` is an operator and cannot name a predicate"
            log.warn(word, f"{operator}: rename it")
        _check_variable_types(parameters or [], symbols, log)


def _check_variable_types(
    variables: list[TypedName], symbols: Symbols, log: FaultLog
) -> None:
    for word in (word for variable in variables for word in variable.types):
        if symbols.types.reliable and word.name not in symbols.types.named:
            log.warn(
                word,
                symbols.types.unknown(word, " of a variable: no object can have it; "),
            )


def _check_condition(condition: WrittenCondition, place: Place) -> None:
    for variables in condition.quantified:
        _check_variable_types(variables, place.symbols, place.log)
    for literal in condition.literals:
        check_literal(literal, place)


def _check_action(action: ActionDefinition, symbols: Symbols, log: FaultLog) -> None:
    called, effect = f"action `{action.word}`", action.effect
    variables = by_name(action.parameters) if action.complete else None
    for word in repeated(parameter.word for parameter in action.parameters):
        log.warn(word, f"parameter `{word}` of {called} is declared twice: rename one")
    _check_variable_types(action.parameters, symbols, log)
    place = Place(
        called=called,
        forms=CONDITION_FORMS,
        variables=variables,
        symbols=symbols,
        log=log,
    )
    for condition in (action.precondition, *effect.conditions):
        _check_condition(condition, place)
    if not effect.changes and effect.complete:
        dropped = f"{called} has no effect and is dropped by the planner"
        log.warn(action.word, f"{dropped}: add what it makes true or false")
    _check_effect(
        effect,
        Place(
            called=called,
            forms=EFFECT_FORMS,
            variables=variables,
            symbols=symbols,
            log=log,
        ),
    )


def _check_effect(effect: Effect, place: Place) -> None:
    log = place.log
    for variables in effect.quantified:
        _check_variable_types(variables, place.symbols, log)
    added = {change.atom.key for change in effect.changes if not change.negated}
    for change in effect.changes:
        check_literal(change, place)
        atom, predicate = change.atom, change.atom.predicate
        if predicate.name in place.symbols.derived:
            cannot = f"derived predicate `{predicate}` cannot be changed"
            log.symbol(predicate, f"{cannot} by {place.called}: remove it")
        if change.negated and atom.key in added and not effect.conditions:
            both = f"{place.called} both adds and deletes `{atom}`"
            log.warn(atom.block, f"{both}: the deletion is dropped")


def check_problem(
    problem: Problem, domain: Domain, symbols: Symbols, log: FaultLog
) -> None:
    word, title = problem.domain_word, domain.word
    if word is not None and title is not None and word.name != title.name:
        called = f"the domain is called `{title}`, not `{word}`"
        log.symbol(word, f"{called}: write `(:domain {title})`")
    _check_declarations(problem.objects, symbols, log)
    for entry in problem.objects:
        if entry.name in symbols.constants:
            declared = "is already declared under `:constants` of the domain"
            log.symbol(entry.word, f"object `{entry.word}` {declared}: remove it here")
    _check_init(
        problem,
        Place(
            called="`:init`",
            forms=FACT_FORMS,
            variables={},
            symbols=symbols,
            log=log,
        ),
    )
    _check_values(problem, domain, log)
    if problem.goal is not None:
        place = Place(
            called="`:goal`",
            forms=CONDITION_FORMS,
            variables={},
            symbols=symbols,
            log=log,
        )
        _check_condition(problem.goal, place)


def _check_init(problem: Problem, place: Place) -> None:
    log = place.log
    truth: dict[tuple[str, ...], bool] = {}
    for fact in problem.init:
        atom = fact.atom
        is_right = check_literal(fact, place)
        if truth.setdefault(atom.key, not fact.negated) == fact.negated:
            said = f"`{atom}` is both true and false in `:init`: remove one"
            log.symbol(atom.block, said)
        elif fact.negated and is_right:
            why = "since what is not listed is false"
            said = f"`(not …)` in `:init` says nothing, {why}: remove it"
            log.misuse(atom.block, said, "denied")
        if atom.predicate.name in place.symbols.derived and not fact.negated:
            derived = f"derived predicate `{atom.predicate}`"
            said = f"{derived} cannot stand in `:init`: remove it"
            log.symbol(atom.predicate, said)


def _check_values(problem: Problem, domain: Domain, log: FaultLog) -> None:
    needed = _terms_of_costs(domain)
    numbers: dict[tuple[str, ...], int] = {}
    for value in problem.values:
        if numbers.setdefault(value.function, value.number) != value.number:
            said = f"`{value.block}` contradicts an earlier value: remove one"
            log.symbol(value.block, said)
        name, *objects = value.function
        if name not in needed:
            continue
        if name == "total-cost" and problem.minimizes:
            own = "an action takes its cost from `total-cost`, which is the sum of all"
            remedy = "give the action a number or another function"
            log.symbol(value.block, f"{own} costs: {remedy}")
        if len(objects) < needed[name]:  # the planner fails on the missing ones
            takes = f"an action takes its cost from `{name}` with {needed[name]}"
            gives = f"`{value.block}` in `:init` gives `{name}` {len(objects)} objects"
            log.symbol(value.block, f"{gives}, but {takes}")


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
