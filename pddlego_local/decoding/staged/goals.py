"""Goals of facts, at least one of which is not true yet: for what is resampled, and for the
frontier, where each fact names an unvisited place and no other place."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.core import Grammar
from pddlego_local.decoding.grammars.builder import MOST_OPERANDS, Rules, some
from pddlego_local.decoding.staged.atoms import Arguments, Pools, atoms, atoms_except
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.pddl.task import Literal

Facts = Mapping[str, Collection[Arguments]]
"""The initial facts, by predicate, in lower case."""


@dataclass(frozen=True)
class GoalTerms:
    """What a goal is made of. Where there are `needed` places, each of its atoms names one of them
    and no other place."""

    declared: Declarations
    needed: tuple[str, ...] = ()

    @property
    def things(self) -> Mapping[str, str]:
        """Name → type of all that may be named."""
        kinds_of_place = {self.declared.things[name] for name in self.needed}
        return {
            name: kind
            for name, kind in self.declared.things.items()
            if name in self.needed or kind not in kinds_of_place
        }


def frontier(declared: Declarations, unvisited: Collection[str]) -> GoalTerms:
    """Goals about unvisited places, if any is declared and a fact about it can be written; else
    about all that is declared."""
    lower = {name.lower() for name in unvisited}
    terms = GoalTerms(declared, tuple(n for n in declared.things if n.lower() in lower))
    return terms if can_be_new(terms, {}) else GoalTerms(declared)


def by_predicate(facts: Sequence[Literal]) -> Facts:
    grouped: dict[str, set[Arguments]] = {}
    for fact in facts:
        name, *arguments = fact.atom.key
        grouped.setdefault(name, set()).add(tuple(arguments))
    return grouped


def can_be_new(terms: GoalTerms, true: Facts) -> bool:
    """Whether there is an atom that is not true: counted, for they may be many."""
    pools = Pools(terms.declared, terms.things)
    needed = {name.lower() for name in terms.needed}
    for predicate, types in terms.declared.predicates:
        choices = [{name.lower() for name in pools(kind)} for kind in types]
        unneeded = math.prod(len(names - needed) for names in choices) if needed else 0
        already = sum(
            all(name in names for name, names in zip(fact, choices, strict=True))
            and (not needed or not needed.isdisjoint(fact))
            for fact in true.get(predicate.lower(), ())
        )
        if math.prod(map(len, choices)) - unneeded > already:
            return True
    return False


def goal(terms: GoalTerms, true: Facts) -> Grammar:
    """To the end of the answer: atoms, at least one of which is not among the `true` ones.

    If all atoms are true, one of them is negated; if there is none, the goal is "(or)", which is
    never true.
    """
    rules = Rules()
    pools = Pools(terms.declared, terms.things)
    new = atoms_except(rules, terms.declared.predicates, pools, true, terms.needed)
    if terms.needed:
        listed = f"_AND {some(new, MOST_OPERANDS, 1)} _C"
        return rules.grammar("goal", f"_GOAL ({new} | {listed}) _C _CLOSE")
    atom = atoms(rules, terms.declared.predicates, pools)
    if not atom:
        return rules.grammar("goal", "_GOAL _OR _C _C _CLOSE")
    denied = f"_NOT {atom} _C"
    others = some(rules.rule("_other", [atom, denied]), MOST_OPERANDS)
    change = rules.rule("_change", [new or denied])
    listed = f"_AND {others} {change} {others} _C"
    return rules.grammar("goal", f"_GOAL ({change} | {listed}) _C _CLOSE")


def fitting_types(declared: Declarations) -> tuple[str, ...]:
    """One more thing of such a type brings the predicate that lacks the fewest nearer an atom."""
    by_lack: dict[int, set[str]] = {}
    for _, types in declared.predicates:
        missing = [kind for kind in types if not declared.of_type(kind, declared.things.items())]
        open_ = missing[:1] if missing else types
        fitting = {own for own in declared.types for kind in open_ if declared.fits(own, kind)}
        if fitting:
            by_lack.setdefault(len(set(missing)), set()).update(fitting)
    return tuple(sorted(by_lack[min(by_lack)])) if by_lack else ()
