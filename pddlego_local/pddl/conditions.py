"""Preconditions, goals and the conditions of axioms and effects.

A condition becomes the flat list of its literals, each with the variables in its scope: what the
checks ask of it. No recursion: the depth of a model's text is not bounded by our stack.
"""

from dataclasses import dataclass

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.reader import Block, Node, Word
from pddlego_local.pddl.task import Atom, Condition, Literal, TypedName
from pddlego_local.pddl.typed_list import read_typed_list

DEEPEST_CONDITION = 495  # nested operators; Fast Downward's recursion fails from here on
OPERATORS = frozenset({"and", "or", "not", "imply", "forall", "exists"})


@dataclass(slots=True)
class _Part:
    block: Block
    negated: bool
    scope: tuple[TypedName, ...]
    depth: int
    required: bool = True


def read_condition(block: Block, log: FaultLog, scope: tuple[TypedName, ...] = ()) -> Condition:
    """The condition in `block`; an empty block is the condition that always holds."""
    condition = Condition()
    pending = [_Part(block, False, scope, 1)] if block.items else []
    while pending:
        part = pending.pop()
        if part.depth > DEEPEST_CONDITION:
            log.syntax(part.block, "the condition is nested too deeply for the planner")
            condition.complete = False
            break
        if part.block.head in OPERATORS:
            pending += reversed(_parts(part, condition, log))
            continue
        atom = read_atom(part.block, log)
        if atom is None:
            condition.complete = False
        else:
            condition.literals.append(Literal(atom, part.negated, part.scope, part.required))
    return condition


def _parts(part: _Part, condition: Condition, log: FaultLog) -> list[_Part]:
    """The operands of an operator, with the polarity and the variables they stand under."""
    operator, operands = part.block.head, part.block.items[1:]
    scope = part.scope
    if operator in ("forall", "exists"):
        variables = _quantified(part.block, log)
        if variables is not None:
            condition.quantified.append(variables)
            scope += tuple(variables)
        operands = operands[1:2]
        condition.complete &= variables is not None
    elif operator in ("not", "imply"):
        condition.complete &= _has_operands(part.block, 1 if operator == "not" else 2, log)
    condition.plain &= operator == "not" or (operator == "and" and not part.negated)
    required = part.required and operator in ("not", "or" if part.negated else "and")
    parts = []
    for number, operand in enumerate(operands):
        if isinstance(operand, Block) and operand.items:
            first_of_imply = operator == "imply" and number == 0
            negated = part.negated != (operator == "not" or first_of_imply)
            parts.append(_Part(operand, negated, scope, part.depth + 1, required))
        else:
            refuse_operand(operand, operator, log)
            condition.complete = False
    return parts


def _has_operands(block: Block, count: int, log: FaultLog) -> bool:
    if len(block.items) == count + 1:
        return True
    form = "`(not (fact))`" if count == 1 else "`(imply (condition) (condition))`"
    log.syntax(
        block,
        f"`{block.head}` in `{block}` takes {count} condition{'s' * (count > 1)}, "
        f"not {len(block.items) - 1}: write {form}",
    )
    return False


def _quantified(block: Block, log: FaultLog) -> list[TypedName] | None:
    if len(block.items) != 3:
        log.syntax(
            block,
            f"`{block}` must be `({block.head} (?variable - type …) (condition))` "
            f"with one list of variables and one condition",
        )
    variables = block.items[1] if len(block.items) > 1 else None
    if not isinstance(variables, Block) or not variables.items:
        if len(block.items) == 3:
            log.syntax(block, f"`{block.head}` needs a list of variables: `(?variable - type)`")
        return None
    return read_quantified(variables, log)


def read_quantified(variables: Block, log: FaultLog) -> list[TypedName] | None:
    names = read_typed_list(variables.items, log)
    for name in names or ():
        if name.name[0] != "?":
            log.warn(name.word, f"`{name.word}` is quantified, but no variable: `?{name.word}`")
    return names


def refuse_operand(operand: Node, operator: str, log: FaultLog) -> None:
    if isinstance(operand, Word):
        log.syntax(operand, f"`{operand}` stands alone under `{operator}`: write `({operand} …)`")
    else:
        log.syntax(operand, f"`()` under `{operator}` is empty: remove it or write a fact")


def read_literal(block: Block, log: FaultLog, scope: tuple[TypedName, ...] = ()) -> Literal | None:
    """A fact or `(not (fact))`, as effects and `:init` have them; None where it is neither."""
    negated, inner = block.head == "not", block
    if negated:
        operand = block.items[1] if len(block.items) == 2 else None
        if not isinstance(operand, Block) or not operand.items:
            log.syntax(block, f"`{block}` must be `(not (fact))` with exactly one fact")
            return None
        inner = operand
    atom = read_atom(inner, log)
    return Literal(atom, negated, scope) if atom is not None else None


def read_atom(block: Block, log: FaultLog) -> Atom | None:
    """`(predicate term …)`, or None where it is something else."""
    predicate, *terms = block.items
    if isinstance(predicate, Block):
        log.syntax(block, f"`{block}` begins with a list: join conditions with `(and … …)`")
        return None
    for term in terms:
        if isinstance(term, Block):
            log.syntax(term, f"`{term}` stands inside `({predicate} …)` where only names may stand")
            return None
    return Atom(predicate, [term for term in terms if isinstance(term, Word)], block)
