"""Derived predicates: the facts that the rules of `:derived` make true in a state.

Predicates that depend on each other are evaluated together, after those on which they
depend. If a predicate depends on its own negation, its facts are approached from below
and from above. Where the rules are stratified for each single fact, as Fast Downward
demands, both meet.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

import networkx as nx

from pddlego_local.pddl.conditions import (
    Atomic,
    Choices,
    Condition,
    Fact,
    Facts,
    Junction,
    Known,
    bindings,
    ground,
)


@dataclass(frozen=True)
class Rule:
    """`head` is true for all objects that `choices` allow and for which the condition
    holds.
    """

    head: Fact
    choices: Choices
    condition: Condition


@dataclass(frozen=True)
class Group:
    """The rules of predicates that depend on each other. `circular` says that one of
    the predicates depends on its own negation.
    """

    rules: Sequence[Rule]
    circular: bool


def in_groups(rules: Sequence[Rule]) -> list[Group]:
    """Returns the rules in the order in which they are evaluated."""
    needs = nx.DiGraph()
    for rule in rules:
        name = rule.head[0]
        needs.add_node(name)
        for use in uses(rule.condition):
            needs.add_edge(use.predicate, name)
    groups = []
    circles = nx.condensation(needs)
    for circle in nx.topological_sort(circles):
        names = circles.nodes[circle]["members"]
        own = [rule for rule in rules if rule.head[0] in names]
        negated = set()
        for rule in own:
            for use in uses(rule.condition):
                if use.negative:
                    negated.add(use.predicate)
        if own:
            groups.append(Group(own, circular=not negated.isdisjoint(names)))
    return groups


class Use(NamedTuple):
    """The use of a predicate in a condition. Fast Downward counts it as negative if it
    is negated or below `forall`, which Fast Downward expresses by a negation.
    """

    predicate: str
    negative: bool


def uses(condition: Condition, below_forall: bool = False) -> Iterator[Use]:
    """Yields the uses of predicates in a condition."""
    if isinstance(condition, Atomic):
        yield Use(condition.pattern[0], condition.negated or below_forall)
    elif isinstance(condition, Junction):
        for part in condition.parts:
            yield from uses(part, below_forall)
    else:
        yield from uses(condition.sought, below_forall or condition.every)


def derived_facts(groups: Iterable[Group], basic: Iterable[Fact]) -> frozenset[Fact]:
    """Returns the derived facts of a state with these basic facts."""
    basic = {*basic}
    known = set(basic)
    for group in groups:
        if group.circular:
            known |= _certain(group.rules, known)
        else:
            known |= _fixpoint(group.rules, known, None)
    return frozenset(known - basic)


def _certain(rules: Sequence[Rule], known: Set[Fact]) -> set[Fact]:
    """The facts that are true even if every fact that may be true is not negated."""
    certain = set[Fact]()
    while True:
        possible = _fixpoint(rules, known, certain)
        again = _fixpoint(rules, known, possible)
        if again == certain:
            return certain
        certain = again


def _fixpoint(
    rules: Sequence[Rule], known: Set[Fact], denied: Set[Fact] | None
) -> set[Fact]:
    """The facts that the rules make true one after another. A negated fact is one that
    is neither known nor in `denied`; without `denied`, one that is not true.
    """
    true = Facts(known)
    possible = true if denied is None else Facts(known | denied)
    view = Known(true, possible)
    found = set[Fact]()
    while True:
        new = set[Fact]()
        for rule in rules:
            for binding in bindings(rule.choices, [rule.condition], {}, view):
                new.add(ground(rule.head, binding))
        new -= found | known
        if not new:
            return found
        found |= new
        for fact in new:
            true.add(fact)
