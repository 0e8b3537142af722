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
        roles={} if now.roles == before.roles else now.roles,
    )
    return event if event.added or event.removed or event.objects else None


def after(before: TrueState, event: State) -> TrueState:
    """Returns the state after an event. An event may hold any text."""
    predicates = before.predicates | predicates_of(event.predicates)
    new = {name: kind for kind, names in event.objects.items() for name in names}
    return TrueState(
        objects={**before.objects, **new},
        facts=(before.facts - _read(event.removed)) | _read(event.added),
        predicates=predicates,
        roles=event.roles or before.roles,
    )


def predicates_of(texts: Iterable[str]) -> frozenset[tuple[str, int]]:
    """Returns predicates with their arities, such as ("at", 1) for "at/1". A text of
    another form is none.
    """
    parts = (text.rpartition("/") for text in texts)
    return frozenset(
        (name, int(arity)) for name, _, arity in parts if arity.isdecimal()
    )


def _written(facts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(f"({' '.join(fact)})" for fact in sorted(facts))


def _read(facts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    words = (tuple(fact.strip("()").split()) for fact in facts)
    return frozenset(fact for fact in words if fact)
