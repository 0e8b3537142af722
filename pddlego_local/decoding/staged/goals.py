"""The grammar of resampled goals: facts, at least one of which is not true yet."""

import math
from collections.abc import Sequence

from pddlego_local.decoding.grammars.builder import Rules, some
from pddlego_local.decoding.staged.atoms import Facts, atoms, pool_of
from pddlego_local.decoding.staged.bodies import literals
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.limits import MOST_OPERANDS
from pddlego_local.pddl.reader import Node


def can_be_new(declared: Declarations, true: Facts) -> bool:
    """Returns whether there is an atom that is not in `true`. It counts atoms instead
    of listing them, because there may be many.
    """
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
    """Returns the grammar of a goal to the end of the answer: atoms, at least one of
    which is not in `true`.

    If all atoms are true, one of them is negated. If there are no atoms, the goal is
    "(or)", which is never true.
    """
    new, other = _operands(rules, declared, true, ())
    if not new:
        return "_GOAL _OR _C _C _CLOSE"
    few = some(other, MOST_OPERANDS // 2)
    return f"_GOAL ({new} | _AND {few} {new} {few} _C) _C _CLOSE"


def rest_of_goal(
    rules: Rules, declared: Declarations, true: Facts, items: Sequence[Node]
) -> str:
    """Returns the grammar of the rest of such a goal. Its `and` has the operands
    `items` so far; none of them is repeated.
    """
    new, other = _operands(rules, declared, true, items)
    few = some(other, max(MOST_OPERANDS - len(items), 0) // 2)
    needed = "" if _is_new(declared, true, items) else new
    return f"{few} {needed} {few} _C _C _CLOSE"


def _operands(
    rules: Rules, declared: Declarations, true: Facts, operands: Sequence[Node]
) -> tuple[str, str]:
    """A rule for operands that make the goal not yet true, and one for any further
    operands; each is "" if there are none.
    """
    pools, predicates = pool_of(declared, declared.things), declared.predicates
    positive, denied = literals(operands)
    new = atoms(rules, predicates, pools, true | positive)
    atom = atoms(rules, predicates, pools, positive)
    denial = atoms(rules, predicates, pools, denied)
    others = []
    if atom:
        others.append(atom)
    if denial:
        others.append(f"_NOT {denial} _C")
    if not others:
        return "", ""
    # If every atom is true, a denial makes the goal false.
    change = rules.rule("_change", [new or others[-1]])
    return change, rules.rule("_other", others)


def _is_new(declared: Declarations, true: Facts, operands: Sequence[Node]) -> bool:
    """Whether one of the operands makes the goal not yet true."""
    positive, denied = literals(operands)
    return not positive <= true or (bool(denied) and not can_be_new(declared, true))
