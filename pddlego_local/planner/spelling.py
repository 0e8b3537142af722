"""Fast Downward answers in lower case; plans are returned in the spelling of the PDDL."""

from collections.abc import Iterable

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.reader import Block, Word, read
from pddlego_local.pddl.typed_list import type_groups


def in_spelling_of(domain: str, problem: str, steps: tuple[str, ...]) -> tuple[str, ...]:
    """`steps` such as "(move kitchen hall)" with action and object names as they are declared.

    PDDL is case-insensitive, so a name may be written in several ways: its first declaration
    counts. Expects PDDL that Fast Downward accepted.
    """
    if domain.islower() and problem.islower():  # spares the two readings, about 1 ms
        return steps
    sections = [*_sections(domain), *_sections(problem)]
    actions = _by_name(block.items[1] for block in sections if block.head == ":action")
    objects = _by_name(
        node
        for block in sections
        if block.head in (":constants", ":objects")
        for group, _ in type_groups(block.items[1:], FaultLog("problem", ""))
        for node in group
    )
    return tuple(_respelled(step, actions, objects) for step in steps)


def _sections(text: str) -> list[Block]:
    root = read(text, lambda _offset, _message: None)
    return [item for item in root.items if isinstance(item, Block)] if root is not None else []


def _by_name(nodes: Iterable[Block | Word]) -> dict[str, str]:
    words = [node for node in nodes if isinstance(node, Word)]
    return {word.name: word.text for word in reversed(words)}


def _respelled(step: str, actions: dict[str, str], objects: dict[str, str]) -> str:
    action, *arguments = step.strip("()").split()
    names = [actions.get(action, action), *(objects.get(name, name) for name in arguments)]
    return "(" + " ".join(names) + ")"
