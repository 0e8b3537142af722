"""Finds derived predicates that depend on their own negation, as Fast Downward does.

Fast Downward looks at single facts: if a number is even because the one before it is
not, no fact depends on its own negation, although the predicate does. So the rules are
grounded for the facts that may become true. Only facts count on which the goal or an
action depends, and only in a task whose goal is within reach.

As in Fast Downward's translator (normalize.py, instantiate.py, axiom_rules.py), the
facts that may become true are those that do so if negated facts and the conditions of
`forall` are ignored, and a fact below `forall` counts as negated.

Two kinds of tasks that the translator refuses are accepted here. The translator ignores
the types of an effect's own variables, such as those of `forall`, and may refuse a task
for facts that no object of these types can make true. And if `or` or `exists` in a goal
contradicts facts that never change, it still looks at the rules.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import networkx as nx

from pddlego_local.pddl.conditions import (
    FALSE,
    TRUE,
    Atomic,
    Binding,
    Choices,
    Condition,
    Fact,
    Facts,
    Junction,
    Known,
    Quantified,
    ground,
    joined,
)
from pddlego_local.pddl.reachability import Reachable
from pddlego_local.pddl.state import Change, Schema, Task

MOST_STEPS = 200_000  # about a second
ASKED: Fact = ()
"""Stands for the goal and the actions among the facts that depend on others."""


class Need(NamedTuple):
    """A fact on which something depends, perhaps as a negation."""

    fact: Fact
    negated: bool


Needs = frozenset[Need]


def depends_on_its_negation(task: Task) -> str:
    """Returns a derived predicate for which Fast Downward refuses the task, "" if there
    is none. Raises TooLarge.
    """
    if not any(group.circular for group in task.groups):
        return ""
    reachable = _PlannersReachable(task)
    reachable.explore(FALSE)
    asked = reachable.needs(task.goal, {})
    if asked is None:
        return ""
    graph = nx.DiGraph()
    negated = set[tuple[Fact, Fact]]()
    for head, needs in [(ASKED, asked), *reachable.dependencies()]:
        graph.add_node(head)
        for need in needs:
            graph.add_edge(head, need.fact)
            if need.negated:
                negated.add((head, need.fact))
    of_interest = {ASKED, *nx.descendants(graph, ASKED)}
    circles = nx.condensation(graph.subgraph(of_interest)).graph["mapping"]
    for head, fact in sorted(negated):
        if head in circles and circles[head] == circles[fact]:
            return head[0]
    return ""


class _PlannersReachable(Reachable):
    """The facts that may become true in the planner's view. Rules are actions here."""

    def __init__(self, task: Task) -> None:
        super().__init__(task, MOST_STEPS)
        self._derived = {rule.head[0] for rule in task.rules}
        for rule in task.rules:
            head = Change(rule.head, negated=False, choices={}, condition=TRUE)
            self.actions.append(Schema("", (), rule.choices, rule.condition, [head]))
        fluent = set()
        for action in self.actions:
            fluent |= {change.pattern[0] for change in action.changes}
        static = Facts(fact for fact in task.stated if fact[0] not in fluent)
        self._static = Known(self.known.true, static)

    def bindings(
        self, choices: Choices, parts: Sequence[Condition], bound: Binding
    ) -> Iterator[Binding]:
        return super().bindings(choices, [*map(_relaxed, parts)], bound)

    def uses(self, action: Schema) -> Iterator[Binding]:
        for found in super().uses(action):
            if self.task.cost(action, found) is not None:
                yield found

    def dependencies(self) -> Iterator[tuple[Fact, Needs]]:
        """Yields, for each use of a rule, the derived fact and what it depends on, and
        for each effect of an action ASKED and what the effect depends on.
        """
        for effect in self.effects():
            fact = effect.fact
            outer = self.needs(effect.action.condition, effect.outer)
            inner = self.needs(effect.change.condition, effect.inner)
            possible = not effect.change.negated or fact in self.known.true
            if outer is None or inner is None or not possible:
                continue
            head = fact if fact[0] in self._derived else ASKED
            yield head, outer | inner

    def needs(self, condition: Condition, binding: Binding) -> Needs | None:
        """The facts on which a condition depends, None if it can never hold."""
        if isinstance(condition, Atomic):
            if not condition.holds(binding, self._static):
                return None
            fact = ground(condition.pattern, binding)
            return Needs([Need(fact, condition.negated)])
        if isinstance(condition, Junction):
            found = [self.needs(part, binding) for part in condition.parts]
            least = len(found) if condition.every else 1
        else:
            inner = self.bindings(condition.choices, [condition.sought], binding)
            found = [self.needs(condition.sought, bound) for bound in inner]
            least = 0 if condition.every else 1
        possible = [needs for needs in found if needs is not None]
        if len(possible) < least:
            return None
        union = Needs().union(*possible)
        if isinstance(condition, Quantified) and condition.every:
            return Needs(Need(need.fact, negated=True) for need in union)
        return union


def _relaxed(condition: Condition) -> Condition:
    """The condition without negated facts and `forall`."""
    if isinstance(condition, Atomic):
        return TRUE if condition.negated else condition
    if isinstance(condition, Junction):
        parts = [_relaxed(part) for part in condition.parts]
        return joined(condition.every, parts)
    if condition.every:
        return TRUE
    sought = _relaxed(condition.sought)
    return Quantified(False, condition.choices, sought, condition.declared)
