"""What a domain declares, and a problem's objects, as a grammar needs them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

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
    declared = _spelled(entry.word for entry in domain.types)
    named = _spelled(word for entry in domain.types for word in (entry.word, *entry.types))
    return Declarations(
        domain=domain,
        hierarchy=Types(domain),
        types=tuple(declared.values()),
        known_types=tuple(named.values()),
        predicates=tuple(
            (predicate.word.text, tuple(type_of(entry) for entry in predicate.parameters or ()))
            for predicate in domain.predicates or ()
        ),
        things={entry.word.text: type_of(entry) for entry in domain.constants},
    )


def type_of(entry: TypedName) -> str:
    return entry.types[0].text if entry.types else "object"


def _spelled(words: Iterable[Word]) -> dict[str, str]:
    """Each name once, "object" always, as first spelled."""
    spellings: dict[str, str] = {}
    for word in words:
        spellings.setdefault(word.name, word.text)
    return {"object": "object"} | spellings
