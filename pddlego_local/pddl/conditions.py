"""Conditions that can be evaluated: in which facts they hold, for which objects, and
why not.

A condition of a file becomes a tree in which only facts are negated. As in Fast
Downward, a quantifier whose condition is true or false by its operators alone is
dropped: `(exists (?x - t) (and))` holds even if no object is a `t`. Whether objects
have the types that a predicate declares makes no difference.

A condition is evaluated in two sets of facts. A fact holds if it is in the first one,
and a negated fact if it is not in the second one. They are one and the same, except
while derived facts are computed (derived.py). Nothing here knows of actions.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.formulas import read_typed_list
from pddlego_local.pddl.reader import Block, Word
from pddlego_local.pddl.task import TypedName

Fact = tuple[str, ...]
"""A predicate and its objects, such as ("at", "ball1", "room2")."""
ANY = ""
"""Stands for any object in a pattern."""


class Facts:
    """A set of ground facts in which those that fit a pattern are found quickly.

    The parts of the index are made when they are first needed, in the order of the
    facts. One object belongs to one evaluation and is not shared between threads.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts = dict.fromkeys(facts)
        self._of_predicate: defaultdict[tuple[str, int], list[Fact]] | None = None
        self._at_place: dict[tuple[str, int, int], defaultdict[str, list[Fact]]] = {}

    def __contains__(self, fact: Fact) -> bool:
        return fact in self._facts

    def add(self, fact: Fact) -> None:
        if fact in self._facts:
            return
        self._facts[fact] = None
        if self._of_predicate is not None:
            self._of_predicate[fact[0], len(fact)].append(fact)
        for (name, length, place), having in self._at_place.items():
            if (name, length) == (fact[0], len(fact)):
                having[fact[place]].append(fact)

    def matching(self, pattern: Fact) -> Sequence[Fact]:
        """Returns the facts of the pattern's predicate that have one of its objects in
        its place.

        The place is the one with the fewest facts, so some of them may differ from the
        pattern elsewhere.
        """
        fewest = self._with_predicate(pattern[0], len(pattern))
        for place in range(1, len(pattern)):
            if pattern[place] != ANY and len(fewest) > 1:
                having = self._by_object(pattern[0], len(pattern), place)
                fewest = min(fewest, having.get(pattern[place], ()), key=len)
        return fewest

    def _with_predicate(self, name: str, length: int) -> Sequence[Fact]:
        if self._of_predicate is None:
            self._of_predicate = defaultdict(list)
            for fact in self._facts:
                self._of_predicate[fact[0], len(fact)].append(fact)
        return self._of_predicate.get((name, length), ())

    def _by_object(self, name: str, length: int, place: int) -> dict[str, list[Fact]]:
        having = self._at_place.get((name, length, place))
        if having is None:
            having = self._at_place[name, length, place] = defaultdict(list)
            for fact in self._with_predicate(name, length):
                having[fact[place]].append(fact)
        return having


Binding = Mapping[str, str]
"""Maps variables to objects. The name of a quantifier's variable ends in its place in
the file, so that it is not taken for another variable.
"""
NO_NAMES: Binding = {}
Choices = Mapping[str, Mapping[str, object]]
"""Maps variables to the objects that they may stand for, in order."""
ChoicesOf = Callable[[Sequence[TypedName]], Choices]


class Atomic:
    """A fact `(predicate term …)` or its negation. Two terms are equal if they are one
    object.
    """

    def __init__(self, pattern: Fact, negated: bool = False) -> None:
        self.pattern, self.negated = pattern, negated
        self.variables: frozenset[str] = frozenset(
            term for term in pattern[1:] if term[:1] == "?"
        )

    def turned(self) -> "Condition":
        """Returns the opposite condition."""
        return Atomic(self.pattern, not self.negated)

    def holds(self, binding: Binding, true: Facts, possible: Facts) -> bool:
        fact = ground(self.pattern, binding)
        same = fact[0] == "=" and fact[1] == fact[2]
        return (same or fact in (possible if self.negated else true)) != self.negated

    def text(self, binding: Binding) -> str:
        terms = (term.partition(" ")[0] for term in ground(self.pattern, binding))
        fact = f"({' '.join(terms)})"
        return f"(not {fact})" if self.negated else fact


class Junction:
    """`and` if `every` part must hold, else `or`. Without parts it is always true or
    always false.
    """

    def __init__(self, every: bool, parts: Sequence["Condition"] = ()) -> None:
        self.every, self.parts = every, tuple(parts)
        self.variables: frozenset[str] = frozenset().union(
            *(part.variables for part in parts)
        )

    def turned(self) -> "Condition":
        parts = []
        for (
            part
        ) in self.parts:  # loops, because a comprehension doubles the recursion's depth
            parts.append(part.turned())
        return Junction(not self.every, parts)

    def holds(self, binding: Binding, true: Facts, possible: Facts) -> bool:
        for part in self.parts:
            if part.holds(binding, true, possible) != self.every:
                return not self.every
        return self.every

    def text(self, binding: Binding) -> str:
        parts = (part.text(binding) for part in self.parts)
        return f"({' '.join(['and' if self.every else 'or', *parts])})"


class Quantified:
    """`forall` if `every`, else `exists`. `sought` is the condition that an example of
    `exists` or a counterexample to `forall` meets. `declared` is the list of variables
    as written.
    """

    def __init__(
        self, every: bool, choices: Choices, sought: "Condition", declared: str
    ) -> None:
        self.every, self.choices, self.sought, self.declared = (
            every,
            choices,
            sought,
            declared,
        )
        self.variables: frozenset[str] = sought.variables - choices.keys()

    def turned(self) -> "Condition":
        return Quantified(not self.every, self.choices, self.sought, self.declared)

    def holds(self, binding: Binding, true: Facts, possible: Facts) -> bool:
        return (self.found(binding, true, possible) is None) == self.every

    def found(self, binding: Binding, true: Facts, possible: Facts) -> Binding | None:
        """Returns an example of `exists`, or a counterexample to `forall`."""
        if self.every:  # in a counterexample, the facts have the opposite sign
            true, possible = possible, true
        return next(
            bindings(self.choices, [self.sought], binding, true, possible), None
        )

    def text(self, binding: Binding) -> str:
        part = self.sought.turned() if self.every else self.sought
        operator = "forall" if self.every else "exists"
        return f"({operator} {self.declared} {part.text(binding)})"


Condition = Atomic | Junction | Quantified
TRUE, FALSE = Junction(True), Junction(False)


def ground(pattern: Fact, binding: Binding) -> Fact:
    return (pattern[0], *(binding.get(term, term) for term in pattern[1:]))


def without(binding: Binding, variables: Choices) -> Binding:
    """Returns the binding without the variables, which have another meaning further
    inside.
    """
    return {name: value for name, value in binding.items() if name not in variables}


def conjuncts(condition: Condition) -> Sequence[Condition]:
    """Returns the conditions of an `and`, or the condition itself."""
    return (
        condition.parts
        if isinstance(condition, Junction) and condition.every
        else [condition]
    )


def alternatives(condition: Condition) -> Sequence[Condition]:
    """Returns the conditions of an `or`, or the condition itself."""
    is_or = isinstance(condition, Junction) and not condition.every
    return condition.parts if isinstance(condition, Junction) and is_or else [condition]


def joined(every: bool, parts: Sequence[Condition]) -> Condition:
    """Returns the conjunction or disjunction of the parts, in its simplest form."""
    flat: list[Condition] = []
    for part in parts:
        if not isinstance(part, Junction):
            flat.append(part)
        elif part.every == every:
            flat += part.parts
        elif part.parts:
            flat.append(part)
        else:  # decides alone
            return part
    return flat[0] if len(flat) == 1 else Junction(every, tuple(flat))


# ---- From a file


def condition_of(
    block: Block,
    choices_of: ChoicesOf,
    negated: bool = False,
    names: Binding = NO_NAMES,
) -> Condition:
    """Returns the condition in a block without faults, or its negation. Recurses once
    per level. `names` maps the variables of the quantifiers around the block to their
    unique names.
    """
    head, parts = block.head, block.blocks
    if not block.items:
        return FALSE if negated else TRUE
    if head == "not":
        return condition_of(parts[0], choices_of, not negated, names)
    if head in ("and", "or"):
        operands = []
        for each in parts:
            operands.append(condition_of(each, choices_of, negated, names))
        return joined((head == "and") != negated, operands)
    if head == "imply":
        first = condition_of(parts[0], choices_of, not negated, names)
        return joined(
            negated, [first, condition_of(parts[1], choices_of, negated, names)]
        )
    if head not in ("forall", "exists"):
        return Atomic(ground(pattern_of(block), names), negated)
    every = (head == "forall") != negated
    choices = choices_of(variables_in(parts[0]))
    unique = {name: f"{name} {block.offset}" for name in choices if name[0] == "?"}
    part = condition_of(parts[1], choices_of, negated, {**names, **unique})
    if isinstance(part, Junction) and not part.parts:
        return part
    own = {f"{name} {block.offset}": objects for name, objects in choices.items()}
    return Quantified(every, own, part.turned() if every else part, written(parts[0]))


def pattern_of(block: Block) -> Fact:
    """Returns the predicate and the terms of an atom."""
    return tuple(item.name for item in block.items if isinstance(item, Word))


def variables_in(block: Block) -> list[TypedName]:
    return read_typed_list(block.items, FaultLog()) or []


def written(block: Block) -> str:
    """Returns the text of a list in one line, in lower case."""
    parts = [
        item.name if isinstance(item, Word) else written(item) for item in block.items
    ]
    return f"({' '.join(parts)})"


# ---- The objects for which conditions hold


def bindings(
    choices: Choices,
    parts: Sequence[Condition],
    binding: Binding,
    true: Facts,
    possible: Facts,
) -> Iterator[Binding]:
    """Yields the extensions of the binding to all variables of `choices` under which
    the parts hold. May yield one of them several times, and with further variables.

    A variable is bound by the facts that a part needs, if there is such a part, and the
    part with the fewest facts comes first. Objects are tried one by one only where no
    fact is needed.
    """
    pending = [_Open(dict(binding), parts, choices)]
    while pending:
        bound, conditions, known = pending.pop()
        free = known.keys() - bound.keys()
        left = _undecided(conditions, free, bound, true, possible)
        if left is None:
            continue
        if free:
            pending += reversed(_extended(_Open(bound, left, known), free, true))
        else:
            yield bound


class _Open(NamedTuple):
    """A binding, the conditions that are not yet decided, and the choices of all
    variables.
    """

    bound: dict[str, str]
    conditions: Sequence[Condition]
    choices: Choices


def _extended(way: _Open, free: Set[str], true: Facts) -> list[_Open]:
    """Returns the ways to go on: with the facts that one condition needs, with the
    inside of a condition that needs facts, or else with each object that one variable
    may stand for.
    """
    bound, conditions, choices = way
    needed = [
        (_count(one, bound, free, true), one) for one in conditions if _binds(one, free)
    ]
    if needed:
        rarest = min(needed, key=lambda pair: pair[0])[1]
        others = [part for part in conditions if part is not rarest]
        matches = _matches(rarest, choices, bound, free, true)
        return [_Open(found, others, choices) for found in matches]
    inside = next((part for part in conditions if _narrows(part, free)), None)
    if inside is not None:
        others = [part for part in conditions if part is not inside]
        if isinstance(inside, Quantified):
            more = {**choices, **inside.choices}
            return [_Open(bound, [inside.sought, *others], more)]
        return [_Open(bound, [one, *others], choices) for one in alternatives(inside)]
    name = min(free, key=lambda variable: (len(choices[variable]), variable))
    return [
        _Open({**bound, name: value}, conditions, choices) for value in choices[name]
    ]


def _count(part: Condition, bound: Binding, free: Set[str], true: Facts) -> int:
    """The number of facts that are tried for the part."""
    known = _known(part, bound, free)
    return 1 if known[0] == "=" else len(true.matching(known))


def _binds(part: Condition, free: Set[str]) -> bool:
    """Whether facts say for which objects the part holds: it has a free variable, and
    is not negated. An equality says so if it has only one free variable.
    """
    if not isinstance(part, Atomic) or part.negated:
        return False
    open_terms = [term in free for term in part.pattern[1:]]
    return any(open_terms) and not (part.pattern[0] == "=" and all(open_terms))


def _narrows(part: Condition, free: Set[str]) -> bool:
    """Whether each way to meet the part needs a fact with a free variable, so that
    going through the ways binds a variable each time.
    """
    if isinstance(part, Junction) and not part.every:
        return all(_narrows(alternative, free) for alternative in part.parts)
    if isinstance(part, Junction):
        return any(_narrows(conjunct, free) for conjunct in part.parts)
    if isinstance(part, Quantified):
        return not part.every and _narrows(part.sought, free)
    return _binds(part, free)


def _undecided(
    conditions: Sequence[Condition],
    free: Set[str],
    bound: Binding,
    true: Facts,
    possible: Facts,
) -> list[Condition] | None:
    """Returns the conditions that depend on free variables, or None if another one
    fails.
    """
    left: list[Condition] = []
    pending = [*reversed(conditions)]
    while pending:
        part = pending.pop()
        if isinstance(part, Junction) and part.every:
            pending += reversed(part.parts)
        elif not free.isdisjoint(part.variables):
            left.append(part)
        elif not part.holds(bound, true, possible):
            return None
    return left


def _matches(
    part: Condition, choices: Choices, bound: Binding, free: Set[str], true: Facts
) -> Iterator[dict[str, str]]:
    """Yields the extensions of `bound` that make the part one of the facts."""
    assert isinstance(part, Atomic)
    known = _known(part, bound, free)
    equal = [("=", other, other) for other in known[1:] if other != ANY]
    for fact in equal if known[0] == "=" else true.matching(known):
        found: dict[str, str] = {}
        for term, value in zip(part.pattern[1:], fact[1:], strict=True):
            if term not in free:
                fits = bound.get(term, term) == value
            else:
                fits = value in choices[term] and found.setdefault(term, value) == value
            if not fits:
                break
        else:
            yield {**bound, **found}


def _known(part: Condition, bound: Binding, free: Set[str]) -> Fact:
    assert isinstance(part, Atomic)
    terms = (
        ANY if term in free else bound.get(term, term) for term in part.pattern[1:]
    )
    return (part.pattern[0], *terms)
