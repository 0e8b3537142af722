"""True states as a transcript holds them: each as the difference from the last one."""

from collections import defaultdict
from collections.abc import Iterable

from pddlego_local.core.nouns import TrueState
from pddlego_local.core.record.events import State

NOTHING = TrueState({}, frozenset(), frozenset())


def change(before: TrueState, now: TrueState) -> State | None:
    """Returns the event of a new state, None if it is the same as before."""
    kinds = defaultdict[str, list[str]](list)
    for name, kind in sorted(now.objects.items()):
        if before.objects.get(name) != kind:
            kinds[kind].append(name)
    predicates = sorted(now.predicates - before.predicates)
    event = State(
        added=_written(now.facts - before.facts),
        removed=_written(before.facts - now.facts),
        objects={kind: tuple(names) for kind, names in kinds.items()},
        predicates=tuple(f"{name}/{arity}" for name, arity in predicates),
    )
    return event if event.added or event.removed or event.objects else None


def after(before: TrueState, event: State) -> TrueState:
    """Returns the state after an event. An event may hold any text."""
    predicates = set(before.predicates)
    for predicate in event.predicates:
        name, _, arity = predicate.rpartition("/")
        if arity.isdecimal():
            predicates.add((name, int(arity)))
    new = {name: kind for kind, names in event.objects.items() for name in names}
    return TrueState(
        objects={**before.objects, **new},
        facts=(before.facts - _read(event.removed)) | _read(event.added),
        predicates=frozenset(predicates),
    )


def _written(facts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(f"({' '.join(fact)})" for fact in sorted(facts))


def _read(facts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    words = (tuple(fact.strip("()").split()) for fact in facts)
    return frozenset(fact for fact in words if fact)
