"""Goals of facts, at least one of which is not true yet: for what is resampled."""

import math
from collections.abc import Sequence

from pddlego_local.decoding.grammars.builder import Rules, some
from pddlego_local.decoding.staged.atoms import Facts, atoms_except, pool_of
from pddlego_local.decoding.staged.bodies import literals
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.limits import MOST_OPERANDS
from pddlego_local.pddl.reader import Node


def can_be_new(declared: Declarations, true: Facts) -> bool:
    """Whether there is an atom that is not true: counted, for they may be many."""
    pools = pool_of(declared, declared.things)
    for predicate, types in declared.predicates:
        choices = [{name.lower() for name in pools(kind)} for kind in types]
        already = sum(
            all(name in names for name, names in zip(fact, choices, strict=True))
            for name, *fact in true
            if name == predicate.lower()
        )
        if math.prod(map(len, choices)) > already:
            return True
    return False


def goal(rules: Rules, declared: Declarations, true: Facts) -> str:
    """To the end of the answer: atoms, at least one of which is not among the `true` ones.

    If all atoms are true, one of them is negated; if there is none, the goal is "(or)", which is
    never true.
    """
    new, other = _operands(rules, declared, true, ())
    if not new:
        return "_GOAL _OR _C _C _CLOSE"
    few = some(other, MOST_OPERANDS // 2)
    return f"_GOAL ({new} | _AND {few} {new} {few} _C) _C _CLOSE"


def rest_of_goal(rules: Rules, declared: Declarations, true: Facts, said: Sequence[Node]) -> str:
    """Of such a goal, whose `and` has the operands `said`: none of them again."""
    new, other = _operands(rules, declared, true, said)
    few = some(other, max(MOST_OPERANDS - len(said), 0) // 2)
    needed = "" if _is_new(declared, true, said) else new
    return f"{few} {needed} {few} _C _C _CLOSE"


def _operands(
    rules: Rules, declared: Declarations, true: Facts, said: Sequence[Node]
) -> tuple[str, str]:
    """What makes a goal new, and what may stand beside it; "" where there is nothing."""
    pools, predicates = pool_of(declared, declared.things), declared.predicates
    positive, denied = literals(said)
    new = atoms_except(rules, predicates, pools, true | positive)
    atom = atoms_except(rules, predicates, pools, positive)
    denial = atoms_except(rules, predicates, pools, denied)
    others = [atom] if atom else []
    others += [f"_NOT {denial} _C"] if denial else []
    change = rules.rule("_change", [new or others[-1]]) if others else ""
    return change, rules.rule("_other", others)


def _is_new(declared: Declarations, true: Facts, said: Sequence[Node]) -> bool:
    """Whether the operands hold one that makes the goal new."""
    positive, denied = literals(said)
    return not positive <= true or (bool(denied) and not can_be_new(declared, true))


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
