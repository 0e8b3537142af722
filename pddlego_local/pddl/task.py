"""A domain and a problem as they were written: every name keeps its place in the text."""

from dataclasses import dataclass, field

from pddlego_local.pddl.reader import Block, Word

MOST_TERMS_QUOTED = 12


@dataclass(slots=True)
class TypedName:
    """A variable, object or type with what stands after its `-`: one type, several under `either`,
    none where the file is silent (then the type is `object`)."""

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
        """Its types as a message quotes them."""
        return " or ".join(map(str, self.types)) or "object"


@dataclass(slots=True)
class Atom:
    """`(predicate term …)`; `block` is where it stands."""

    predicate: Word
    terms: list[Word]
    block: Block

    @property
    def key(self) -> tuple[str, ...]:
        return (self.predicate.name, *(term.name for term in self.terms))

    def __str__(self) -> str:
        terms = self.terms[:MOST_TERMS_QUOTED]
        more = " …" if len(self.terms) > len(terms) else ""
        return "(" + " ".join(str(word) for word in (self.predicate, *terms)) + more + ")"


@dataclass(slots=True)
class Literal:
    """An atom or its negation; `scope` holds the quantified variables around it.

    `required`: the condition cannot hold without it, since no `or` and no quantifier is around.
    """

    atom: Atom
    negated: bool = False
    scope: tuple[TypedName, ...] = ()
    required: bool = True

    def __str__(self) -> str:
        return f"(not {self.atom})" if self.negated else str(self.atom)


@dataclass(slots=True)
class Condition:
    """`plain`: a conjunction of literals, without quantifier, disjunction or implication."""

    literals: list[Literal] = field(default_factory=list)
    quantified: list[list[TypedName]] = field(default_factory=list)
    plain: bool = True


@dataclass(slots=True)
class Effect:
    """`changes` are what it adds and deletes, `conditions` what stands under `when`, `cost` the
    amount of the last `(increase (total-cost) amount)`, which counts: a number without terms, or
    `(function term …)`; `complete`: no part had to be skipped."""

    changes: list[Literal] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    quantified: list[list[TypedName]] = field(default_factory=list)
    cost: Atom | None = None
    complete: bool = True


@dataclass(slots=True)
class Predicate:
    """`parameters` is None where its list could not be read."""

    word: Word
    parameters: list[TypedName] | None

    @property
    def has(self) -> str:
        """What a message says of the number of its parameters."""
        count = len(self.parameters or ())
        return f"has {count} parameter{'s' * (count != 1)}"


@dataclass(slots=True)
class ActionDefinition:
    """`(:action name …)` of a domain; `core.nouns.Action` is what an environment allows."""

    word: Word
    parameters: list[TypedName] = field(default_factory=list)
    precondition: Condition = field(default_factory=Condition)
    effect: Effect = field(default_factory=Effect)
    complete: bool = True


@dataclass(slots=True)
class Axiom:
    """`(:derived (predicate ?x …) condition)`"""

    predicate: Predicate
    condition: Condition


@dataclass(slots=True)
class Domain:
    """`predicates` is None where there is no `:predicates`: then even `=` is unknown.

    `unreadable` names the lists of which a part had to be skipped. `whole`: no section had to be.
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
    """`unreadable` and `whole` as of a domain."""

    block: Block
    domain_word: Word | None = None
    objects: list[TypedName] = field(default_factory=list)
    init: list[Literal] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    goal: Condition | None = None
    goal_block: Block | None = None
    unreadable: set[str] = field(default_factory=set)
    whole: bool = True
