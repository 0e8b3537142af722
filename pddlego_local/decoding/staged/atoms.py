"""Atoms as a grammar writes them: a whole atom is one terminal, each argument in it one of the
names that fit its type. So the decoder's lexer looks a word up letter by letter, where its parser
would try every word that there is.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.grammars.terminals import one_of
from pddlego_local.decoding.staged.declarations import Declarations

Arguments = tuple[str, ...]
Facts = Mapping[str, Collection[Arguments]]
"""The arguments of facts by predicate, all in lower case."""


def by_predicate(facts: Iterable[tuple[str, ...]]) -> Facts:
    """Facts as ("at", "kitchen"), in lower case, grouped."""
    grouped: dict[str, set[Arguments]] = {}
    for predicate, *arguments in facts:
        grouped.setdefault(predicate, set()).add(tuple(arguments))
    return grouped


@dataclass(frozen=True)
class Spelling:
    """The terminals of an atom's brackets, and of the blanks in it."""

    opening: str = "_O"
    blank: str = "_B1"
    closing: str = "_C"


_IN_LISTS = Spelling()
OF_FACTS = Spelling(opening="_ENTRY_O")
IN_A_STRING = Spelling('"("', '" "', '")"')


class Pools:
    """From a type to the names that may stand where it is wanted; each is looked up once."""

    def __init__(self, declared: Declarations, terms: Mapping[str, str]) -> None:
        """`terms` are name → type: variables, constants, objects."""
        self._declared, self._terms = declared, terms
        self._by_type: dict[str, frozenset[str]] = {}

    def __call__(self, kind: str) -> frozenset[str]:
        if kind not in self._by_type:
            self._by_type[kind] = self._declared.of_type(kind, self._terms.items())
        return self._by_type[kind]


def atoms(
    rules: Rules,
    predicates: Sequence[tuple[str, Arguments]],
    pool: Pools,
    spelling: Spelling = _IN_LISTS,
) -> str:
    """The terminal for an atom of any predicate that has a name for each argument; "" for none."""
    alternatives = [
        f" {spelling.blank} ".join([one_of([predicate]), *(rules.names(pool(k)) for k in types)])
        for predicate, types in predicates
        if all(pool(kind) for kind in types)
    ]
    return _terminal(rules, alternatives, spelling)


def atoms_except(
    rules: Rules,
    predicates: Sequence[tuple[str, Arguments]],
    pool: Pools,
    excluded: Facts,
    needed: Collection[str] = (),
    spelling: Spelling = _IN_LISTS,
) -> str:
    """As `atoms`, without the `excluded` ones, which are by predicate and in lower case; with
    `needed`, only atoms that hold one of these names.

    Each predicate's arguments are read left to right. What counts is which excluded atoms still
    agree and whether a needed name was seen: names that leave the same of both stand together.
    """
    alternatives = []
    for predicate, types in predicates:
        out = frozenset(excluded.get(predicate.lower(), ()))
        if not types:
            alternatives += [one_of([predicate])] if not out and not needed else []
            continue
        arguments = _Arguments(rules, types, pool, frozenset(needed), spelling.blank)
        if rest := arguments.after(0, out, not needed):
            alternatives.append(f"{one_of([predicate])} {spelling.blank} {rest}")
    return _terminal(rules, alternatives, spelling)


def _terminal(rules: Rules, alternatives: Sequence[str], spelling: Spelling) -> str:
    if not alternatives:
        return ""
    return rules.terminal(f"{spelling.opening} ({' | '.join(alternatives)}) {spelling.closing}")


class _Arguments:
    """The text for the arguments of one predicate, from a position on."""

    def __init__(
        self, rules: Rules, types: Arguments, pool: Pools, needed: frozenset[str], blank: str
    ) -> None:
        self.rules, self.types, self.pool, self.needed = rules, types, pool, needed
        self.blank = blank
        self.made: dict[tuple[int, frozenset[Arguments], bool], str] = {}

    def after(self, position: int, out: frozenset[Arguments], seen: bool) -> str:
        """A terminal for the arguments from `position` on, "" if there are none.

        `out` are the rests of the excluded atoms that agree so far, `seen` whether a needed name
        stood before.
        """
        key = (position, out, seen)
        if key not in self.made:
            alternatives = self._alternatives(*key)
            self.made[key] = self.rules.terminal(" | ".join(alternatives)) if alternatives else ""
        return self.made[key]

    def _alternatives(self, position: int, out: frozenset[Arguments], seen: bool) -> list[str]:
        by_rest: dict[tuple[frozenset[Arguments], bool], list[str]] = {}
        for name in sorted(self.pool(self.types[position])):
            rests = frozenset(rest[1:] for rest in out if rest[0] == name.lower())
            by_rest.setdefault((rests, seen or name in self.needed), []).append(name)
        if position + 1 == len(self.types):
            last = by_rest.get((frozenset(), True))
            return [one_of(last)] if last else []
        return [
            f"{one_of(names)} {self.blank} {following}"
            for (rests, met), names in by_rest.items()
            if (following := self.after(position + 1, rests, met))
        ]
