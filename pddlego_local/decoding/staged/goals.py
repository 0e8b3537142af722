"""The grammar of resampled goals: facts, at least one of which is not true yet."""

import math
from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from pddlego_local.decoding.grammars.builder import Rules, some
from pddlego_local.decoding.staged.declarations import Declarations
from pddlego_local.decoding.staged.formulas import Facts, atoms, pool_of
from pddlego_local.decoding.staged.limits import MOST_OPERANDS
from pddlego_local.pddl.reader import Block, Node, Word


def can_be_new(declared: Declarations, true: Facts) -> bool:
    """Returns whether there is an atom that is not in `true`. It counts atoms instead
    of listing them, because there may be many.
    """
    pool = pool_of(declared, declared.things)
    for predicate in declared.predicates:
        choices = []
        for kind in predicate.types:
            choices.append({name.lower() for name in pool(kind)})
        possible = math.prod(len(names) for names in choices)
        already = 0
        for name, *arguments in true:
            if name == predicate.name.lower() and _chosen(arguments, choices):
                already += 1
        if possible > already:
            return True
    return False


def _chosen(arguments: Iterable[str], choices: Iterable[Set[str]]) -> bool:
    """Whether each argument is among the choices at its place."""
    return all(name in names for name, names in zip(arguments, choices, strict=True))


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
    pool = pool_of(declared, declared.things)
    so_far = _literals(operands)
    new = atoms(rules, declared.predicates, pool, true | so_far.true)
    atom = atoms(rules, declared.predicates, pool, so_far.true)
    denial = atoms(rules, declared.predicates, pool, so_far.denied)
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
    so_far = _literals(operands)
    if so_far.denied and not can_be_new(declared, true):
        return True
    return not so_far.true <= true


class _Literals(NamedTuple):
    """Facts that are stated, and facts that are denied."""

    true: Facts
    denied: Facts


def _literals(items: Iterable[Node]) -> _Literals:
    """Returns the literals among the operands of an `and` or `or`."""
    true: set[tuple[str, ...]] = set()
    denied: set[tuple[str, ...]] = set()
    for item in items:
        if not isinstance(item, Block):
            continue
        if item.head == "not" and len(item.items) == 2:
            facts = denied
            atom = item.items[1]
        else:
            facts = true
            atom = item
        if not isinstance(atom, Block):
            continue
        words = [word.name for word in atom.items if isinstance(word, Word)]
        if len(words) == len(atom.items):
            facts.add(tuple(words))
    return _Literals(true, denied)
