"""The declarations of a domain, the objects of a problem, and the action schemas of the
prompt, in the form in which a grammar needs them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pddlego_local.core.nouns import Action
from pddlego_local.decoding.grammars.terminals import in_any_case, one_of
from pddlego_local.decoding.layout import Layout, line_of, list_of, typed_names
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.symbols import Types
from pddlego_local.pddl.task import Domain, Predicate, Problem, TypedName


@dataclass(frozen=True)
class Declarations:
    """The names that a grammar may use, all spelled as they are declared.

    Objects may have one of `types`, and variables one of `known_types`. `predicates`
    has the name and the parameter types of each predicate. `things` maps constants and
    objects to their types. `hierarchy` is the type hierarchy of `domain`.
    """

    domain: Domain
    hierarchy: Types
    types: tuple[str, ...]
    known_types: tuple[str, ...]
    predicates: tuple[tuple[str, tuple[str, ...]], ...]
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
        return frozenset(name for name, kind in things if self.fits(kind, want))

    def with_objects(self, problem: Problem) -> "Declarations":
        objects = {entry.word.text: type_of(entry) for entry in problem.objects}
        return replace(self, things=self.things | objects)


def declarations(domain: Domain) -> Declarations:
    """Returns the declarations of a domain. It never raises: if the domain has faults,
    it returns what could be read.
    """
    return Declarations(
        domain=domain,
        hierarchy=Types(domain),
        types=_spelled(entry.word for entry in domain.types),
        known_types=_spelled(
            word for entry in domain.types for word in (entry.word, *entry.types)
        ),
        predicates=tuple(map(_signature, domain.predicates or ())),
        things={entry.word.text: type_of(entry) for entry in domain.constants},
    )


def _signature(predicate: Predicate) -> tuple[str, tuple[str, ...]]:
    kinds = tuple(type_of(entry) for entry in predicate.parameters or ())
    return predicate.word.text, kinds


def type_of(entry: TypedName) -> str:
    return entry.types[0].text if entry.types else "object"


def _spelled(words: Iterable[Word]) -> tuple[str, ...]:
    """Each name once, in its first spelling; "object" is always included."""
    spellings: dict[str, str] = {}
    for word in words:
        spellings.setdefault(word.name, word.text)
    return tuple(({"object": "object"} | spellings).values())


@dataclass(frozen=True)
class ActionSchema:
    """The name of an action, and its parameters as (variable, type). `written` is the
    parameter list as the prompt spells it, with single spaces.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    written: str

    @classmethod
    def of(cls, action: Action) -> "ActionSchema":
        block = list_of(action.parameters)
        typed = tuple((entry.word.text, type_of(entry)) for entry in typed_names(block))
        return cls(action.name, typed, line_of(block))

    def header(self, layout: Layout) -> str:
        """Returns a pattern for what follows "(:action": "move :parameters (?from -
        location …)", with exactly these names. Exact layouts use the spelling of the
        prompt.
        """
        if layout != "any":
            return f'" {self.name}" _PARAMETERS " {self.written}"'
        pieces = [f"_B1 {in_any_case(self.name)} _PARAMETERS _LIST"]
        kinds = [kind for _, kind in self.parameters]
        for number, (variable, kind) in enumerate(self.parameters):
            if number > 0:
                pieces.append("_B1")
            dash = f'_B1 "-" _B1 {in_any_case(kind)}'
            if kind in kinds[number + 1 : number + 2]:  # "?a ?b - room" is allowed too
                dash = f"({dash})?"
            pieces += [one_of([variable]), dash]
        return " ".join([*pieces, '_B ")"'])

    def can_change(self, declared: Declarations) -> bool:
        """Returns whether the action's variables and the constants can be the arguments
        of some predicate.
        """
        terms = [*self.parameters, *declared.things.items()]
        return any(
            all(declared.of_type(kind, terms) for kind in kinds)
            for _, kinds in declared.predicates
        )
