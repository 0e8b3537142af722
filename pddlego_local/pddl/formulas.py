"""Turns blocks into typed lists (`a b - t c`) and into conditions
(`task.WrittenCondition`).

A condition becomes the flat list of its literals, each with the variables in its scope,
because the checks need no more. There is no recursion, because a model's text may be
nested more deeply than our stack allows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.reader import Block, Node, Word
from pddlego_local.pddl.task import (
    Atom,
    Literal,
    TypedName,
    WrittenCondition,
    counted,
)

# Nested operators; Fast Downward's recursion fails from here on.
DEEPEST_CONDITION = 495
OPERATORS = frozenset({"and", "or", "not", "imply", "forall", "exists"})

FORMS = {"not": (1, "(not (fact))"), "imply": (2, "(imply (condition) (condition))")}
"""The operators that take a fixed number of conditions."""

NUMERIC = frozenset({
    ">", "<", ">=", "<=", "+", "-", "*", "/", "=",
    "increase", "decrease", "assign", "scale-up", "scale-down",
})  # fmt: skip
TIMES = frozenset({"at start", "at end", "over all"})


@dataclass(slots=True)
class _Part:
    """A part of a condition, with its context."""

    block: Block
    scope: tuple[TypedName, ...] = ()
    negated: bool = False
    required: bool = True
    depth: int = 1


def read_condition(
    block: Block, log: FaultLog, scope: tuple[TypedName, ...] = ()
) -> WrittenCondition:
    """Reads the condition in `block`. An empty block is the condition that always
    holds.
    """
    condition = WrittenCondition(block=block)
    pending = [_Part(block, scope)] if block.items else []
    while pending:
        part = pending.pop()
        if part.depth > DEEPEST_CONDITION:
            log.syntax(part.block, "the condition is nested too deeply for the planner")
            break
        if part.block.head in OPERATORS:
            pending += reversed(_operands(part, condition, log))
        elif (atom := read_atom(part.block, log)) is not None:
            condition.literals.append(
                Literal(atom, part.negated, part.scope, part.required)
            )
    return condition


def _operands(part: _Part, condition: WrittenCondition, log: FaultLog) -> list[_Part]:
    """The operands of an operator, with their polarity and the variables in their
    scope.
    """
    operator = part.block.head
    operands = part.block.items[1:]
    scope = part.scope
    if operator in ("forall", "exists"):
        variables = _quantified(part.block, log)
        condition.quantified.append(variables)
        scope += tuple(variables)
        operands = operands[1:2]
    elif operator in FORMS:
        count, form = FORMS[operator]
        if len(operands) != count:
            log.syntax(
                part.block,
                f"`{operator}` in `{part.block}` takes {counted(count, 'condition')},"
                f" not {len(operands)}: write `{form}`",
            )
    condition.plain &= operator == "not" or (operator == "and" and not part.negated)
    conjunction = "or" if part.negated else "and"
    required = part.required and operator in ("not", conjunction)
    parts = []
    for number, operand in enumerate(operands):
        if isinstance(operand, Word):
            refuse_alone(operand, f"under `{operator}`", log)
            continue
        if not operand.items:
            log.syntax(
                operand,
                f"`()` under `{operator}` is empty: remove it or write a fact",
            )
            continue
        turns = operator == "not" or (operator == "imply" and number == 0)
        inner = _Part(
            operand,
            scope=scope,
            negated=part.negated != turns,
            required=required,
            depth=part.depth + 1,
        )
        parts.append(inner)
    return parts


def refuse_alone(word: Word, where: str, log: FaultLog) -> None:
    """Reports a word where a list is expected."""
    log.syntax(word, f"`{word}` stands alone {where}: write `({word} …)`")


def _quantified(block: Block, log: FaultLog) -> list[TypedName]:
    variables = block.item(1)
    if len(block.items) != 3:
        log.syntax(
            block,
            f"`{block}` must be `({block.head} (?variable - type …) (condition))`"
            " with one list of variables and one condition",
        )
    elif not isinstance(variables, Block) or not variables.items:
        log.syntax(
            block, f"`{block.head}` needs a list of variables: `(?variable - type)`"
        )
    return read_quantified(variables, log) if isinstance(variables, Block) else []


def read_quantified(variables: Block, log: FaultLog) -> list[TypedName]:
    """Reads the variables of a quantifier. Returns no variables if their list is
    unreadable.
    """
    names = read_typed_list(variables.items, log) or []
    for name in names:
        if name.name[0] != "?":
            log.warn(
                name.word,
                f"`{name.word}` is quantified, but no variable: `?{name.word}`",
            )
    return names


def read_atom(block: Block, log: FaultLog) -> Atom | None:
    """Reads `(predicate term …)`. Returns None if it is something else."""
    predicate, *terms = block.items
    if word := _numeric_word(block):
        log.numeric(block, word)
        return None
    if isinstance(predicate, Block):
        log.syntax(
            block, f"`{block}` begins with a list: join conditions with `(and … …)`"
        )
        return None
    words = []
    for term in terms:
        if isinstance(term, Block):
            log.syntax(
                term,
                f"`{term}` stands inside `({predicate} …)` where only names may stand",
            )
            return None
        words.append(term)
    return Atom(predicate, words, block)


def _numeric_word(block: Block) -> str:
    """The word by which the block is numeric or temporal PDDL, such as ">=" in `(>=
    (fuel) 3)` or "at start" in `(at start (open))`; "" if it is neither.
    """
    if not block.blocks:
        return ""
    if block.head in NUMERIC:
        return block.head
    words = [item.name for item in block.items[:2] if isinstance(item, Word)]
    called = " ".join(words)
    if called in TIMES:
        return called
    is_time = called.startswith("at ") and is_number(words[1])
    return called if is_time else ""


def is_number(name: str) -> bool:
    """Whether a name has only digits and points."""
    return name.replace(".", "").isdigit()


# ---- Typed lists


def read_typed_list(
    items: list[Node], log: FaultLog, *, variables: bool = False, either: bool = False
) -> list[TypedName] | None:
    """Returns the names in order, or None if a part of the list could not be read.

    With `variables`, every name must begin with `?`. With `either`, a type may be
    `(either t u)`.
    """
    names = []
    readable = True
    for group, type_node in type_groups(items, log):
        types = _types(type_node, log, either)
        readable &= types is not None
        before: Node | None = None
        for item in group:
            if isinstance(item, Word) and (item.name[0] == "?" or not variables):
                names.append(TypedName(item, types or ()))
                if len(item.name) > 1 and _has_outer_hyphen(item):
                    log.warn(item, _read_as_a_name(item))
            else:
                readable = False
                if isinstance(before, Word) and before.name[-1] in "-:":
                    # For a word with a colon, the log substitutes its own message.
                    log.syntax(before, _read_as_a_name(before))
                else:
                    _refuse_name(item, log, variables)
            before = item
    return names if readable else None


def _has_outer_hyphen(word: Word) -> bool:
    return word.name.startswith("-") or word.name.endswith("-")


def names_in(items: list[Node]) -> list[TypedName]:
    """Returns the names of a typed list whose faults are reported elsewhere; none if a
    part of it cannot be read.
    """
    return read_typed_list(items, FaultLog()) or []


def type_groups(
    items: list[Node], log: FaultLog
) -> Iterator[tuple[list[Node], Node | None]]:
    """Yields the names before each `-` with the type after it, then the names without a
    type.
    """
    group: list[Node] = []
    dash: Word | None = None
    for item in items:
        if dash is not None:
            if not group:
                log.warn(
                    dash, f"`- {item}` has no name before it and is ignored: remove it"
                )
            yield group, item
            group = []
            dash = None
        elif isinstance(item, Word) and item.name == "-":
            dash = item
        else:
            group.append(item)
    if dash is not None:
        log.syntax(dash, "the type is missing after `-`: write `name - type`")
    if group:
        yield group, None


def _types(node: Node | None, log: FaultLog, either: bool) -> tuple[Word, ...] | None:
    if node is None:
        return ()
    if isinstance(node, Word):
        return (node,)
    if either and node.head == "either":
        return tuple(node.words[1:])
    remedy = "one name"
    if node.head == "either":
        remedy = "use one type, such as a common supertype"
    log.syntax(node, f"`{node}` cannot be a type here: {remedy}")
    return None


def _read_as_a_name(word: Word) -> str:
    return f"`{word}` is read as a name: {_with_space(word)}"


def _with_space(word: Word) -> str:
    """The remedy for a hyphen that lacks a space beside it."""
    text = str(word)
    if text[0] == "-":
        return f"write `- {text[1:]}` with a space"
    return f"write `{text[:-1]} -` with a space"


def _refuse_name(item: Node, log: FaultLog, variables: bool) -> None:
    if isinstance(item, Block):
        kind = "variable" if variables else "name"
        log.syntax(
            item,
            f"`{item}` stands where a {kind} is expected: remove its parentheses",
        )
    elif item.name[0] == "-":
        log.syntax(item, f"`{item}` is not a variable: {_with_space(item)}")
    else:
        log.syntax(item, f"`{item}` must be a variable here: write `?{item}`")
