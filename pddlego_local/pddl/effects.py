"""Effects: facts added and deleted under `and`, `forall` and `when`, and the cost."""

from dataclasses import dataclass, replace

from pddlego_local.pddl.conditions import read_condition, read_literal, read_quantified
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.reader import Block, Node, Word
from pddlego_local.pddl.task import Cost, Effect, TypedName

MOST_DIGITS = 4300  # Python's own limit, on which the translator fails
FORMS = {
    "forall": "`(forall (?variable - type …) (effect))`",
    "when": "`(when (condition) (effect))`",
}


@dataclass(slots=True)
class _Part:
    """A part of an effect and what stands around it. The three marks count from the outermost
    `when`: Fast Downward fails on a `forall` together with an `and` inside it."""

    block: Block
    scope: tuple[TypedName, ...] = ()
    in_forall: bool = False
    in_when: bool = False
    and_in_when: bool = False
    forall_in_when: bool = False


def read_effect(block: Block, log: FaultLog) -> Effect:
    """The effect in `block`; an empty block has none."""
    effect = Effect()
    if block.head == "increase":
        log.syntax(block, f"`{block}` cannot be the whole effect: write `(and (fact) {block})`")
    pending = [_Part(block)] if block.items else []
    while pending:
        part = pending.pop()
        head = part.block.head
        if head == "and":
            around = replace(part, and_in_when=part.in_when)
            nested = _nested(around, part.block.items[1:], effect, log)
            pending += reversed(nested)
        elif head in ("forall", "when"):
            pending += _under(part, effect, log)
        elif head == "increase":
            _read_cost(part, effect, log)
        else:
            _read_change(part, effect, log)
    return effect


def _nested(around: _Part, items: list[Node], effect: Effect, log: FaultLog) -> list[_Part]:
    parts = []
    for item in items:
        if isinstance(item, Block) and item.items:
            parts.append(replace(around, block=item))
            continue
        effect.complete = False
        if isinstance(item, Word):
            log.syntax(item, f"`{item}` stands alone in an effect: write `({item} …)`")
        else:
            log.syntax(item, "an empty `()` stands in an effect: remove it or write a fact")
    return parts


def _under(part: _Part, effect: Effect, log: FaultLog) -> list[_Part]:
    """What stands under `forall` or `when`."""
    head = part.block.head
    first = part.block.items[1] if len(part.block.items) > 1 else None
    if len(part.block.items) != 3 or not isinstance(first, Block):
        log.syntax(part.block, f"`{part.block}` must have the form {FORMS[head]}")
        effect.complete = False
        return []
    if head == "when":
        effect.conditional = True
        effect.conditions.append(read_condition(first, log, part.scope))
        around = replace(part, in_when=True)
    else:
        variables = read_quantified(first, log)
        effect.complete &= variables is not None
        effect.quantified.append(variables or [])
        scope = part.scope + tuple(variables or ())
        around = replace(part, scope=scope, in_forall=True, forall_in_when=part.in_when)
    return _nested(around, part.block.items[2:], effect, log)


def _read_cost(part: _Part, effect: Effect, log: FaultLog) -> None:
    block = part.block
    target = block.items[1] if len(block.items) == 3 else None
    if not (isinstance(target, Block) and len(target.items) == 1 and target.head == "total-cost"):
        log.syntax(block, f"`{block}`: only `(increase (total-cost) amount)` is understood")
        return
    if part.in_forall or part.in_when:
        log.syntax(block, f"`{block}` cannot stand under `forall` or `when`: move it outside")
    amount = block.items[2]
    if isinstance(amount, Word):
        if refuse_number(amount, log) or amount.name.isdigit():
            return
        effect.costs.append(Cost(amount, 0))
    elif amount.items and all(isinstance(item, Word) for item in amount.items):
        function = amount.items[0]
        assert isinstance(function, Word)
        effect.costs.append(Cost(function, len(amount.items) - 1))
    else:
        log.syntax(amount, f"`{amount}` must be a whole number or `(function name …)`")


def refuse_number(word: Word, log: FaultLog) -> bool:
    """Whether `word` is a number that Fast Downward refuses: negative, fractional, too long."""
    fraction = not word.name.isdigit() and word.name.replace(".", "").isdigit()
    too_long = word.name.isdigit() and len(word.name) > MOST_DIGITS
    if fraction or too_long or word.name[0] == "-":
        log.syntax(word, f"`{word}` must be a whole number, not negative and not enormous")
        return True
    return False


def _read_change(part: _Part, effect: Effect, log: FaultLog) -> None:
    change = read_literal(part.block, log, part.scope)
    if change is None:
        effect.complete = False
        return
    if part.and_in_when and part.forall_in_when:
        log.syntax(
            part.block,
            "`when` around both `forall` and `and` is not understood: "
            "put the `forall` outside and one `when` inside it",
        )
    effect.changes.append(change)
