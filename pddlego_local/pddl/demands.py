"""The type that the uses of an undeclared name demand of it."""

from collections.abc import Iterator
from typing import NamedTuple

from pddlego_local.pddl.check import Examined
from pddlego_local.pddl.faults import File
from pddlego_local.pddl.reader import Word
from pddlego_local.pddl.task import Atom, Literal


class Use(NamedTuple):
    """A use of a name as a term of a fact. `types` are those of which it must have
    one, empty if its predicate is not declared with so many parameters.
    """

    file: File
    term: Word
    types: frozenset[str]


def uses_of(name: str, pair: Examined) -> list[Use]:
    """Returns all uses of a name in both files."""
    found = []
    for file, atom in _atoms(pair):
        predicates = pair.symbols.predicates or {}
        predicate = predicates.get(atom.predicate.name)
        parameters = predicate.parameters if predicate else None
        is_declared = parameters is not None and len(parameters) == len(atom.terms)
        for place, term in enumerate(atom.terms):
            if term.name == name:
                types = frozenset[str]()
                if parameters is not None and is_declared:
                    types = parameters[place].type_names
                found.append(Use(file, term, types))
    return found


def type_demanded(uses: list[Use], pair: Examined) -> str:
    """Returns the most specific type that all uses demand, as the domain spells it; ""
    if no use demands a type, if no demanded type fits all uses, or if several do.
    """
    types = pair.symbols.types
    demands = [use.types for use in uses if use.types]
    fitting = [
        own
        for own in frozenset[str]().union(*demands) & types.declared
        if all(wanted & types.with_ancestors(own) for wanted in demands)
    ]
    if len(fitting) != 1:
        return ""
    spelled = {entry.name: entry.word.text for entry in pair.domain.types}
    return spelled.get(fitting[0], fitting[0])


def _atoms(pair: Examined) -> Iterator[tuple[File, Atom]]:
    for literal in _literals_of_domain(pair):
        yield "domain", literal.atom
    goal = pair.problem.goal
    for literal in (*pair.problem.init, *(goal.literals if goal else ())):
        yield "problem", literal.atom


def _literals_of_domain(pair: Examined) -> Iterator[Literal]:
    for axiom in pair.domain.axioms:
        yield from axiom.condition.literals
    for action in pair.domain.actions:
        yield from action.precondition.literals
        yield from action.effect.changes
        for condition in action.effect.conditions:
            yield from condition.literals
