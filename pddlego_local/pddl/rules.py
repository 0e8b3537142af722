"""Actions as rules: which facts they need, and which they make true or false."""

from collections.abc import Mapping
from dataclasses import dataclass

from pddlego_local.pddl.symbols import Symbols, by_name
from pddlego_local.pddl.task import ActionDefinition, Domain, Literal, TypedName

MOST_ACTIONS = 200
MOST_PARTS = 60  # parameters of one action, and literals of its precondition

Fact = tuple[str, ...]
"""("at", "kitchen"), or ("not at", "kitchen") for its falsity: no name contains a blank."""
Binding = Mapping[str, str]


def fact_of(literal: Literal, binding: Binding | None = None) -> Fact:
    """The literal as a fact, with the values of the binding for its variables."""
    predicate, *terms = literal.atom.key
    if binding:
        terms = [binding.get(term, term) for term in terms]
    return (f"not {predicate}" if literal.negated else predicate, *terms)


def opposite(fact: Fact) -> Fact:
    name = fact[0]
    return (name[4:] if name.startswith("not ") else f"not {name}", *fact[1:])


@dataclass(slots=True, eq=False)
class Rule:
    """An action without its deletions. `needs` are the positive conditions, which bind variables;
    `tests` come when all are bound: equality, and that a fact is false."""

    action: ActionDefinition
    variables: dict[str, TypedName]
    needs: list[Literal]
    tests: list[Literal]
    effects: list[Literal]
    needed_names: frozenset[str]
    effect_names: frozenset[str]


def rule_of(action: ActionDefinition) -> Rule:
    required = [lit for lit in action.precondition.literals if lit.required and not lit.scope]
    tests = [lit for lit in required if lit.negated or lit.atom.predicate.name == "="]
    return Rule(
        action,
        variables=by_name(action.parameters),
        needs=[literal for literal in required if literal not in tests],
        tests=tests,
        effects=action.effect.changes,
        needed_names=frozenset(fact_of(literal)[0] for literal in required),
        effect_names=frozenset(fact_of(literal)[0] for literal in action.effect.changes),
    )


def is_readable(domain: Domain, symbols: Symbols) -> bool:
    """Whether rules tell all that can happen: no derived predicates, no names that stand for
    something else than they seem to, no more parts than a recursion should go through."""
    predicates = [predicate.word.name for predicate in domain.predicates or ()]
    quantified = [
        name.name
        for action in domain.actions
        for change in action.effect.changes
        for name in change.scope
    ]
    return (
        not domain.axioms
        and symbols.types.comparable
        and len(domain.actions) <= MOST_ACTIONS
        and len(set(predicates)) == len(predicates)
        and all(name[0] != "?" for name in symbols.objects)
        and all(name[0] == "?" for name in quantified)
        and all(
            len(action.parameters) <= MOST_PARTS
            and len(action.precondition.literals) <= MOST_PARTS
            and action.precondition.complete
            for action in domain.actions
        )
    )
