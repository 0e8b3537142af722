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
from typing import NamedTuple

from pddlego_local.pddl.files import read_domain
from pddlego_local.pddl.formulas import names_in
from pddlego_local.pddl.reader import Block, read, source


def listed(text: str, name: str) -> Block:
    """Returns the first section of that name, such as ":init", or an empty list without
    one.
    """
    return _first(name, _lists(text, name)) or Block(0)


def with_section(text: str, name: str, section: str) -> str:
    """Returns the text with another `section` of this name.

    A missing section is added: `:objects` before `:init`, any other section at the end.
    If a section is never closed, its replacement is not closed either, because this
    function does not repair that fault. A text without any list is returned unchanged.
    """
    lists = _lists(text, name)
    present = _first(name, lists)
    if present is not None:
        new = section if present.end >= 0 else section.removesuffix(")")
        return text[: present.offset] + new + text[present.stop :]
    if not lists:
        return text
    root = lists[0]
    init = _first(":init", lists)
    if name == ":objects" and init is not None:
        place = init.offset
    elif root.end >= 0:
        place = root.end
    else:
        place = root.stop
    return text[:place] + section + text[place:]


def with_goal(problem: str, condition: str) -> str:
    """Returns the problem with another goal (PDDLego §2)."""
    return with_section(problem, ":goal", f"(:goal {condition})")


def _lists(text: str, name: str) -> list[Block]:
    """The file's list and its sections as the planner reads them, or with recovery if
    the planner finds no such section.
    """
    lists = _lists_in(read(text))
    if _first(name, lists) is None:
        lists = _lists_in(read(text, recover=True))
    return lists


def _lists_in(root: Block | None) -> list[Block]:
    return [root, *root.blocks] if root else []


def _first(name: str, lists: list[Block]) -> Block | None:
    return next((block for block in lists if block.head == name), None)


# ---- Repeated entries


class Distinct(NamedTuple):
    """A file without repeated entries, and the removed entries."""

    text: str
    removed: tuple[str, ...]


def domain_without_repetition(domain: str) -> Distinct:
    """Removes repeated types, constants, predicates and actions."""
    removed: list[str] = []
    for section in (":types", ":constants"):
        domain = _with_each_name_once(domain, section, {}, removed)
    domain = _with_each_block_once(domain, ":predicates", removed, _signature)
    domain = _with_each_block_once(domain, "define", removed, _if_action)
    return Distinct(domain, tuple(removed))


def problem_without_repetition(problem: str, domain: str) -> Distinct:
    """Removes repeated objects and facts. Objects that are also constants of the domain
    are repeated entries too.
    """
    removed: list[str] = []
    constants = read_domain(read(domain, recover=True)).constants
    known = {entry.name: entry.type_names for entry in constants}
    problem = _with_each_name_once(problem, ":objects", known, removed)
    problem = _with_each_block_once(problem, ":init", removed, _written)
    return Distinct(problem, tuple(removed))


def _with_each_name_once(
    text: str, section: str, known: Mapping[str, Hashable], removed: list[str]
) -> str:
    """Keeps each typed name of a list once. Adds the repeated ones to `removed`."""
    entries = names_in(listed(text, section).items[1:])
    types = dict(known)
    kept = [section]
    repeated = []
    for entry in entries:
        kind = entry.types[0].text if entry.types else "object"
        line = f"{entry.word.text} - {kind}"
        if types.get(entry.name) == entry.type_names:
            repeated.append(line)
        else:
            kept.append(line)
            types.setdefault(entry.name, entry.type_names)
    if not repeated:
        return text
    removed += [f"{section} {entry}" for entry in repeated]
    return with_section(text, section, f"({' '.join(kept)})")


def _with_each_block_once(
    text: str,
    section: str,
    removed: list[str],
    key_of: Callable[[Block, str], Hashable],
) -> str:
    """Keeps one block for each key and adds the others to `removed`. `key_of` returns
    the key of a block with its text, or None for a block that may be repeated.
    """
    seen: set[Hashable] = set()
    repeated = []
    for block in listed(text, section).blocks:
        written = " ".join(source(text, block).split())
        key = key_of(block, written)
        if key in seen and block.end >= 0:
            repeated.append(block)
            removed.append(f"{section} {written}")
        elif key is not None:
            seen.add(key)
    for block in reversed(repeated):
        text = text[: block.offset] + text[block.stop :]
    return text


def _signature(predicate: Block, _: str) -> Hashable:
    """The name of a predicate and the types of its parameters."""
    parameters = names_in(predicate.items[1:])
    return (predicate.head, *(parameter.type_names for parameter in parameters))


def _if_action(block: Block, written: str) -> Hashable:
    return written.lower() if block.head == ":action" else None


def _written(_: Block, written: str) -> Hashable:
    return written.lower()
