"""Actions whose fields are misnamed, in parentheses, out of order, or in several parts."""

from collections.abc import Iterator

from pddlego_local.pddl.reader import Block, Node, Word, source
from pddlego_local.pddl.repair.text import Change, Text

FIELDS = (":parameters", ":precondition", ":effect")
_NOTHING = frozenset({"nil", "none", "true"})


def with_regular_actions(domain: Text, _problem: Text) -> Iterator[Change]:
    """Each action as `:parameters (…) :precondition (…) :effect (…)`, several conditions or effects
    joined by `and`, an effect that is missing or `nil` as `()`."""
    for action in domain.sections(":action"):
        name = action.items[1] if len(action.items) > 1 else None
        fields = _irregular_fields(action.items[2:]) if isinstance(name, Word) else None
        if fields is None:
            continue
        lines = [f"(:action {source(domain.text, action.items[1])}"]
        for keyword in FIELDS:
            if keyword in fields or keyword == ":effect":
                lines.append(f"{keyword} {_value(domain, keyword, fields.get(keyword, []))}")
        why = f"domain: put the fields of action `{name}` into their form"
        yield domain.replaced(action, "\n    ".join(lines) + ")", why)


def _irregular_fields(items: list[Node]) -> dict[str, list[Node]] | None:
    """The nodes after each keyword of an action; None where some part of it belongs to none, or
    where all stand as the planner wants them."""
    fields: dict[str, list[Node]] = {}
    spelled: list[str] = []
    current: list[Node] | None = None
    for item in items:
        keyword = field_of(item)
        if keyword:
            current = fields.setdefault(keyword, [])
            spelled.append(item.name if isinstance(item, Word) else "")
            if isinstance(item, Block):
                current += item.items[1:]
        elif current is None or not (isinstance(item, Block) or item.name in _NOTHING):
            return None
        else:
            current.append(item)
    regular = (
        spelled == [keyword for keyword in FIELDS if keyword in fields]
        and ":effect" in spelled
        and all(_is_one(keyword, nodes) for keyword, nodes in fields.items())
    )
    return None if regular else fields


def field_of(item: Node) -> str:
    """The field that ":effects", or a list that begins so, stands for; "" where none is meant."""
    name = item.name if isinstance(item, Word) else item.head
    stem = name.strip(":").rstrip("s")
    return next((keyword for keyword in FIELDS if keyword.strip(":").rstrip("s") == stem), "")


def _is_one(keyword: str, nodes: list[Node]) -> bool:
    """Whether the field is one list, and not one of conditions without an `and` before them."""
    only = nodes[0] if len(nodes) == 1 else None
    return isinstance(only, Block) and (keyword == ":parameters" or not _is_bare(only))


def _is_bare(block: Block) -> bool:
    return bool(block.items) and block.blocks == block.items


def _value(domain: Text, keyword: str, nodes: list[Node]) -> str:
    blocks = [node for node in nodes if isinstance(node, Block) and node.items]
    if keyword == ":parameters":
        return "(" + " ".join(domain.inside(block, skipped=0) for block in blocks) + ")"
    parts = [
        source(domain.text, part)
        for block in blocks
        for part in (block.items if _is_bare(block) else [block])
    ]
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})" if parts else "()"
