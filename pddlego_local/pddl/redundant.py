"""Removes repeated entries from a file before the planner reads it.

Fast Downward refuses a file that declares an object twice, although nothing else is
wrong with it. So a name that is declared again with the same type is removed, and so is
a fact or an action that is repeated word by word. An entry that contradicts an earlier
one stays, and the planner refuses it.
"""

from collections.abc import Callable, Hashable, Mapping

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.files import read_domain
from pddlego_local.pddl.reader import Block, read
from pddlego_local.pddl.sections import listed, with_section
from pddlego_local.pddl.typed_list import read_typed_list


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
