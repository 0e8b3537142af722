"""The declarations of a domain, the objects of a problem, and the action schemas of the
prompt, in the form in which a grammar needs them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

from pddlego_local.core.nouns import Action
from pddlego_local.decoding.grammars.builder import one_of
from pddlego_local.decoding.grammars.lark_text import in_any_case
from pddlego_local.decoding.layout import Layout, line_of, list_of, typed_names
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.symbols import Types
from pddlego_local.pddl.task import Domain, Problem, TypedName


class Signature(NamedTuple):
    """A declared predicate: its name and the types of its parameters."""

    name: str
    types: tuple[str, ...]


class Parameter(NamedTuple):
    """A parameter of an action, such as "?from - room"."""

    variable: str
    type: str


@dataclass(frozen=True)
class Declarations:
    """The names that a grammar may use, all spelled as they are declared.

    Objects may have one of `types`, and variables one of `known_types`. `things` maps
    constants and objects to their types. `hierarchy` is the type hierarchy of `domain`.
    """

    domain: Domain
    hierarchy: Types
    types: tuple[str, ...]
    known_types: tuple[str, ...]
    predicates: tuple[Signature, ...]
    things: dict[str, str]

    @property
    def domain_name(self) -> str:
        return self.domain.word.text if self.domain.word else "domain"

    def fits(self, have: str, want: str) -> bool:
        """Returns whether a name of type `have` may be an argument of type `want`."""
        return want.lower() in self.hierarchy.with_ancestors(have.lower())

    def of_type(self, want: str, things: Iterable[tuple[str, str]]) -> frozenset[str]:
        """Returns the names of `things`, pairs of name and type, that fit the type
        `want`.
        """
        return frozenset([name for name, kind in things if self.fits(kind, want)])

    def with_objects(self, problem: Problem) -> "Declarations":
        things = self.things.copy()
        for entry in problem.objects:
            things[entry.word.text] = type_of(entry)
        return replace(self, things=things)


def declarations(domain: Domain) -> Declarations:
    """Returns the declarations of a domain. It never raises: if the domain has faults,
    it returns what could be read.
    """
    types: list[Word] = []
    known_types: list[Word] = []  # with the supertypes that are only mentioned
    for entry in domain.types:
        types.append(entry.word)
        known_types += [entry.word, *entry.types]
    predicates = []
    for predicate in domain.predicates or ():
        parameters = [type_of(entry) for entry in predicate.parameters or ()]
        predicates.append(Signature(predicate.word.text, tuple(parameters)))
    return Declarations(
        domain=domain,
        hierarchy=Types(domain),
        types=_spelled(types),
        known_types=_spelled(known_types),
        predicates=tuple(predicates),
        things={entry.word.text: type_of(entry) for entry in domain.constants},
    )


def type_of(entry: TypedName) -> str:
    return entry.types[0].text if entry.types else "object"


def _spelled(words: Iterable[Word]) -> tuple[str, ...]:
    """Each name once, in its first spelling, after "object", which is always known."""
    spellings: dict[str, str] = {}
    for word in words:
        spellings.setdefault(word.name, word.text)
    top = spellings.pop("object", "object")
    return (top, *spellings.values())


@dataclass(frozen=True)
class ActionSchema:
    """An action of the prompt. `written` is the parameter list as the prompt spells it,
    with single spaces.
    """

    name: str
    parameters: tuple[Parameter, ...]
    written: str

    @classmethod
    def of(cls, action: Action) -> "ActionSchema":
        block = list_of(action.parameters)
        parameters = []
        for entry in typed_names(block):
            parameters.append(Parameter(entry.word.text, type_of(entry)))
        return cls(action.name, tuple(parameters), line_of(block))

    def header(self, layout: Layout) -> str:
        """Returns a pattern for what follows "(:action": "move :parameters (?from -
        location …)", with exactly these names. Exact layouts use the spelling of the
        prompt.
        """
        if layout != "any":
            return f'" {self.name}" _PARAMETERS " {self.written}"'
        parameters = []
        for parameter, after in zip_longest(self.parameters, self.parameters[1:]):
            kind = f'_B1 "-" _B1 {in_any_case(parameter.type)}'
            if after and after.type == parameter.type:
                kind = f"({kind})?"  # "?a ?b - room" is allowed too
            parameters.append(f"{one_of([parameter.variable])} {kind}")
        pieces = [f"_B1 {in_any_case(self.name)} _PARAMETERS _LIST"]
        if parameters:
            pieces.append(" _B1 ".join(parameters))
        return " ".join([*pieces, '_B ")"'])

    def can_change(self, declared: Declarations) -> bool:
        """Returns whether the action's variables and the constants can be the arguments
        of some predicate.
        """
        terms = [*self.parameters, *declared.things.items()]
        for predicate in declared.predicates:
            if all(declared.of_type(kind, terms) for kind in predicate.types):
                return True
        return False
