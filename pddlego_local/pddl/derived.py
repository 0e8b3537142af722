"""Derived predicates: the facts that the rules of `:derived` make true in a state.

Predicates that depend on each other are evaluated together, after those on which they
depend. If a predicate depends on its own negation, its facts are approached from below
and from above. Where the rules are stratified for each single fact, as Fast Downward
demands, both meet.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from pddlego_local.pddl.conditions import (
    Atomic,
    Choices,
    Condition,
    Junction,
    Quantified,
    alternatives,
    bindings,
    conjuncts,
    ground,
    joined,
)
from pddlego_local.pddl.index import Fact, Facts

MOST_ALTERNATIVES = 100


@dataclass(frozen=True)
class Rule:
    """`head` is true for all objects that `choices` allow and for which the condition
    holds.
    """

    head: Fact
    choices: Choices
    condition: Condition


Group = Sequence[Rule]


class Derivation:
    """The rules of a domain, in the order in which they are evaluated."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        written = [*rules]
        needs: dict[str, set[str]] = {rule.head[0]: set() for rule in written}
        for rule in written:
            needs[rule.head[0]] |= {
                name for name, _ in uses(rule.condition)
            } & needs.keys()
        reached = {name: _reached(name, needs) for name in needs}
        order = sorted(
            set(reached.values()), key=lambda names: (len(names), sorted(names))
        )
        groups = [{name for name in needs if reached[name] == names} for names in order]
        self._groups = [
            [
                one
                for rule in written
                if rule.head[0] in group
                for one in _simple(rule, group)
            ]
            for group in groups
        ]

    def facts(self, basic: Iterable[Fact]) -> frozenset[Fact]:
        """Returns the derived facts of a state with these basic facts."""
        known, derived = {*basic}, set[Fact]()
        for group in self._groups:
            new = _meaning(group, known)
            known |= new
            derived |= new
        return frozenset(derived)


def uses(
    condition: Condition, below_forall: bool = False
) -> Iterator[tuple[str, bool]]:
    """Yields the predicates of a condition, and whether Fast Downward counts each use
    as negative: it is negated, or below `forall`, which Fast Downward expresses by a
    negation.
    """
    if isinstance(condition, Atomic):
        yield condition.pattern[0], condition.negated or below_forall
    elif isinstance(condition, Junction):
        for part in condition.parts:
            yield from uses(part, below_forall)
    else:
        yield from uses(condition.sought, below_forall or condition.every)


def _reached(name: str, needs: Mapping[str, Set[str]]) -> frozenset[str]:
    """The predicates on which one depends at any remove, and itself."""
    reached, pending = {name}, [name]
    while pending:
        new = needs[pending.pop()] - reached
        reached |= new
        pending += new
    return frozenset(reached)


def _simple(rule: Rule, names: Set[str]) -> list[Rule]:
    """The rule as several ones in which the facts of these predicates are not within
    `or` and `exists`, so that the consequences of a new fact are found quickly. A rule
    with too many alternatives stays as it is.
    """
    done, pending = list[Rule](), [rule]
    while pending:
        one = pending.pop()
        parts = conjuncts(one.condition)
        inside = next((part for part in parts if _hides(part, names)), None)
        others = [part for part in parts if part is not inside]
        if inside is None:
            done.append(one)
        elif isinstance(inside, Quantified):
            choices = {**one.choices, **inside.choices}
            pending.append(
                Rule(one.head, choices, joined(True, [inside.sought, *others]))
            )
        else:
            ways = [joined(True, [way, *others]) for way in alternatives(inside)]
            pending += [replace(one, condition=way) for way in ways]
        if len(done) + len(pending) > MOST_ALTERNATIVES:
            return [rule]
    return done


def _hides(part: Condition, names: Set[str]) -> bool:
    is_open = isinstance(part, Junction) or (
        isinstance(part, Quantified) and not part.every
    )
    return is_open and any(name in names for name, _ in uses(part))


def _meaning(group: Group, basic: Set[Fact]) -> set[Fact]:
    """The derived facts of a group of rules, given all facts on which they depend."""
    names = {rule.head[0] for rule in group}
    if not any(
        name in names and no for rule in group for name, no in uses(rule.condition)
    ):
        return _fixpoint(group, basic, None)
    certain, before = set[Fact](), None
    while certain != before:
        possible = _fixpoint(group, basic, certain)
        certain, before = _fixpoint(group, basic, possible), certain
    return certain


def _fixpoint(group: Group, basic: Set[Fact], denied: Set[Fact] | None) -> set[Fact]:
    """The facts that the rules make true one after another. A negated fact is one that
    is neither basic nor in `denied`; without `denied`, one that is not true.
    """
    true = Facts(basic)
    possible = true if denied is None else Facts([*basic, *denied])
    found = set[Fact]()
    new = {fact for rule in group for fact in _all(rule, true, possible)} - basic
    while new:
        found |= new
        for fact in new:
            true.add(fact)
        more = (fact for rule in group for fact in _more(rule, new, true, possible))
        new = {*more} - found - basic
    return found


def _all(
    rule: Rule, true: Facts, possible: Facts, fixed: Mapping[str, str] = {}
) -> Iterator[Fact]:
    for found in bindings(rule.choices, [rule.condition], fixed, true, possible):
        yield ground(rule.head, found)


def _more(rule: Rule, new: Set[Fact], true: Facts, possible: Facts) -> Iterator[Fact]:
    """The facts that the rule makes true since `new` ones are. Only those of a list of
    facts are found from the new ones alone.
    """
    names = {fact[0] for fact in new}
    parts = conjuncts(rule.condition)
    if any(
        name in names
        for part in parts
        if not isinstance(part, Atomic)
        for name, _ in uses(part)
    ):
        yield from _all(rule, true, possible)
        return
    for number, part in enumerate(parts):
        if not isinstance(part, Atomic) or part.negated or part.pattern[0] not in names:
            continue
        others = joined(True, [*parts[:number], *parts[number + 1 :]])
        fresh = Facts(fact for fact in new if fact[0] == part.pattern[0])
        for found in bindings(_of(part, rule.choices), [part], {}, fresh, possible):
            yield from _all(replace(rule, condition=others), true, possible, found)


def _of(part: Atomic, choices: Choices) -> Choices:
    return {
        name: objects for name, objects in choices.items() if name in part.variables
    }
