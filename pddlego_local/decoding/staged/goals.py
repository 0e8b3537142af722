"""Goals of facts, at least one of which is not true yet: for what is resampled, and for the
frontier, where each fact names an unvisited place and no other place."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.decoding.grammars.builder import Rules, some
from pddlego_local.decoding.staged.atoms import Facts, atoms_except, pool_of
from pddlego_local.decoding.staged.bodies import literals
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.limits import MOST_OPERANDS
from pddlego_local.pddl.reader import Node


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
    return terms if can_be_new(terms, set()) else GoalTerms(declared)


def can_be_new(terms: GoalTerms, true: Facts) -> bool:
    """Whether there is an atom that is not true: counted, for they may be many."""
    pools = pool_of(terms.declared, terms.things)
    needed = {name.lower() for name in terms.needed}
    for predicate, types in terms.declared.predicates:
        choices = [{name.lower() for name in pools(kind)} for kind in types]
        unneeded = math.prod(len(names - needed) for names in choices) if needed else 0
        already = sum(
            all(name in names for name, names in zip(fact, choices, strict=True))
            and (not needed or not needed.isdisjoint(fact))
            for name, *fact in true
            if name == predicate.lower()
        )
        if math.prod(map(len, choices)) - unneeded > already:
            return True
    return False


def goal(rules: Rules, terms: GoalTerms, true: Facts) -> str:
    """To the end of the answer: atoms, at least one of which is not among the `true` ones.

    If all atoms are true, one of them is negated; if there is none, the goal is "(or)", which is
    never true.
    """
    new, other = _operands(rules, terms, true, ())
    if not new:
        return "_GOAL _OR _C _C _CLOSE"
    few = some(other, MOST_OPERANDS // 2)
    return f"_GOAL ({new} | _AND {few} {new} {few} _C) _C _CLOSE"


def rest_of_goal(rules: Rules, terms: GoalTerms, true: Facts, said: Sequence[Node]) -> str:
    """Of such a goal, whose `and` has the operands `said`: none of them again."""
    new, other = _operands(rules, terms, true, said)
    few = some(other, max(MOST_OPERANDS - len(said), 0) // 2)
    needed = "" if _is_new(terms, true, said) else new
    return f"{few} {needed} {few} _C _C _CLOSE"


def _operands(rules: Rules, terms: GoalTerms, true: Facts, said: Sequence[Node]) -> tuple[str, str]:
    """What makes a goal new, and what may stand beside it; "" where there is nothing."""
    pools = pool_of(terms.declared, terms.things)
    predicates = terms.declared.predicates
    positive, denied = literals(said)
    new = atoms_except(rules, predicates, pools, true | positive, terms.needed)
    if terms.needed:
        return new, new
    atom = atoms_except(rules, predicates, pools, positive)
    denial = atoms_except(rules, predicates, pools, denied)
    others = [atom] if atom else []
    others += [f"_NOT {denial} _C"] if denial else []
    change = rules.rule("_change", [new or others[-1]]) if others else ""
    return change, rules.rule("_other", others)


def _is_new(terms: GoalTerms, true: Facts, said: Sequence[Node]) -> bool:
    """Whether the operands hold one that makes the goal new."""
    positive, denied = literals(said)
    return not positive <= true or (bool(denied) and not can_be_new(terms, true))


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
