"""Finds the player by the form of the actions."""

from collections import defaultdict
from collections.abc import Iterator

from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.task import ActionDefinition, Domain

Predicate = tuple[str, int]
"""A predicate's name and its arity."""


def moved_by_actions(domain: Domain) -> frozenset[Predicate]:
    """Returns the predicates that are only ever moved from one object to another, with
    the same terms before it.
    """
    moved = set[Predicate]()
    otherwise = set[Predicate]()
    for action in domain.actions:
        for predicate, is_moved in _changes(action):
            (moved if is_moved else otherwise).add(predicate)
    return frozenset(moved - otherwise)


def _changes(action: ActionDefinition) -> Iterator[tuple[Predicate, bool]]:
    """Yields each predicate that an action changes, and whether it only moves it."""
    added = defaultdict[Predicate, list[Fact]](list)
    deleted = defaultdict[Predicate, list[Fact]](list)
    for change in action.effect.changes:
        fact = change.atom.key
        (deleted if change.negated else added)[fact[0], len(fact) - 1].append(fact)
    for predicate in {**added, **deleted}:
        if predicate[1]:
            from_ = sorted(fact[:-1] for fact in deleted[predicate])
            to = sorted(fact[:-1] for fact in added[predicate])
            yield predicate, from_ == to and len(to) == 1
