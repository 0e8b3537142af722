"""Checks the names in a domain, and in a problem together with its domain."""

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.formulas import OPERATORS
from pddlego_local.pddl.symbols import Place, Symbols, by_name, check_literal, repeated
from pddlego_local.pddl.task import (
    ActionDefinition,
    Condition,
    Domain,
    Effect,
    Problem,
    TypedName,
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
        called = f"the condition of `:derived` predicate `{axiom.predicate.word}`"
        parameters = axiom.predicate.parameters
        variables = None if parameters is None else by_name(parameters)
        _check_condition(
            axiom.condition, Place(called, CONDITION_FORMS, variables, symbols, log)
        )
    for word in repeated(action.word for action in domain.actions):
        log.misuse(word, f"action `{word}` is defined twice: rename one of them")
    for action in domain.actions:
        _check_action(action, symbols, log)


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
    declared = {}
    for predicate in domain.predicates or ():
        word, parameters = predicate.word, predicate.parameters
        arity = None if parameters is None else len(parameters)
        if word.name in declared:
            other = " with another number of parameters: only the last counts"
            which = other if declared[word.name] != arity else ""
            log.misuse(
                word, f"predicate `{word}` is declared twice{which}; remove one of them"
            )
        declared[word.name] = arity
        if word.name in OPERATORS:
            log.warn(
                word, f"`{word}` is an operator and cannot name a predicate: rename it"
            )
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


def _check_condition(condition: Condition, place: Place) -> None:
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
    for condition in (action.precondition, *effect.conditions):
        _check_condition(
            condition, Place(called, CONDITION_FORMS, variables, symbols, log)
        )
    if not effect.changes and effect.complete:
        dropped = f"{called} has no effect and is dropped by the planner"
        log.warn(action.word, f"{dropped}: add what it makes true or false")
    _check_effect(effect, Place(called, EFFECT_FORMS, variables, symbols, log))


def _check_effect(effect: Effect, place: Place) -> None:
    for variables in effect.quantified:
        _check_variable_types(variables, place.symbols, place.log)
    added = {change.atom.key for change in effect.changes if not change.negated}
    for change in effect.changes:
        check_literal(change, place)
        predicate = change.atom.predicate
        if predicate.name in place.symbols.derived:
            said = (
                f"derived predicate `{predicate}` cannot be changed by {place.called}:"
                " remove it"
            )
            place.log.symbol(predicate, said)
        if change.negated and change.atom.key in added and not effect.conditions:
            said = (
                f"{place.called} both adds and deletes `{change.atom}`: the deletion is"
                " dropped"
            )
            place.log.warn(change.atom.block, said)


def check_problem(
    problem: Problem, domain: Domain, symbols: Symbols, log: FaultLog
) -> None:
    word, title = problem.domain_word, domain.word
    if word is not None and title is not None and word.name != title.name:
        log.symbol(
            word,
            f"the domain is called `{title}`, not `{word}`: write `(:domain {title})`",
        )
    _check_declarations(problem.objects, symbols, log)
    for entry in problem.objects:
        if entry.name in symbols.constants:
            declared = (
                f"object `{entry.word}` is already declared under `:constants` of the"
                " domain"
            )
            log.symbol(entry.word, f"{declared}: remove it here")
    _check_init(problem, Place("`:init`", FACT_FORMS, {}, symbols, log))
    _check_values(problem, domain, log)
    if problem.goal is not None:
        _check_condition(
            problem.goal, Place("`:goal`", CONDITION_FORMS, {}, symbols, log)
        )


def _check_init(problem: Problem, place: Place) -> None:
    log = place.log
    truth = {}
    for fact in problem.init:
        atom = fact.atom
        right = check_literal(fact, place)
        if truth.setdefault(atom.key, not fact.negated) == fact.negated:
            log.symbol(
                atom.block, f"`{atom}` is both true and false in `:init`: remove one"
            )
        elif fact.negated and right:
            why = "since what is not listed is false"
            log.misuse(
                atom.block,
                f"`(not …)` in `:init` says nothing, {why}: remove it",
                "denied",
            )
        if atom.predicate.name in place.symbols.derived and not fact.negated:
            said = (
                f"derived predicate `{atom.predicate}` cannot stand in `:init`:"
                " remove it"
            )
            log.symbol(atom.predicate, said)


def check_derived(
    problem: Problem, domain: Domain, symbols: Symbols, log: FaultLog
) -> None:
    """Checks the heads of `:derived`.

    If a head has too few parameters and a condition uses the predicate, the planner
    crashes on the missing ones. The planner silently accepts other mistakes in heads.
    """
    conditions = [axiom.condition for axiom in domain.axioms]
    conditions += [
        c for a in domain.actions for c in (a.precondition, *a.effect.conditions)
    ]
    conditions += [problem.goal] if problem.goal else []
    asked = {
        literal.atom.predicate.name
        for condition in conditions
        for literal in condition.literals
        if not literal.negated
    }
    for head in (axiom.predicate for axiom in domain.axioms):
        word, parameters = head.word, head.parameters
        _check_variable_types(parameters or [], symbols, log)
        if word.name == "=" and symbols.objects:
            log.symbol(word, "`=` cannot be derived: give the predicate another name")
        elif symbols.predicates is None:
            continue
        elif (declared := symbols.predicates.get(word.name)) is None:
            add = f"add `({word} …)` to `:predicates`"
            log.warn(word, f"derived predicate `{word}` is not declared: {add}")
        elif parameters is not None and declared.parameters is not None:
            count, expected = len(parameters), len(declared.parameters)
            if count != expected:
                refuse = (
                    log.symbol if count < expected and word.name in asked else log.warn
                )
                said = f"predicate `{word}` {declared.has} but is derived with {count}"
                refuse(word, f"{said}: write the same ones in both places")


def _check_values(problem: Problem, domain: Domain, log: FaultLog) -> None:
    # For each function, the largest number of terms with which an action uses it as its
    # cost.
    needed = {}
    effects = [action.effect for action in domain.actions]
    costs = [effect.cost for effect in effects if effect.changes and effect.cost]
    for cost in costs:
        name = cost.predicate.name  # the planner drops an action without changes
        needed[name] = max(len(cost.terms), needed.get(name, 0))
    numbers = {}
    for value in problem.values:
        if numbers.setdefault(value.function, value.number) != value.number:
            log.symbol(
                value.block, f"`{value.block}` contradicts an earlier value: remove one"
            )
        name, *objects = value.function
        if name == "total-cost" and name in needed and problem.minimizes:
            own = (
                "an action takes its cost from `total-cost`, which is the sum of all"
                " costs"
            )
            log.symbol(
                value.block, f"{own}: give the action a number or another function"
            )
        if len(objects) < needed.get(name, 0):  # the planner fails on the missing ones
            takes = f"an action takes its cost from `{name}` with {needed[name]}"
            gives = f"`{value.block}` in `:init` gives `{name}` {len(objects)} objects"
            log.symbol(value.block, f"{gives}, but {takes}")
