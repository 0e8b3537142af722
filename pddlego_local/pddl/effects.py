"""Turns blocks into effects (`task.Effect`): the changes and the cost.

There is no recursion, because a model's text may be nested more deeply than our stack
allows.
"""

from dataclasses import dataclass

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.formulas import (
    is_number,
    read_atom,
    read_condition,
    read_quantified,
    refuse_alone,
)
from pddlego_local.pddl.reader import Block, Word
from pddlego_local.pddl.task import Atom, Effect, Literal, TypedName

MOST_DIGITS = 4300  # Python's own limit, on which the translator fails
NESTED_FORMS = {
    "forall": "`(forall (?variable - type …) (effect))`",
    "when": "`(when (condition) (effect))`",
}


@dataclass(slots=True)
class _Part:
    """A part of an effect, with its context. `around` are the operators around the
    part, outermost first, and `when` the conditions among them.
    """

    block: Block
    scope: tuple[TypedName, ...] = ()
    around: tuple[str, ...] = ()
    when: tuple[Block, ...] = ()


def read_effect(block: Block, log: FaultLog) -> Effect:
    """Reads the effect in `block`. An empty block has no effect."""
    effect = Effect()
    if block.head == "increase":
        log.syntax(
            block, f"`{block}` cannot be the whole effect: write `(and (fact) {block})`"
        )
    pending = [_Part(block)] if block.items else []
    while pending:
        part = pending.pop()
        if part.block.head in ("and", "forall", "when"):
            pending += reversed(_nested(part, effect, log))
        elif part.block.head == "increase":
            _read_cost(part, effect, log)
        else:
            _read_change(part, effect, log)
    return effect


def _nested(part: _Part, effect: Effect, log: FaultLog) -> list[_Part]:
    """The operands of `and`, or the effect under `when` or `forall` after reading their
    scope.
    """
    head = part.block.head
    items = part.block.items[1:]
    scope = part.scope
    when = part.when
    if head != "and":
        first = part.block.item(1)
        if not isinstance(first, Block) or len(items) != 2:
            log.syntax(
                part.block, f"`{part.block}` must have the form {NESTED_FORMS[head]}"
            )
            effect.complete = False
            return []
        items = items[1:]
        if head == "when":
            when += (first,)
            effect.conditions.append(read_condition(first, log, scope))
        else:
            variables = read_quantified(first, log)
            effect.quantified.append(variables)
            scope += tuple(variables)
    around = (*part.around, head)
    parts = []
    for item in items:
        if isinstance(item, Word):
            refuse_alone(item, "in an effect", log)
            effect.complete = False
        elif not item.items:
            log.syntax(
                item, "an empty `()` stands in an effect: remove it or write a fact"
            )
            effect.complete = False
        else:
            parts.append(_Part(item, scope=scope, around=around, when=when))
    return parts


def _read_cost(part: _Part, effect: Effect, log: FaultLog) -> None:
    block = part.block
    if len(block.items) != 3 or str(block.items[1]).lower() != "(total-cost)":
        log.numeric(block, "increase")
        return
    if "forall" in part.around or "when" in part.around:
        log.syntax(
            block, f"`{block}` cannot stand under `forall` or `when`: move it outside"
        )
    amount = block.items[2]
    if isinstance(amount, Word):
        if not refuse_number(amount, log):
            effect.cost = Atom(amount, [], part.block)
    elif not amount.items or amount.blocks:
        log.syntax(amount, f"`{amount}` must be a whole number or `(function name …)`")
    else:
        effect.cost = read_atom(amount, log)


def _read_change(part: _Part, effect: Effect, log: FaultLog) -> None:
    change = read_literal(part.block, log, part.scope)
    if change is None:
        effect.complete = False
        return
    if "when" in part.around:
        inside = part.around[part.around.index("when") :]
        if "and" in inside and "forall" in inside:  # Fast Downward fails on this
            log.syntax(
                part.block,
                "`when` around both `forall` and `and` is not understood: put the"
                " `forall` outside and one `when` inside it",
            )
    change.when = part.when
    effect.changes.append(change)


def read_literal(
    block: Block, log: FaultLog, scope: tuple[TypedName, ...] = ()
) -> Literal | None:
    """Reads a fact or `(not (fact))` of an effect or `:init`. Returns None if it is
    neither.
    """
    negated = block.head == "not"
    fact = block.last_of(2) if negated else block
    if not isinstance(fact, Block) or not fact.items:
        log.syntax(block, f"`{block}` must be `(not (fact))` with exactly one fact")
        return None
    atom = read_atom(fact, log)
    return Literal(atom, negated, scope) if atom is not None else None


def refuse_number(word: Word, log: FaultLog) -> bool:
    """Reports a negative, fractional or too long number, and returns whether it is
    one.
    """
    name = word.name
    fits = len(name) <= MOST_DIGITS if name.isdigit() else not is_number(name)
    if fits and name[0] != "-":
        return False
    log.syntax(word, f"`{word}` must be a whole number, not negative and not enormous")
    return True
