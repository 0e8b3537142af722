"""Finds and replaces sections in the text of a file, and removes repeated entries from
them. All other text stays unchanged.

A section is found at any place in the file, even if parentheses are wrong. In that case
the file is read with recovery, as the static check reads it.

Fast Downward refuses a file that declares an object twice, although nothing else is
wrong with it. So a name that is declared again with the same type is removed, and so is
a fact or an action that is repeated word by word. An entry that contradicts an earlier
one stays, and the planner refuses it.
"""

from collections.abc import Callable, Hashable, Mapping

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.files import read_domain
from pddlego_local.pddl.formulas import read_typed_list
from pddlego_local.pddl.reader import Block, Word, read


def listed(problem: str, name: str) -> Block:
    """Returns the first section of that name, such as ":init", or an empty list without
    one.
    """
    return _first(name, _lists(problem, name)) or Block(0)


def with_section(problem: str, name: str, text: str) -> str:
    """Returns the problem with `text` in place of the section `name`.

    A missing section is added: `:objects` before `:init`, any other section at the end.
    If a section is never closed, its replacement is not closed either, because this
    function does not repair that fault. A text without any list is returned unchanged.
    """
    lists = _lists(problem, name)
    present, init = _first(name, lists), _first(":init", lists)
    if present is not None:
        new = text if present.end >= 0 else text.removesuffix(")")
        return problem[: present.offset] + new + problem[_end(present) :]
    if not lists:
        return problem
    at = lists[0].end if lists[0].end >= 0 else _end(lists[0])
    if name == ":objects" and init is not None:
        at = init.offset
    return problem[:at] + text + problem[at:]


def with_goal(problem: str, condition: str) -> str:
    """Returns the problem with another goal (PDDLego §2)."""
    return with_section(problem, ":goal", f"(:goal {condition})")


def _lists(text: str, name: str) -> list[Block]:
    """The file's list and its sections as the planner reads them, or with recovery if
    the planner finds no such section.
    """
    lists = _with_parts(read(text))
    return (
        lists
        if _first(name, lists) is not None
        else _with_parts(read(text, recover=True))
    )


def _with_parts(root: Block | None) -> list[Block]:
    return [root, *root.blocks] if root else []


def _first(name: str, lists: list[Block]) -> Block | None:
    return next((block for block in lists if block.head == name), None)


def _end(block: Block) -> int:
    """The offset after the block, or after the last word of a block that is never
    closed.
    """
    while block.end < 0 and block.items:
        last = block.items[-1]
        if isinstance(last, Word):
            return last.offset + len(last.text)
        block = last
    return max(block.end, block.offset) + 1


# ---- Repeated entries


def domain_without_repetition(domain: str) -> tuple[str, tuple[str, ...]]:
    """Returns the domain without repeated entries, and the removed entries."""
    again: list[str] = []
    for section in (":types", ":constants"):
        domain = _with_each_once(domain, section, {}, again)
    domain = _with_blocks_once(domain, ":predicates", again, _signature)
    domain = _with_blocks_once(
        domain,
        "define",
        again,
        lambda one, text: text.lower() if one.head == ":action" else None,
    )
    return domain, tuple(again)


def problem_without_repetition(
    problem: str, domain: str
) -> tuple[str, tuple[str, ...]]:
    """Returns the problem without repeated entries, and the removed entries.

    Objects that are also constants of the domain are repeated entries too.
    """
    again: list[str] = []
    block = read(domain, recover=True)
    constants = read_domain(block).constants if block else ()
    said = {entry.name: entry.type_names for entry in constants}
    problem = _with_each_once(problem, ":objects", said, again)
    return _with_blocks_once(
        problem, ":init", again, lambda _, text: text.lower()
    ), tuple(again)


def _with_each_once(
    text: str, section: str, said: Mapping[str, Hashable], again: list[str]
) -> str:
    """Keeps each typed name of a list once. Adds the removed ones to `again`."""
    entries = read_typed_list(listed(text, section).items[1:], FaultLog()) or []
    seen, kept, left_out = dict(said), list[str](), list[str]()
    for entry in entries:
        kind = entry.types[0].text if entry.types else "object"
        repeated = entry.name in seen and seen[entry.name] == entry.type_names
        (left_out if repeated else kept).append(f"{entry.word.text} - {kind}")
        seen.setdefault(entry.name, entry.type_names)
    again += [f"{section} {entry}" for entry in left_out]
    return (
        with_section(text, section, f"({' '.join([section, *kept])})")
        if left_out
        else text
    )


def _with_blocks_once(
    text: str, section: str, again: list[str], key_of: Callable[[Block, str], Hashable]
) -> str:
    """Keeps one block for each key and adds the removed ones to `again`. `key_of`
    returns the key of a block with its text, or None for a block that may be repeated.
    """
    seen, repeated = set[Hashable](), list[tuple[Block, str]]()
    for block in listed(text, section).blocks:
        written = " ".join(text[block.offset : block.end + 1].split())
        key = key_of(block, written)
        if key in seen and block.end >= 0:
            repeated.append((block, written))
        elif key is not None:
            seen.add(key)
    for block, _ in reversed(repeated):
        text = text[: block.offset] + text[block.end + 1 :]
    again += [f"{section} {written}" for _, written in repeated]
    return text


def _signature(predicate: Block, _: str) -> Hashable:
    """The name of a predicate and the types of its parameters."""
    parameters = read_typed_list(predicate.items[1:], FaultLog()) or []
    return (predicate.head, *(parameter.type_names for parameter in parameters))
