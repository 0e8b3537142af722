"""What a pair of files declares, and whether an atom uses it as declared."""

from collections.abc import Iterable
from dataclasses import dataclass

from pddlego_local.pddl.conditions import OPERATORS
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.task import Atom, Domain, Literal, Predicate, Problem, TypedName

# Words of PDDL that stand where a predicate may, but that Fast Downward does not take there.
FOREIGN_OPERATORS = frozenset({
    "when", "increase", "decrease", "assign", "scale-up", "scale-down", "oneof", "either",
    "preference", "sometime", "always", "at-most-once", ">", "<", ">=", "<=", "+", "-", "*", "/",
})  # fmt: skip

MOST_TYPES = 1000  # beyond it the hierarchy is not searched: the time would grow as the square


class Types:
    """The type hierarchy. A type that is only named as a supertype is not declared: variables may
    have it, objects may not."""

    def __init__(self, domain: Domain | None) -> None:
        self.reliable = domain is not None and domain.types_complete
        if domain is not None and not domain.whole and not domain.types:
            self.reliable = False
        self.comparable = domain is not None and len(domain.types) <= MOST_TYPES
        self.parents: dict[str, set[str]] = {"object": set()}
        for entry in domain.types if domain is not None else ():
            parents = {word.name for word in entry.types} or {"object"}
            self.parents.setdefault(entry.name, set()).update(parents - {entry.name})
        self.declared = frozenset(self.parents)
        self.named = self.declared.union(*self.parents.values())
        self._ancestors: dict[str, frozenset[str]] = {}

    def with_ancestors(self, name: str) -> frozenset[str]:
        if name not in self._ancestors:
            reached, pending = {name, "object"}, [name]
            while pending:
                new = self.parents.get(pending.pop(), set()) - reached
                reached |= new
                pending += new
            self._ancestors[name] = frozenset(reached)
        return self._ancestors[name]

    def instances(self, types: frozenset[str], entries: Iterable[TypedName]) -> dict[str, None]:
        """The names of the entries that are of one of the types, in order."""
        return {
            entry.name: None
            for entry in entries
            if any(types & self.with_ancestors(own) for own in type_names(entry))
        }

    def fits(self, entry: TypedName, expected: TypedName, *, loosely: bool = False) -> bool:
        """Whether `entry` may stand where `expected` is declared; also where the types are unknown.
        `loosely`: a variable of a supertype may, since some of its objects do."""
        own, expected_types = type_names(entry), type_names(expected)
        if not self.reliable or not self.comparable or not (own | expected_types) <= self.named:
            return True
        return any(
            want in self.with_ancestors(have) or (loosely and have in self.with_ancestors(want))
            for have in own
            for want in expected_types
        )


def type_names(entry: TypedName) -> set[str]:
    return {word.name for word in entry.types} or {"object"}


@dataclass
class Symbols:
    """`predicates` is None where their section is unreadable: then no use of one is a fault."""

    types: Types
    predicates: dict[str, Predicate] | None
    has_predicate_section: bool
    constants: dict[str, TypedName]
    objects: dict[str, TypedName]  # the constants too
    constants_complete: bool
    objects_complete: bool
    derived: frozenset[str]


def symbols_of(domain: Domain | None, problem: Problem | None) -> Symbols:
    """The declarations of both files. A refused section makes them incomplete."""
    constants = by_name(domain.constants if domain else ())
    objects = {**constants, **by_name(problem.objects if problem else ())}
    constants_complete = domain is not None and domain.constants_complete
    objects_complete = constants_complete and problem is not None and problem.objects_complete
    if domain is not None and not domain.whole:
        constants_complete = constants_complete and bool(domain.constants)
    if problem is not None and not problem.whole:
        objects_complete = objects_complete and bool(problem.objects)
    predicates_readable = domain is not None and (domain.whole or domain.predicates is not None)
    return Symbols(
        types=Types(domain),
        predicates=(
            {p.word.name: p for p in domain.predicates or ()}
            if domain is not None and predicates_readable
            else None
        ),
        has_predicate_section=domain is not None and domain.predicates is not None,
        constants=constants,
        objects=objects,
        constants_complete=constants_complete,
        objects_complete=objects_complete,
        derived=frozenset(axiom.predicate.word.name for axiom in (domain.axioms if domain else ())),
    )


def by_name(entries: Iterable[TypedName]) -> dict[str, TypedName]:
    return {entry.name: entry for entry in entries}


@dataclass
class Place:
    """Where an atom stands: what a message calls it, and which names it may use there.

    `variables` is None where they could not be read. `forms` says what else may stand there.
    """

    called: str
    forms: str
    variables: dict[str, TypedName] | None
    in_domain: bool = False
    loosely_typed: bool = False


def check_literal(literal: Literal, place: Place, symbols: Symbols, log: FaultLog) -> bool:
    """Reports every misuse of a name in the literal; whether there was none."""
    atom = literal.atom
    variables = place.variables
    if variables is not None and literal.scope:
        variables = {**variables, **by_name(literal.scope)}
    terms_right = [_check_term(term, variables, place, symbols, log) for term in atom.terms]
    if symbols.predicates is None or (atom.predicate.name == "=" and symbols.has_predicate_section):
        return _check_equality(atom, log) and all(terms_right)
    predicate = symbols.predicates.get(atom.predicate.name)
    if predicate is None:
        _refuse_predicate(atom, place, symbols, log)
        return False
    if predicate.parameters is None:
        return all(terms_right)
    if len(predicate.parameters) != len(atom.terms):
        log.symbol(
            atom.block,
            f"predicate `{predicate.word}` has {_count(len(predicate.parameters))} but is used "
            f"with {len(atom.terms)} in {place.called}: `{atom}`",
        )
        return False
    if all(terms_right):
        _warn_of_types(atom, predicate.parameters, variables, place, symbols, log)
    return all(terms_right)


def _check_equality(atom: Atom, log: FaultLog) -> bool:
    if atom.predicate.name != "=" or len(atom.terms) == 2:
        return True
    log.symbol(atom.block, f"`=` compares 2 terms but is used with {len(atom.terms)}: `{atom}`")
    return False


def _check_term(
    term: Word,
    variables: dict[str, TypedName] | None,
    place: Place,
    symbols: Symbols,
    log: FaultLog,
) -> bool:
    if variables is None or term.name in variables:
        return True
    complete = symbols.constants_complete if place.in_domain else symbols.objects_complete
    if term.name in (symbols.constants if place.in_domain else symbols.objects) or not complete:
        return True
    used = f"`{term}` is used in {place.called}"
    if term.name[0] == "?" and place.in_domain:
        log.symbol(term, f"{used} but is not among its parameters: add it to them")
    elif term.name[0] == "?":
        log.symbol(term, f"variable {used}, where only objects may stand: name the object")
    elif not place.in_domain:
        log.symbol(term, f"{used} but is not declared: add it to `:objects`")
    elif f"?{term.name}" in variables:
        log.symbol(term, f"{used} but is no variable: write `?{term}`")
    elif term.name in symbols.objects:
        log.symbol(
            term,
            f"{used} but is an object of the problem: declare it under `:constants` of the domain, "
            "and no longer under `:objects`, or use a parameter",
        )
    else:
        log.symbol(
            term,
            f"{used} but is declared nowhere: make it a parameter `?{term}` "
            "or declare it under `:constants`",
        )
    return False


def _refuse_predicate(atom: Atom, place: Place, symbols: Symbols, log: FaultLog) -> None:
    name = atom.predicate
    if name.name in FOREIGN_OPERATORS or name.name in OPERATORS:
        log.syntax(name, f"`{name}` cannot stand in {place.called}: {place.forms}")
    elif not symbols.has_predicate_section:
        log.symbol(
            name,
            f"predicate `{name}` is used in {place.called}, but the domain has no `:predicates`: "
            "declare them there" + (" (even for `=`)" if name.name == "=" else ""),
        )
    elif name.name in symbols.types.declared:
        log.symbol(
            name,
            f"type `{name}` is used as a predicate in {place.called}: types belong after `-` "
            "in lists of names; remove it or declare such a predicate under `:predicates`",
        )
    else:
        log.symbol(
            name,
            f"predicate `{name}` is used in {place.called} but not declared: "
            f"add `({name} …)` to `:predicates`",
        )


def _warn_of_types(
    atom: Atom,
    parameters: list[TypedName],
    variables: dict[str, TypedName] | None,
    place: Place,
    symbols: Symbols,
    log: FaultLog,
) -> None:
    for term, parameter in zip(atom.terms, parameters, strict=True):
        entry = (variables or {}).get(term.name) or symbols.objects.get(term.name)
        if entry is None or symbols.types.fits(entry, parameter, loosely=place.loosely_typed):
            continue
        log.warn(
            term,
            f"`{term}` has the type `{_type_text(entry)}`, but `{atom.predicate}` in "
            f"{place.called} takes a `{_type_text(parameter)}` there: `{atom}`",
        )


def _type_text(entry: TypedName) -> str:
    return " or ".join(str(word) for word in entry.types) or "object"


def _count(number: int) -> str:
    return f"{number} parameter{'s' * (number != 1)}"
