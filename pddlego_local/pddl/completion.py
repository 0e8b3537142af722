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
from pddlego_local.pddl.task import Domain, Problem

Fact = tuple[str, ...]
Invariants = Mapping[str, Sequence[str]]
"""The invariants of a domain are true in all its reachable states. There are two kinds.

An entry of `one_of` has patterns, such as "holding ?b, on-table ?b, on ?b *", where "*"
stands for any object. For each object in the place of the variable, exactly one fact
that matches one of the patterns is true. The facts of a predicate in `acyclic` form no
circle: no block is on itself.
"""
NONE_KNOWN: Invariants = {}
MOST_OBJECTS = (
    500  # more than any gold problem has; the pairs of all objects are listed
)


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
    effects = [change for action in domain.actions for change in action.effect.changes]
    deleted = {change.atom.predicate.name for change in effects if change.negated}
    groups = list(_groups(init, domain, problem, invariants))
    true = {*goal} | {fact for fact in init if fact[0] not in deleted}
    false, known = set[Fact](), -1
    while known < (known := len(true) + len(false)):
        for group in groups:
            if group & true:
                false |= group - true
            elif len(left := group - false) == 1:
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
    predicates = domain.predicates or ()
    kinds = {
        p.word.name: [a.type_names for a in p.parameters or ()] for p in predicates
    }
    named = grouped((entry.type_names, entry.name) for entry in problem.objects)
    for patterns in (
        invariants.get("one_of", ()) if len(problem.objects) < MOST_OBJECTS else ()
    ):
        groups = defaultdict[Fact, set[Fact]](set)
        for name, *terms in map(str.split, patterns.split(",")):
            for things in itertools.product(
                *(named.get(kind, ()) for kind in kinds[name])
            ):
                key = (
                    thing
                    for term, thing in zip(terms, things, strict=True)
                    if term != "*"
                )
                groups[tuple(key)].add((name, *things))
        yield from (group for group in groups.values() if len(group & init) == 1)
