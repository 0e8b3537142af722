"""Conditions that can be evaluated: in which facts they hold, for which objects, and
why not.

A condition of a file becomes a tree in which only facts are negated. As in Fast
Downward, a quantifier whose condition is true or false by its operators alone is
dropped: `(exists (?x - t) (and))` holds even if no object is a `t`. Whether objects
have the types that a predicate declares makes no difference.

Nothing here knows of actions.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from pddlego_local.pddl.formulas import names_in
from pddlego_local.pddl.reader import Block, tidy
from pddlego_local.pddl.task import TypedName

Fact = tuple[str, ...]
"""A predicate and its objects, such as ("at", "ball1", "room2")."""
ANY = ""
"""Stands for any object in a pattern."""


class _Where(NamedTuple):
    """The place of an object in the facts of one predicate with so many terms."""

    predicate: str
    length: int
    place: int
    thing: str


class Facts:
    """A set of ground facts in which those that fit a pattern are found quickly.

    The index is made when it is first needed. One object belongs to one evaluation and
    is not shared between threads.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts = dict.fromkeys(facts)
        self._index: dict[_Where, list[Fact]] = {}

    def __contains__(self, fact: Fact) -> bool:
        return fact in self._facts

    def add(self, fact: Fact) -> None:
        if fact not in self._facts:
            self._facts[fact] = None
            if self._index:
                self._enter(fact)

    def matching(self, pattern: Fact) -> Sequence[Fact]:
        """Returns the facts of the pattern's predicate that have one of its objects in
        its place.

        The place is the one with the fewest facts, so some of them may differ from the
        pattern elsewhere.
        """
        if not self._index:
            for fact in self._facts:
                self._enter(fact)
        having = []
        for place, value in enumerate(pattern):
            if value != ANY:
                where = _Where(pattern[0], len(pattern), place, value)
                having.append(self._index.get(where, []))
        return min(having, key=len)

    def _enter(self, fact: Fact) -> None:
        for place, value in enumerate(fact):
            where = _Where(fact[0], len(fact), place, value)
            self._index.setdefault(where, []).append(fact)


class Known(NamedTuple):
    """The facts in which a condition is evaluated.

    A fact holds if it is in `true`, and a negated fact if it is not in `possible`. Both
    are the same, except while derived facts are computed (derived.py), or what may
    become true (reachability.py).
    """

    true: Facts
    possible: Facts


def known_as(facts: Iterable[Fact]) -> Known:
    """Returns the facts of a state, in which every other fact is false."""
    exactly = Facts(facts)
    return Known(exactly, exactly)


Binding = Mapping[str, str]
"""Maps variables to objects. The offset of a quantifier in the file is added to the
names of its variables, so that two variables of one name are not confused.
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
        self.pattern = pattern
        self.negated = negated
        self.variables: frozenset[str] = frozenset(
            term for term in pattern[1:] if term[:1] == "?"
        )

    def turned(self) -> "Condition":
        """Returns the opposite condition."""
        return Atomic(self.pattern, not self.negated)

    def holds(self, binding: Binding, known: Known) -> bool:
        fact = ground(self.pattern, binding)
        facts = known.possible if self.negated else known.true
        is_same = fact[0] == "=" and fact[1] == fact[2]
        return (is_same or fact in facts) != self.negated

    def text(self, binding: Binding) -> str:
        terms = (term.partition(" ")[0] for term in ground(self.pattern, binding))
        fact = f"({' '.join(terms)})"
        return f"(not {fact})" if self.negated else fact


class Junction:
    """`and` if `every` part must hold, else `or`. Without parts it is always true or
    always false.
    """

    def __init__(self, every: bool, parts: Sequence["Condition"] = ()) -> None:
        self.every = every
        self.parts = tuple(parts)
        self.variables: frozenset[str] = frozenset().union(
            *(part.variables for part in parts)
        )

    def turned(self) -> "Condition":
        parts = []
        for part in self.parts:  # a comprehension would double the recursion's depth
            parts.append(part.turned())
        return Junction(not self.every, parts)

    def holds(self, binding: Binding, known: Known) -> bool:
        for part in self.parts:
            if part.holds(binding, known) != self.every:
                return not self.every
        return self.every

    def text(self, binding: Binding) -> str:
        operator = "and" if self.every else "or"
        parts = [part.text(binding) for part in self.parts]
        return f"({' '.join([operator, *parts])})"


class Quantified:
    """`forall` if `every`, else `exists`. `sought` is the condition that an example of
    `exists` or a counterexample to `forall` meets. `declared` is the list of variables
    as written.
    """

    def __init__(
        self, every: bool, choices: Choices, sought: "Condition", declared: str
    ) -> None:
        self.every = every
        self.choices = choices
        self.sought = sought
        self.declared = declared
        self.variables: frozenset[str] = sought.variables - choices.keys()

    def turned(self) -> "Condition":
        return Quantified(not self.every, self.choices, self.sought, self.declared)

    def holds(self, binding: Binding, known: Known) -> bool:
        return (self.found(binding, known) is None) == self.every

    def found(self, binding: Binding, known: Known) -> Binding | None:
        """Returns an example of `exists`, or a counterexample to `forall`."""
        if self.every:  # in a counterexample, the facts have the opposite sign
            known = Known(known.possible, known.true)
        return next(bindings(self.choices, [self.sought], binding, known), None)

    def text(self, binding: Binding) -> str:
        part = self.sought.turned() if self.every else self.sought
        operator = "forall" if self.every else "exists"
        return f"({operator} {self.declared} {part.text(binding)})"


Condition = Atomic | Junction | Quantified
TRUE = Junction(True)
FALSE = Junction(False)


def ground(pattern: Fact, binding: Binding) -> Fact:
    return (pattern[0], *(binding.get(term, term) for term in pattern[1:]))


def without(binding: Binding, variables: Choices) -> Binding:
    """Returns the binding without the variables, which have another meaning further
    inside.
    """
    return {name: value for name, value in binding.items() if name not in variables}


def conjuncts(condition: Condition) -> Sequence[Condition]:
    """Returns the conditions of an `and`, or the condition itself."""
    if isinstance(condition, Junction) and condition.every:
        return condition.parts
    return [condition]


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
    parts = block.blocks
    if not block.items:
        return FALSE if negated else TRUE
    match block.head:
        case "not":
            return condition_of(parts[0], choices_of, not negated, names)
        case "and" | "or":
            operands = []
            for part in parts:  # a comprehension would double the recursion's depth
                operands.append(condition_of(part, choices_of, negated, names))
            return joined((block.head == "and") != negated, operands)
        case "imply":
            first = condition_of(parts[0], choices_of, not negated, names)
            second = condition_of(parts[1], choices_of, negated, names)
            return joined(negated, [first, second])
        case "forall" | "exists":
            variables, body = parts
            scope = _Scope.of(block.offset, choices_of(names_in(variables.items)))
            inner = {**names, **scope.names}
            condition = condition_of(body, choices_of, negated, inner)
            if isinstance(condition, Junction) and not condition.parts:
                return condition
            every = (block.head == "forall") != negated
            return Quantified(
                every=every,
                choices=scope.choices,
                sought=condition.turned() if every else condition,
                declared=tidy(variables).lower(),
            )
    pattern = tuple(word.name for word in block.words)
    return Atomic(ground(pattern, names), negated)


class _Scope(NamedTuple):
    """The unique `names` of a quantifier's variables, and their `choices` by them."""

    names: Binding
    choices: Choices

    @classmethod
    def of(cls, offset: int, declared: Choices) -> "_Scope":
        """Names without `?` are objects for the planner, and keep their meaning."""
        names = {}
        choices = {}
        for name, objects in declared.items():
            unique = f"{name} {offset}"
            choices[unique] = objects
            if name[0] == "?":
                names[name] = unique
        return cls(names, choices)


# ---- The objects for which conditions hold


def bindings(
    choices: Choices, parts: Sequence[Condition], binding: Binding, known: Known
) -> Iterator[Binding]:
    """Yields the extensions of the binding to all variables of `choices` under which
    the parts hold.

    A variable is bound by the facts that a part needs, if there is such a part, and the
    part with the fewest facts comes first. Objects are tried one by one only where no
    fact is needed.
    """
    pending = [_Open(binding, choices.keys() - binding.keys(), parts)]
    while pending:
        way = pending.pop()
        left = _undecided(way, known)
        if left is None:
            continue
        if not way.free:
            yield way.bound
            continue
        decided = way._replace(conditions=left)
        pending += reversed([*_extended(decided, choices, known.true)])


class _Open(NamedTuple):
    """A binding, the variables that it leaves free, and the conditions that are not yet
    decided.
    """

    bound: Binding
    free: Set[str]
    conditions: Sequence[Condition]


def _undecided(way: _Open, known: Known) -> list[Condition] | None:
    """The conditions that depend on free variables, or None if another one fails."""
    left = []
    pending = [*reversed(way.conditions)]
    while pending:
        part = pending.pop()
        if isinstance(part, Junction) and part.every:
            pending += reversed(part.parts)
        elif not way.free.isdisjoint(part.variables):
            left.append(part)
        elif not part.holds(way.bound, known):
            return None
    return left


def _extended(way: _Open, choices: Choices, true: Facts) -> Iterator[_Open]:
    """Yields the ways to go on: with the facts that one condition needs, or else with
    each object that one variable may stand for.
    """
    facts = {}
    for part in way.conditions:
        if isinstance(part, Atomic) and _binds(part, way.free):
            facts[part] = _facts_for(part, way, true)
    if facts:
        rarest = min(facts, key=lambda part: len(facts[part]))
        others = [part for part in way.conditions if part is not rarest]
        for fact in facts[rarest]:
            found = _matched(rarest, fact, way, choices)
            if found is not None:
                bound = {**way.bound, **found}
                yield _Open(bound, way.free - found.keys(), others)
        return
    name = min(way.free, key=lambda variable: (len(choices[variable]), variable))
    for value in choices[name]:
        bound = {**way.bound, name: value}
        yield _Open(bound, way.free - {name}, way.conditions)


def _binds(part: Atomic, free: Set[str]) -> bool:
    """Whether facts say for which objects the part holds: it has a free variable, and
    is not negated. An equality says so if it has only one free variable.
    """
    open_terms = [term in free for term in part.pattern[1:]]
    if part.negated or not any(open_terms):
        return False
    return part.pattern[0] != "=" or not all(open_terms)


def _facts_for(part: Atomic, way: _Open, true: Facts) -> Sequence[Fact]:
    """The facts among which are all that the part can be."""
    name, *terms = part.pattern
    values = []
    for term in terms:
        values.append(ANY if term in way.free else way.bound.get(term, term))
    if name != "=":
        return true.matching((name, *values))
    return [("=", value, value) for value in values if value != ANY]


def _matched(part: Atomic, fact: Fact, way: _Open, choices: Choices) -> Binding | None:
    """The binding of free variables that makes the part the fact, None if there is
    none.
    """
    found: dict[str, str] = {}
    for term, value in zip(part.pattern[1:], fact[1:], strict=True):
        if term not in way.free:
            fits = way.bound.get(term, term) == value
        else:
            fits = value in choices[term] and found.setdefault(term, value) == value
        if not fits:
            return None
    return found
