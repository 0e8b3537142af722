"""Collects the declarations of a pair of files, and checks that atoms use names as
declared.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.formulas import NUMERIC, OPERATORS
from pddlego_local.pddl.marks import how_declared, misread
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.task import Atom, Domain, Literal, Predicate, Problem, TypedName

# PDDL keywords in the place of a predicate that Fast Downward does not accept there.
FOREIGN_OPERATORS = frozenset({
    "when", "oneof", "either", "preference", "sometime", "always", "at-most-once",
})  # fmt: skip

CONDITION_FORMS = (
    "a condition is a fact, `and`, `or`, `not`, `imply`, `forall` or `exists`"
)
MOST_VARIABLES = 100  # variables that are compared with an undeclared one
MOST_TYPES = (
    1000  # beyond it the hierarchy is not searched: the time would be quadratic
)


class Types:
    """The type hierarchy.

    A type that is only named as a supertype is not declared: variables may have it, but
    objects may not.
    """

    def __init__(self, domain: Domain) -> None:
        self.reliable = _is_complete(domain, ":types", domain.types)
        self.comparable = len(domain.types) <= MOST_TYPES
        self.parents: dict[str, set[str]] = {"object": set()}
        for entry in domain.types:
            parents = self.parents.setdefault(entry.name, set())
            parents |= entry.type_names - {entry.name}
        self.declared = frozenset(self.parents)
        self.named = self.declared.union(*self.parents.values())
        self._ancestors: dict[str, frozenset[str]] = {}

    @cached_property
    def _misread(self) -> dict[str, str]:
        return misread(self.declared, self.declared)

    def unknown(self, word: Word, of: str = ": ") -> str:
        """Returns the message about an undeclared type; `of` says what has the type."""
        if other := self._misread.get(word.name):
            return f"type `{word}` {how_declared(str(word), other)}"
        return f"unknown type `{word}`{of}declare it under `:types`"

    def with_ancestors(self, name: str) -> frozenset[str]:
        """Returns the types to which an object of this type is meant to belong,
        `object` too.
        """
        return self._above(name) | {"object"}

    def _above(self, name: str) -> frozenset[str]:
        """The type itself and its supertypes. These are the types that the planner
        gives it.
        """
        if name not in self._ancestors:
            reached = {name}
            pending = [name]
            while pending:
                new = self.parents.get(pending.pop(), set()) - reached
                reached |= new
                pending += new
            self._ancestors[name] = frozenset(reached)
        return self._ancestors[name]

    def instances(
        self, types: frozenset[str], entries: Iterable[TypedName]
    ) -> dict[str, None]:
        """Returns the names of the entries that have one of the types for the planner,
        in order. A type whose supertype is not declared does not belong to `object`.
        """
        return {
            entry.name: None
            for entry in entries
            if any(types & self._above(own) for own in entry.type_names)
        }

    def fits(
        self, entry: TypedName, expected: TypedName, *, loosely: bool = False
    ) -> bool:
        """Returns whether `entry` may stand where `expected` is declared.

        The result is True if the types are unknown. With `loosely`, a variable of a
        supertype fits, because some objects of the supertype fit.
        """
        own_types = entry.type_names
        wanted_types = expected.type_names
        if not self.reliable or not self.comparable:
            return True
        if not own_types | wanted_types <= self.named:
            return True
        for own in own_types:
            for wanted in wanted_types:
                if wanted in self.with_ancestors(own):
                    return True
                if loosely and own in self.with_ancestors(wanted):
                    return True
        return False


class Symbols:
    """The declarations of both files. A refused section makes them incomplete.

    `predicates` is None if their section is unreadable; then no use of a predicate is a
    fault. `objects` include the constants.
    """

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.types = Types(domain)
        self.has_predicate_section = domain.predicates is not None
        self.predicates: dict[str, Predicate] | None = None
        if domain.whole or self.has_predicate_section:
            self.predicates = {}
            for predicate in domain.predicates or ():
                self.predicates[predicate.word.name] = predicate
        self.constants = by_name(domain.constants)
        self.objects = self.constants | by_name(problem.objects)
        self.constants_complete = _is_complete(domain, ":constants", domain.constants)
        self.objects_complete = (
            _is_complete(problem, ":objects", problem.objects)
            and ":constants" not in domain.unreadable
        )
        self.derived = frozenset(axiom.predicate.word.name for axiom in domain.axioms)

    @cached_property
    def misread_objects(self) -> dict[str, str]:
        """{intended name: declared name that holds a mark} (`marks.misread`)."""
        return misread(self.objects, self.types.declared)

    @cached_property
    def misread_predicates(self) -> dict[str, str]:
        return misread(self.predicates or (), ())


def _is_complete(
    file: Domain | Problem, section: str, entries: list[TypedName]
) -> bool:
    """Whether the entries of a section are complete. If a section of the file was
    refused, it may be this one, so an empty list is incomplete.
    """
    return section not in file.unreadable and (file.whole or bool(entries))


def by_name(entries: Iterable[TypedName]) -> dict[str, TypedName]:
    return {entry.name: entry for entry in entries}


def repeated(words: Iterable[Word]) -> Iterator[Word]:
    """Yields the words whose name has occurred before."""
    seen: set[str] = set()
    for word in words:
        if word.name in seen:
            yield word
        seen.add(word.name)


@dataclass
class Place:
    """The place of an atom: how messages call it, and which names are allowed there.

    `variables` is None if they could not be read. `forms` is the text about the forms
    that are allowed in this place.
    """

    called: str
    symbols: Symbols
    log: FaultLog
    variables: dict[str, TypedName] | None
    forms: str = CONDITION_FORMS

    @property
    def in_domain(self) -> bool:
        return self.log.file == "domain"


def check_literal(literal: Literal, place: Place) -> bool:
    """Reports every misuse of a name in the literal. Returns whether there was none."""
    atom = literal.atom
    symbols = place.symbols
    if literal.scope and place.variables is not None:
        inner = place.variables | by_name(literal.scope)
        place = replace(place, variables=inner)
    terms_right = not [term for term in atom.terms if not _check_term(term, place)]
    has_equality = symbols.predicates is None or symbols.has_predicate_section
    if atom.predicate.name == "=" and has_equality:
        if len(atom.terms) == 2:
            return terms_right
        place.log.symbol(
            atom.block,
            f"`=` compares 2 terms but is used with {len(atom.terms)}: `{atom}`",
        )
        return False
    if symbols.predicates is None:
        return terms_right
    predicate = symbols.predicates.get(atom.predicate.name)
    if predicate is None:
        _refuse_predicate(atom.predicate, place)
        return False
    if predicate.parameters is None:
        return terms_right
    if len(predicate.parameters) != len(atom.terms):
        place.log.symbol(
            atom.block,
            f"predicate `{predicate.word}` {predicate.has} but is used with"
            f" {len(atom.terms)} in {place.called}: `{atom}`",
        )
        return False
    if terms_right:
        _warn_of_types(atom, predicate.parameters, place)
    return terms_right


def _check_term(term: Word, place: Place) -> bool:
    symbols = place.symbols
    variables = place.variables
    if place.in_domain:
        declared = symbols.constants
        complete = symbols.constants_complete
    else:
        declared = symbols.objects
        complete = symbols.objects_complete
    if variables is None or not complete:
        return True
    if term.name in variables or term.name in declared:
        return True
    place.log.symbol(term, _undeclared(term, variables, place))
    return False


def _undeclared(term: Word, variables: Mapping[str, TypedName], place: Place) -> str:
    """The message about a name that is declared neither as a variable nor as an object
    that may stand in this place.
    """
    name = term.name
    symbols = place.symbols
    used = f"`{term}` is used in {place.called}"
    few = misread(itertools.islice(variables, MOST_VARIABLES), symbols.types.declared)
    if other := few.get(name) or symbols.misread_objects.get(name):
        return f"{used} but {how_declared(str(term), other)}"
    if not place.in_domain and name[0] == "?":
        return f"variable {used}, where only objects may stand: name the object"
    if not place.in_domain:
        return f"{used} but is not declared: add it to `:objects`"
    if name[0] == "?":
        return f"{used} but is not among its parameters: add it to them"
    if f"?{name}" in variables:
        return f"{used} but is no variable: write `?{term}`"
    if name in symbols.objects:
        return (
            f"{used} but is an object of the problem: declare it under `:constants` of"
            " the domain, and no longer under `:objects`, or use a parameter"
        )
    return (
        f"{used} but is declared nowhere: make it a parameter `?{term}` or declare it"
        " under `:constants`"
    )


def _refuse_predicate(word: Word, place: Place) -> None:
    """Reports a word in the place of a predicate that is not declared."""
    name = word.name
    if name in NUMERIC and name != "=":
        place.log.numeric(word, name)
    elif name in FOREIGN_OPERATORS or name in OPERATORS:
        place.log.syntax(
            word, f"`{word}` cannot stand in {place.called}: {place.forms}"
        )
    else:
        place.log.symbol(word, _undeclared_predicate(word, place))


def _undeclared_predicate(word: Word, place: Place) -> str:
    symbols = place.symbols
    used = f"predicate `{word}` is used in {place.called}"
    if not symbols.has_predicate_section:
        even = " (even for `=`)" if word.name == "=" else ""
        return f"{used}, but the domain has no `:predicates`: declare them there{even}"
    if other := symbols.misread_predicates.get(word.name):
        return f"{used} but {how_declared(str(word), other)}"
    if word.name in symbols.types.declared:
        return (
            f"type `{word}` is used as a predicate in {place.called}: types belong"
            " after `-` in lists of names; remove it or declare such a predicate under"
            " `:predicates`"
        )
    return f"{used} but not declared: add `({word} …)` to `:predicates`"


def _warn_of_types(atom: Atom, parameters: list[TypedName], place: Place) -> None:
    symbols = place.symbols
    variables = place.variables or {}
    for term, parameter in zip(atom.terms, parameters, strict=True):
        entry = variables.get(term.name) or symbols.objects.get(term.name)
        if entry is None:
            continue
        if symbols.types.fits(entry, parameter, loosely=place.in_domain):
            continue
        place.log.misuse(
            term,
            f"`{term}` has the type `{entry.kind}`, but `{atom.predicate}` in"
            f" {place.called} takes a `{parameter.kind}` there: `{atom}`",
        )
