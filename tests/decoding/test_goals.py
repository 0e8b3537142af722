"""Whether something is left to be reached is counted, and the grammar agrees with the count."""

import itertools

import pytest

from pddlego_local.core import Names
from pddlego_local.decoding.grammars.builder import Rules
from pddlego_local.decoding.staged.atoms import Pools, atoms_except
from pddlego_local.decoding.staged.declared import domain_of, problem_in, symbols
from pddlego_local.decoding.staged.goals import can_be_new, goal_terms

DOMAIN = "(define (domain d) (:types room way) (:predicates (at ?r - room) (to ?a ?b - room) {}))"
PROBLEM = '{"pf": "(define (problem p)(:domain d) (:objects Hall cellar - room up - way)(:init))"}'
ATOMS = [("at", ("hall",)), ("at", ("cellar",))] + [
    ("to", pair) for pair in itertools.product(("hall", "cellar"), repeat=2)
]


@pytest.mark.parametrize("hint", [(), ("cellar",), ("up",), ("attic",)])
@pytest.mark.parametrize("more", ["", "(done)"])
def test_the_count_agrees_with_the_grammar(hint: tuple[str, ...], more: str) -> None:
    declared = symbols(domain_of(DOMAIN.format(more))).with_objects(problem_in(PROBLEM))
    terms = goal_terms(declared, Names(("hall", "cellar", "up"), goals=hint))
    seen = set()
    atoms = [*ATOMS, ("done", ())] if more else ATOMS
    for held in itertools.chain.from_iterable(
        itertools.combinations(atoms, count) for count in (0, 2, len(atoms) - 1, len(atoms))
    ):
        true: dict[str, set[tuple[str, ...]]] = {}
        for name, arguments in held:
            true.setdefault(name, set()).add(arguments)
        pools = Pools(declared, terms.things)
        drawable = atoms_except(Rules(), declared.predicates, pools, true, terms.needed)
        assert can_be_new(terms, true) == bool(drawable)
        seen.add(bool(drawable))
    assert seen == {True, False}
