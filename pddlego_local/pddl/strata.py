"""Finds derived predicates that depend on their own negation, which Fast Downward
refuses.

Predicates alone decide first: if none depends on its own negation, no fact does.
Otherwise the facts decide, as in Fast Downward: if a number is even because the one
before it is not, no fact depends on its own negation, although the predicate does. A
fact below `forall` counts as negated, and only facts count that can become true and on
which the goal or an action depends. The work is bounded: in a task beyond the bound
nothing is found, and the planner decides.
"""

import itertools
from collections.abc import Iterator

import networkx as nx

from pddlego_local.pddl.conditions import (
    NO_NAMES,
    TRUE,
    Atomic,
    Binding,
    Choices,
    Condition,
    Junction,
    Quantified,
    bindings,
    ground,
    joined,
)
from pddlego_local.pddl.derived import uses
from pddlego_local.pddl.index import Fact, Facts
from pddlego_local.pddl.state import Task

MOST_STEPS = 200_000  # facts and bindings tried; about a second
Need = tuple[Fact, bool]
"""A derived fact, and whether it is needed as a negation."""


class TooLarge(Exception):
    """The task is too large to be explored within the bound."""


def depends_on_its_negation(task: Task) -> str:
    """Returns a derived predicate that depends on its own negation, "" if there is
    none.
    """
    graph = nx.DiGraph()
    for rule in task.rules:
        for name, negated in uses(rule.condition):
            _add(graph, rule.head[0], name, negated)
    if not _in_a_circle(graph):
        return ""
    try:
        found = _in_a_circle(_Grounding(task).graph())
    except TooLarge:
        return ""
    return found[0] if found else ""


def _add(graph: nx.DiGraph, head: str | Fact, need: str | Fact, negated: bool) -> None:
    before = graph.get_edge_data(head, need, {"negated": False})["negated"]
    graph.add_edge(head, need, negated=before or negated)


def _in_a_circle(graph: nx.DiGraph) -> str | Fact:
    """A node from which a negated edge leads to a node that leads back, "" if there is
    none.
    """
    component = {
        node: number
        for number, nodes in enumerate(nx.strongly_connected_components(graph))
        for node in nodes
    }
    edges = sorted(graph.edges(data="negated"))
    found: Iterator[str | Fact] = (
        head
        for head, need, negated in edges
        if negated and component[head] == component[need]
    )
    return next(found, "")


class _Grounding:
    """The facts that can become true if facts only ever become true."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._steps = 0
        self._derived = {rule.head[0] for rule in task.rules}
        self._schemas = [
            schema for schemas in task.actions.values() for schema in schemas
        ]
        changes = [change for schema in self._schemas for change in schema.changes]
        self._fluent = self._derived | {change.pattern[0] for change in changes}
        self._reached = Facts(task.stated)
        while new := [fact for fact in self._reachable() if fact not in self._reached]:
            for fact in new:
                self._reached.add(fact)

    def graph(self) -> nx.DiGraph:
        """Returns on which derived facts each derived fact depends, among those that
        matter.
        """
        graph = nx.DiGraph()
        for rule in self._task.rules:
            for binding in self._bindings(rule.choices, rule.condition):
                head = ground(rule.head, binding)
                for need, negated in self._needs(rule.condition, binding) or ():
                    _add(graph, head, need, negated)
        asked = {need for need, _ in self._asked() if need in graph}
        return graph.subgraph(
            asked.union(*(nx.descendants(graph, need) for need in asked))
        )

    def _reachable(self) -> Iterator[Fact]:
        for rule in self._task.rules:
            for binding in self._bindings(rule.choices, rule.condition):
                yield ground(rule.head, binding)
        for schema in self._schemas:
            for binding in self._bindings(schema.choices, schema.condition):
                for change in schema.changes:
                    if not change.negated:
                        for found in self._bindings(
                            change.choices, change.condition, binding
                        ):
                            yield ground(change.pattern, found)

    def _asked(self) -> Iterator[Need]:
        """The derived facts on which the goal and the actions depend."""
        yield from self._needs(self._task.goal, {}) or ()
        for schema in self._schemas:
            for binding in self._bindings(schema.choices, schema.condition):
                needs = self._needs(schema.condition, binding)
                for change in schema.changes if needs is not None else ():
                    for found in self._bindings(
                        change.choices, change.condition, binding
                    ):
                        yield from self._needs(change.condition, found) or ()
                yield from needs or ()

    def _bindings(
        self, choices: Choices, condition: Condition, outer: Binding = NO_NAMES
    ) -> Iterator[Binding]:
        for found in bindings(
            choices, [_relaxed(condition)], outer, self._reached, self._reached
        ):
            self._step()
            yield found

    def _needs(self, condition: Condition, binding: Binding) -> list[Need] | None:
        """The derived facts on which a condition depends, None if it can never hold."""
        self._step()
        if isinstance(condition, Atomic):
            return self._of_fact(condition, binding)
        if isinstance(condition, Junction):
            found = [self._needs(part, binding) for part in condition.parts]
            possible = [needs for needs in found if needs is not None]
            if len(possible) < (len(found) if condition.every else 1):
                return None
            return [need for needs in possible for need in needs]
        every = itertools.product(*condition.choices.values())
        inner = (
            {**binding, **dict(zip(condition.choices, one, strict=True))}
            for one in every
        )
        found = [self._needs(condition.sought, one) for one in inner]
        if condition.every:
            return [(need, True) for needs in found for need, _ in needs or ()]
        possible = [needs for needs in found if needs is not None]
        return [need for needs in possible for need in needs] if possible else None

    def _of_fact(self, condition: Atomic, binding: Binding) -> list[Need] | None:
        fact = ground(condition.pattern, binding)
        if fact[0] not in self._fluent:
            return (
                [] if condition.holds(binding, self._reached, self._reached) else None
            )
        if fact not in self._reached:
            return [] if condition.negated else None
        return [(fact, condition.negated)] if fact[0] in self._derived else []

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooLarge


def _relaxed(condition: Condition) -> Condition:
    """The condition without its negations."""
    if isinstance(condition, Atomic):
        return TRUE if condition.negated else condition
    if isinstance(condition, Junction):
        return joined(condition.every, [_relaxed(part) for part in condition.parts])
    if condition.every:
        return TRUE
    return Quantified(
        False, condition.choices, _relaxed(condition.sought), condition.declared
    )
