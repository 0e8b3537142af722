"""Actions whose fields are misnamed, in parentheses, out of order, or in several parts."""

from dataclasses import dataclass, field

from pddlego_local.pddl.reader import Block, Node, Patch, Word, source
from pddlego_local.pddl.repair.pair import Repair, Text

FIELDS = (":parameters", ":precondition", ":effect")
_NOTHING = frozenset({"nil", "none", "true"})


@dataclass(slots=True)
class _Fields:
    """The nodes after each keyword; `regular` if they already stand as the planner wants them."""

    nodes: dict[str, list[Node]] = field(default_factory=dict)
    regular: bool = True


def with_regular_actions(domain: Text) -> Repair:
    """Each action as `:parameters (…) :precondition (…) :effect (…)`, several conditions or effects
    joined by `and`, an effect that is missing or `nil` as `()`."""
    patches: list[Patch] = []
    changes: list[str] = []
    for action in domain.sections(":action"):
        name = action.items[1] if len(action.items) > 1 else None
        fields = _fields_of(action.items[2:]) if isinstance(name, Word) else None
        if fields is None or fields.regular:
            continue
        lines = [f"(:action {source(domain.text, action.items[1])}"]
        for keyword in FIELDS:
            if keyword in fields.nodes or keyword == ":effect":
                lines.append(f"{keyword} {_value(domain, keyword, fields.nodes.get(keyword, []))}")
        patches.append((action.offset, action.end + 1, "\n    ".join(lines) + ")"))
        changes.append(f"domain: put the fields of action `{name}` into their form")
    return domain.patched(patches), tuple(changes)


def _fields_of(items: list[Node]) -> _Fields | None:
    """The fields of an action, or None where some part of it belongs to none of them."""
    fields = _Fields()
    spelled: list[str] = []
    current: list[Node] | None = None
    for item in items:
        keyword = field_of(item)
        if keyword:
            current = fields.nodes.setdefault(keyword, [])
            spelled.append(item.name if isinstance(item, Word) else "")
            if isinstance(item, Block):
                current += item.items[1:]
        elif current is None or not _is_value(item):
            return None
        else:
            current.append(item)
    fields.regular = (
        spelled == [keyword for keyword in FIELDS if keyword in fields.nodes]
        and ":effect" in spelled
        and all(_is_one(keyword, nodes) for keyword, nodes in fields.nodes.items())
    )
    return fields


def field_of(item: Node) -> str:
    """The field that ":effects", or a list that begins so, stands for; "" where none is meant."""
    name = item.name if isinstance(item, Word) else item.head
    stem = name.strip(":").rstrip("s")
    return next((keyword for keyword in FIELDS if keyword.strip(":").rstrip("s") == stem), "")


def _is_value(item: Node) -> bool:
    return isinstance(item, Block) or item.name in _NOTHING


def _is_one(keyword: str, nodes: list[Node]) -> bool:
    """Whether the field is one list, and not one of conditions without an `and` before them."""
    only = nodes[0] if len(nodes) == 1 else None
    return isinstance(only, Block) and (keyword == ":parameters" or not _is_bare(only))


def _is_bare(block: Block) -> bool:
    return bool(block.items) and all(isinstance(item, Block) for item in block.items)


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
