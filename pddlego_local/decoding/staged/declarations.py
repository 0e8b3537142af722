"""What a domain declares, a problem's objects, and the action schemas that the prompt gives, as a
grammar needs them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pddlego_local.core.nouns import Action
from pddlego_local.decoding.grammars.terminals import in_any_case, one_of
from pddlego_local.decoding.layout import Layout, line_of, list_of, typed_names
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.symbols import Types
from pddlego_local.pddl.task import Domain, Problem, TypedName


@dataclass(frozen=True)
class Declarations:
    """The names that a grammar may use, all spelled as they are declared.

    Objects may have one of `types`, variables one of `known_types`. `predicates` is (name, types of
    the parameters); `things` is name → type of constants and objects. `hierarchy` is of `domain`.
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
        return want.lower() in self.hierarchy.with_ancestors(have.lower())

    def of_type(self, want: str, things: Iterable[tuple[str, str]]) -> frozenset[str]:
        return frozenset(name for name, kind in things if self.fits(kind, want))

    def with_objects(self, problem: Problem) -> "Declarations":
        objects = {entry.word.text: type_of(entry) for entry in problem.objects}
        return replace(self, things=self.things | objects)


def declarations(domain: Domain) -> Declarations:
    """Raises nothing: of a domain with faults what could be read."""
    return Declarations(
        domain=domain,
        hierarchy=Types(domain),
        types=_spelled(entry.word for entry in domain.types),
        known_types=_spelled(word for entry in domain.types for word in (entry.word, *entry.types)),
        predicates=tuple(
            (predicate.word.text, tuple(type_of(entry) for entry in predicate.parameters or ()))
            for predicate in domain.predicates or ()
        ),
        things={entry.word.text: type_of(entry) for entry in domain.constants},
    )


def type_of(entry: TypedName) -> str:
    return entry.types[0].text if entry.types else "object"


def _spelled(words: Iterable[Word]) -> tuple[str, ...]:
    """Each name once, "object" always, as first spelled."""
    spellings: dict[str, str] = {}
    for word in words:
        spellings.setdefault(word.name, word.text)
    return tuple(({"object": "object"} | spellings).values())


@dataclass(frozen=True)
class ActionSchema:
    """An action's name and its parameters as (variable, type); `written` is the prompt's spelling
    of them, with single blanks."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    written: str

    @classmethod
    def of(cls, action: Action) -> "ActionSchema":
        block = list_of(action.parameters)
        typed = tuple((entry.word.text, type_of(entry)) for entry in typed_names(block))
        return cls(action.name, typed, line_of(block))

    def header(self, layout: Layout) -> str:
        """A terminal for what follows "(:action": "move :parameters (?from - location …)", exactly
        these names; where the layout leaves no choice, as the prompt spells it."""
        if layout != "any":
            return f'" {self.name}" _PARAMETERS " {self.written}"'
        pieces = [f"_B1 {in_any_case(self.name)} _PARAMETERS _LIST"]
        for number, (variable, kind) in enumerate(self.parameters):
            following = self.parameters[number + 1 : number + 2]
            dash = f'_B1 "-" _B1 {in_any_case(kind)}'
            same = bool(following) and following[0][1] == kind  # "?a ?b - room" says the same
            pieces.append("_B1" if number else "")
            pieces.append(f"{one_of([variable])} {f'({dash})?' if same else dash}")
        return " ".join([*pieces, '_B ")"'])

    def can_change(self, declared: Declarations) -> bool:
        """Whether some predicate can take the action's variables and the constants."""
        terms = [*self.parameters, *declared.things.items()]
        return any(
            all(declared.of_type(kind, terms) for kind in kinds) for _, kinds in declared.predicates
        )
