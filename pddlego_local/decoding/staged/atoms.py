"""The grammar of atoms: a whole atom is one terminal, with names of the right type as
arguments.

The decoder's lexer matches a terminal letter by letter. With a rule, its parser would
try every word of the vocabulary.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Set
from typing import NamedTuple

from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.grammars.terminals import one_of
from pddlego_local.decoding.staged.declarations import Declarations, Signature

Arguments = tuple[str, ...]
Facts = Set[tuple[str, ...]]
"""Facts such as ("at", "kitchen"), in lower case."""


class Spelling(NamedTuple):
    """The terminals of an atom's brackets, and of the spaces in it."""

    opening: str = "_O"
    blank: str = "_B1"
    closing: str = "_C"


_IN_LISTS = Spelling()
OF_FACTS = Spelling(opening="_ENTRY_O")
IN_A_STRING = Spelling('"("', '" "', '")"')

Pool = Callable[[str], frozenset[str]]
"""A function from a type to the names that may be arguments of this type."""


def pool_of(declared: Declarations, terms: Mapping[str, str]) -> Pool:
    """Returns the pool of `terms` (name → type), which are variables, constants and
    objects. Each type is looked up once.
    """
    return functools.cache(lambda kind: declared.of_type(kind, terms.items()))


def atoms(
    rules: Rules,
    predicates: Iterable[Signature],
    pool: Pool,
    excluded: Facts = frozenset(),
    spelling: Spelling = _IN_LISTS,
) -> str:
    """Returns a terminal for an atom of any predicate that has a name for each
    argument, without the `excluded` atoms; "" if there is no such atom.

    The arguments of a predicate are read from left to right. Names after which the same
    excluded atoms are still possible share one alternative.
    """

    @functools.cache
    def arguments(types: Arguments, out: frozenset[Arguments]) -> str:
        """Returns a terminal for arguments of these types; "" if there are none. `out`
        has the remaining arguments of the excluded atoms that are still possible.
        """
        names_before: dict[frozenset[Arguments], list[str]] = {}
        for name in sorted(pool(types[0])):
            rests = _rests(out, name)
            names_before.setdefault(rests, []).append(name)
        if len(types) == 1:
            allowed = names_before.get(frozenset())
            return rules.names(allowed) if allowed else ""
        choices = []
        for rests, names in names_before.items():
            following = arguments(types[1:], rests)
            if following:
                choices.append(f"{one_of(names)} {spelling.blank} {following}")
        return rules.terminal(" | ".join(choices)) if choices else ""

    alternatives = []
    for predicate in predicates:
        out = _rests(excluded, predicate.name)
        name = one_of([predicate.name])
        if predicate.types:
            following = arguments(predicate.types, out)
            if following:
                alternatives.append(f"{name} {spelling.blank} {following}")
        elif not out:
            alternatives.append(name)
    if not alternatives:
        return ""
    atom = " | ".join(alternatives)
    return rules.terminal(f"{spelling.opening} ({atom}) {spelling.closing}")


def _rests(facts: Facts, word: str) -> frozenset[Arguments]:
    """What follows the word in those of the facts that begin with it."""
    return frozenset([fact[1:] for fact in facts if fact[0] == word.lower()])
