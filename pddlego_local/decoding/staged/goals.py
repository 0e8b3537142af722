"""The goal of the rung "grounded": it holds an atom that `:init` does not, and where the
environment's hint says which places the goal must lead to, that atom names one of them and no other
place.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pddlego_local.core import Grammar, Names
from pddlego_local.decoding.grammars.builder import MOST_OPERANDS, Rules, some
from pddlego_local.decoding.staged.atoms import Arguments, Pools, atoms, atoms_except
from pddlego_local.decoding.staged.declared import Symbols
from pddlego_local.pddl.task import Condition

Facts = Mapping[str, Collection[Arguments]]
"""The initial facts, by predicate, in lower case."""


@dataclass(frozen=True)
class GoalTerms:
    """What a goal is made of: `things` are name → type. Where there are `needed` ones, each of the
    goal's atoms names one of them."""

    declared: Symbols
    things: Mapping[str, str]
    needed: tuple[str, ...]


def goal_terms(declared: Symbols, names: Names) -> GoalTerms:
    """Those that the hint asks for, as far as they are declared; else all that is."""
    wanted = {name.lower() for name in names.goals}
    needed = tuple(name for name in declared.things if name.lower() in wanted)
    kinds_of_place = {declared.things[name] for name in needed}
    things = {
        name: kind
        for name, kind in declared.things.items()
        if name in needed or kind not in kinds_of_place
    }
    hinted = GoalTerms(declared, things, needed)
    return hinted if needed and can_be_new(hinted, {}) else GoalTerms(declared, declared.things, ())


def can_be_new(terms: GoalTerms, true: Facts) -> bool:
    """Whether there is an atom that does not hold: counted, for they may be many."""
    pools = Pools(terms.declared, terms.things)
    needed = {name.lower() for name in terms.needed}
    for predicate, types in terms.declared.predicates:
        choices = [{name.lower() for name in pools(kind)} for kind in types]
        unneeded = math.prod(len(names - needed) for names in choices) if needed else 0
        held = sum(
            all(name in names for name, names in zip(fact, choices, strict=True))
            and (not needed or not needed.isdisjoint(fact))
            for fact in true.get(predicate.lower(), ())
        )
        if math.prod(map(len, choices)) - unneeded > held:
            return True
    return False


def holds(goal: Condition | None, true: Facts) -> bool:
    """Whether all the atoms that a goal asks for are initial facts."""
    asked = [literal.atom.key for literal in (goal.literals if goal else ()) if not literal.negated]
    return all(tuple(arguments) in true.get(name, ()) for name, *arguments in asked)


def goal(terms: GoalTerms, true: Facts) -> Grammar:
    """To the end of the answer, with an atom that is not `true`. Where there is none at all, the
    goal that asks nothing."""
    rules = Rules()
    pools = Pools(terms.declared, terms.things)
    new = atoms_except(rules, terms.declared.predicates, pools, true, terms.needed)
    if not new:
        return rules.grammar("goal", "_GOAL _AND _C _C _CLOSE")
    if terms.needed:
        listed = f"_AND {some(new, MOST_OPERANDS, 1)} _C"
    else:
        fact = atoms(rules, terms.declared.predicates, pools)
        others = some(rules.rule("_other", [fact, f"_NOT {fact} _C"]), MOST_OPERANDS)
        listed = f"_AND {others} {new} {others} _C"
    return rules.grammar("goal", f"_GOAL ({new} | {listed}) _C _CLOSE")


def lacking(declared: Symbols, names: Names) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What to add where no new goal is possible: (names to choose from, types to choose from).

    One more thing of such a type brings the predicate that lacks the fewest nearer to an atom.
    """
    wanted = {name.lower() for name in names.goals}
    present = {name.lower() for name in declared.things}
    by_lack: dict[int, set[str]] = {}
    for _, types in declared.predicates:
        missing = [kind for kind in types if not declared.of_type(kind, declared.things.items())]
        open_ = missing[:1] if missing else types
        fitting = {own for own in declared.types for kind in open_ if declared.fits(own, kind)}
        if fitting:
            by_lack.setdefault(len(set(missing)), set()).update(fitting)
    types = tuple(sorted(by_lack[min(by_lack)])) if by_lack else ()
    unused = [name for name in names.objects if name.lower() not in present]
    hinted = [name for name in unused if name.lower() in wanted]
    return tuple(hinted or unused), types
