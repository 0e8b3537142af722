"""Reads typed lists such as `a b - t c`: types, objects, parameters, quantified
variables.
"""

from collections.abc import Iterator

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.reader import Block, Node, Word
from pddlego_local.pddl.task import TypedName


def read_typed_list(
    items: list[Node], log: FaultLog, *, variables: bool = False, either: bool = False
) -> list[TypedName] | None:
    """Returns the names in order, or None if a part of the list could not be read.

    With `variables`, every name must begin with `?`. With `either`, a type may be
    `(either t u)`.
    """
    names: list[TypedName] = []
    readable = True
    for group, type_node in type_groups(items, log):
        types = _types(type_node, log, either)
        if types is None:
            readable, types = False, ()
        before: Node | None = None
        for item in group:
            if isinstance(item, Word) and (item.name[0] == "?" or not variables):
                if len(item.name) > 1 and "-" in (item.name[0], item.name[-1]):
                    log.warn(item, f"`{item}` is read as a name: {_with_space(item)}")
                names.append(TypedName(item, types))
            else:
                readable = False
                if isinstance(before, Word) and before.name[-1] in "-:":
                    # For a word with a colon, the log substitutes its own message.
                    log.syntax(
                        before, f"`{before}` is read as a name: {_with_space(before)}"
                    )
                else:
                    _refuse_name(item, log, variables)
            before = item
    return names if readable else None


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
            group, dash = [], None
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
        return tuple(item for item in node.items[1:] if isinstance(item, Word))
    remedy = (
        "use one type, such as a common supertype"
        if node.head == "either"
        else "one name"
    )
    log.syntax(node, f"`{node}` cannot be a type here: {remedy}")
    return None


def _with_space(word: Word) -> str:
    """The remedy for a hyphen that lacks a space beside it."""
    text = str(word)
    remedy = f"- {text[1:]}" if text[0] == "-" else f"{text[:-1]} -"
    return f"write `{remedy}` with a space"


def _refuse_name(item: Node, log: FaultLog, variables: bool) -> None:
    if isinstance(item, Block):
        kind = "variable" if variables else "name"
        log.syntax(
            item, f"`{item}` stands where a {kind} is expected: remove its parentheses"
        )
    elif item.name[0] == "-":
        log.syntax(item, f"`{item}` is not a variable: {_with_space(item)}")
    else:
        log.syntax(item, f"`{item}` must be a variable here: write `?{item}`")
