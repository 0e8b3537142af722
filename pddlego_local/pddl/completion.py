"""Completes a goal: adds facts that are true in every reachable state in which the goal
holds.

Planetarium (Zuo et al., arXiv 2407.03321) does this by an oracle for each domain. Here
the oracle is a list of the domain's invariants.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

import networkx as nx

from pddlego_local.core.grouping import grouped
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.task import Domain, Problem

Invariants = Mapping[str, Sequence[str]]
"""The invariants of a domain are true in all its reachable states. There are two kinds.

An entry of `one_of` has patterns, such as "holding ?b, on-table ?b, on ?b *", where "*"
stands for any object. For each object in the place of the variable, exactly one fact
that matches one of the patterns is true. The facts of a predicate in `acyclic` form no
circle: no block is on itself.
"""
NONE_KNOWN: Invariants = {}
# More than any gold problem has: the pairs of all objects are listed.
MOST_OBJECTS = 500


def completed(
    goal: Set[Fact],
    init: Set[Fact],
    domain: Domain,
    problem: Problem,
    invariants: Invariants,
) -> set[Fact]:
    """Returns the goal with facts that follow from it: those that follow from the
    invariants, and initial facts that no action deletes.
    """
    deleted = set()
    for action in domain.actions:
        for change in action.effect.changes:
            if change.negated:
                deleted.add(change.atom.predicate.name)
    groups = [*_groups(init, domain, problem, invariants)]
    true = {*goal, *(fact for fact in init if fact[0] not in deleted)}
    false = set[Fact]()
    known_before = -1
    while known_before < len(true) + len(false):
        known_before = len(true) + len(false)
        for group in groups:
            left = group - false
            if group & true:
                false |= group - true
            elif len(left) == 1:
                true |= left
        for name in invariants.get("acyclic", ()):
            graph = nx.DiGraph(fact[1:] for fact in true if fact[0] == name)
            closed = nx.transitive_closure(graph, reflexive=True)
            false |= {(name, last, first) for first, last in closed.edges}
    return true


def _groups(
    init: Set[Fact], domain: Domain, problem: Problem, invariants: Invariants
) -> Iterator[set[Fact]]:
    """Yields sets of facts of which exactly one is true. There is none for what a
    constraint has removed from the initial state, such as a hand, and none in a problem
    with too many objects.
    """
    if len(problem.objects) >= MOST_OBJECTS:
        return
    types = {}
    for predicate in domain.predicates or ():
        parameters = predicate.parameters or ()
        types[predicate.word.name] = [entry.type_names for entry in parameters]
    named = grouped((entry.type_names, entry.name) for entry in problem.objects)
    for patterns in invariants.get("one_of", ()):
        groups = defaultdict[Fact, set[Fact]](set)
        for pattern in patterns.split(","):
            name, *terms = pattern.split()
            candidates = [named.get(kind, ()) for kind in types[name]]
            for things in itertools.product(*candidates):
                pairs = zip(terms, things, strict=True)
                fixed = tuple(thing for term, thing in pairs if term != "*")
                groups[fixed].add((name, *things))
        for group in groups.values():
            if len(group & init) == 1:
                yield group
