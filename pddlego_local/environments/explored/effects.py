"""What an action changes, and how much of it a player can foresee."""

from collections.abc import Iterator
from typing import NamedTuple

from pddlego_local.environments.explored.sight import Sight
from pddlego_local.pddl.conditions import (
    Atomic,
    Binding,
    Condition,
    Fact,
    Junction,
    Known,
    bindings,
    ground,
    known_as,
    without,
)
from pddlego_local.pddl.state import Change, State, Step, Task, changed


class Effect(NamedTuple):
    """A fact that an action adds, or deletes if `negated`."""

    fact: Fact
    negated: bool


def effects(task: Task, state: State, step: Step) -> tuple[set[Fact], set[Fact]]:
    """Returns the facts that an action adds and those that it deletes."""
    added, deleted = set[Fact](), set[Fact]()
    known = known_as(state.true)
    for schema in task.actions[step[0]]:
        plus, minus = changed(schema.changes, schema.binding(step[1:]), known)
        added |= plus
        deleted |= minus
    return added, deleted


def plainly_deleted(task: Task, state: State, step: Step) -> frozenset[Fact]:
    """Returns the facts that an action deletes without a condition, so that nobody
    needs to be told.
    """
    known = known_as(state.true)
    return frozenset(
        effect.fact
        for schema in task.actions[step[0]]
        for change in schema.changes
        if change.negated and _is_always(change.condition)
        for effect, _ in _each(change, schema.binding(step[1:]), known)
    )


def unsure_effects(
    task: Task, sight: Sight, state: State, step: Step
) -> Iterator[Effect]:
    """Yields the effects that depend on what a player does not know: `state` has the
    facts that are believed, and what is neither believed nor in sight is unknown.
    """
    known = known_as(state.true)
    places = sight.whereabouts.places(state.true)

    def is_known(fact: Fact) -> bool:
        return fact in known.true or sight.is_seen(fact, known, places)

    for schema in task.actions[step[0]]:
        for change in schema.changes:
            if _is_always(change.condition):
                continue
            for effect, binding in _each(change, schema.binding(step[1:]), known):
                if not all(map(is_known, _asked(change.condition, binding))):
                    yield effect


def _is_always(condition: Condition) -> bool:
    return isinstance(condition, Junction) and condition.every and not condition.parts


def _each(
    change: Change, binding: Binding, known: Known
) -> Iterator[tuple[Effect, Binding]]:
    """Yields the effects of a change for all objects, whether its condition holds or
    not, and the binding of each.
    """
    outside = without(binding, change.choices)
    for found in bindings(change.choices, [], outside, known):
        yield Effect(ground(change.pattern, found), change.negated), found


def _asked(condition: Condition, binding: Binding) -> Iterator[Fact]:
    """Yields the facts on which a condition depends. Under a quantifier, variables
    stand for what may not be known.
    """
    if isinstance(condition, Atomic):
        if condition.pattern[0] != "=":
            yield ground(condition.pattern, binding)
    elif isinstance(condition, Junction):
        for part in condition.parts:
            yield from _asked(part, binding)
    else:
        yield from _asked(condition.sought, without(binding, condition.choices))
