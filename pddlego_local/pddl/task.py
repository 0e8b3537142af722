"""Data types for a domain and a problem as written: every name keeps its place in the
text.
"""

from dataclasses import dataclass, field

from pddlego_local.pddl.reader import Block, Word

MOST_TERMS_QUOTED = 12


def counted(count: int, noun: str) -> str:
    """Returns for example "1 condition" or "2 conditions"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


@dataclass(slots=True)
class TypedName:
    """A variable, object or type with the types after its `-`.

    There is one type, or several under `either`, or none if the file names none. In the
    last case the type is `object`.
    """

    word: Word
    types: tuple[Word, ...] = ()

    @property
    def name(self) -> str:
        return self.word.name

    @property
    def type_names(self) -> frozenset[str]:
        return frozenset(word.name for word in self.types) or frozenset({"object"})

    @property
    def kind(self) -> str:
        """The types as messages quote them."""
        return " or ".join(map(str, self.types)) or "object"


@dataclass(slots=True)
class Atom:
    """`(predicate term …)`; `block` is its place in the text."""

    predicate: Word
    terms: list[Word]
    block: Block

    @property
    def key(self) -> tuple[str, ...]:
        return (self.predicate.name, *(term.name for term in self.terms))

    def __str__(self) -> str:
        words = [self.predicate, *self.terms[:MOST_TERMS_QUOTED]]
        more = " …" if len(self.terms) > MOST_TERMS_QUOTED else ""
        return f"({' '.join(map(str, words))}{more})"


@dataclass(slots=True)
class Literal:
    """An atom or its negation; `scope` holds the quantified variables around it.

    `required` says that a condition cannot hold without the literal, because it is not
    under `or` or a quantifier. `when` are the conditions around a literal of an effect,
    as written.
    """

    atom: Atom
    negated: bool = False
    scope: tuple[TypedName, ...] = ()
    required: bool = True
    when: tuple[Block, ...] = ()

    def __str__(self) -> str:
        return f"(not {self.atom})" if self.negated else str(self.atom)


@dataclass(slots=True)
class WrittenCondition:
    """A condition. `plain` says that it is a conjunction of literals, without other
    operators. `block` is the condition as written, an empty list if the file has none.
    """

    literals: list[Literal] = field(default_factory=list)
    quantified: list[list[TypedName]] = field(default_factory=list)
    plain: bool = True
    block: Block = field(default_factory=lambda: Block(0))


@dataclass(slots=True)
class Effect:
    """An effect. `changes` are the facts that it adds and deletes.

    `conditions` are the conditions of `when`. `cost` is the amount of the last
    `(increase (total-cost) amount)`, which is the one that applies: a number without
    terms, or `(function term …)`. `complete` says that no part had to be skipped.
    """

    changes: list[Literal] = field(default_factory=list)
    conditions: list[WrittenCondition] = field(default_factory=list)
    quantified: list[list[TypedName]] = field(default_factory=list)
    cost: Atom | None = None
    complete: bool = True


@dataclass(slots=True)
class Predicate:
    """A predicate. `parameters` is None if their list could not be read."""

    word: Word
    parameters: list[TypedName] | None

    @property
    def has(self) -> str:
        """The words of a message about the number of parameters."""
        return f"has {counted(len(self.parameters or ()), 'parameter')}"


@dataclass(slots=True)
class ActionDefinition:
    """`(:action name …)` of a domain. An environment's actions are
    `core.nouns.Action`.
    """

    word: Word
    parameters: list[TypedName] = field(default_factory=list)
    precondition: WrittenCondition = field(default_factory=WrittenCondition)
    effect: Effect = field(default_factory=Effect)
    complete: bool = True


@dataclass(slots=True)
class Axiom:
    """`(:derived (predicate ?x …) condition)`"""

    predicate: Predicate
    condition: WrittenCondition


@dataclass(slots=True)
class Domain:
    """A domain. `predicates` is None if there is no `:predicates`; then even `=` is
    unknown.

    `unreadable` names the lists in which a part had to be skipped. `whole` says that no
    section had to be skipped.
    """

    block: Block
    word: Word | None = None
    types: list[TypedName] = field(default_factory=list)
    constants: list[TypedName] = field(default_factory=list)
    predicates: list[Predicate] | None = None
    actions: list[ActionDefinition] = field(default_factory=list)
    axioms: list[Axiom] = field(default_factory=list)
    unreadable: set[str] = field(default_factory=set)
    whole: bool = True


@dataclass(slots=True)
class Value:
    """`(= (function object …) number)` in `:init`."""

    function: tuple[str, ...]
    number: int
    block: Block


@dataclass(slots=True)
class Problem:
    """A problem. `unreadable` and `whole` have the same meaning as in `Domain`."""

    block: Block
    domain_word: Word | None = None
    objects: list[TypedName] = field(default_factory=list)
    init: list[Literal] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    goal: WrittenCondition | None = None
    unreadable: set[str] = field(default_factory=set)
    whole: bool = True

    @property
    def minimizes(self) -> bool:
        """Whether the problem has a `:metric`."""
        return any(block.head == ":metric" for block in self.block.blocks)
