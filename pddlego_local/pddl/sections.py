"""Sections of a problem file: text in, text out, everything else untouched.

A section is found wherever it stands, also between parentheses that are wrong: then the file is
read as the static check explains it.
"""

from pddlego_local.pddl.reader import Block, Word, read


def section(text: str, name: str) -> Block | None:
    """The first section of that name, such as ":init"; None if there is none."""
    return _heads(_root(text, name)).get(name)


def with_section(problem: str, name: str, text: str) -> str:
    """The problem with `text` in the place of the section.

    A problem that lacks the section gains it: `:objects` before `:init`, anything else at the end.
    A section that never closes does not close afterwards either: that fault is not repaired here. A
    text without any list is returned as it is.
    """
    root = _root(problem, name)
    if root is None:
        return problem
    present = _heads(root)
    if name in present:
        block = present[name]
        new = text if block.end >= 0 else text.removesuffix(")")
        return problem[: block.offset] + new + problem[_end(block) :]
    at = root.end if root.end >= 0 else _end(root)
    if name == ":objects" and ":init" in present:
        at = present[":init"].offset
    return problem[:at] + text + problem[at:]


def with_goal(problem: str, condition: str) -> str:
    """The problem with another goal (PDDLego §2)."""
    return with_section(problem, ":goal", f"(:goal {condition})")


def _root(text: str, name: str) -> Block | None:
    """The file as the planner reads it; where that shows no such section, as it may be meant."""
    root = read(text, _ignore)
    return root if name in _heads(root) else read(text, _ignore, recover=True)


def _ignore(_offset: int, _message: str) -> None:
    """The planner and the static check report faults."""


def _heads(root: Block | None) -> dict[str, Block]:
    """The lists of a file by their first word, the first of each; the whole text may be one."""
    nodes = [root, *root.items] if root is not None else []
    return {node.head: node for node in reversed(nodes) if isinstance(node, Block)}


def _end(block: Block) -> int:
    """Where the block ends, its parenthesis included; of one that never closes what was read."""
    while block.end < 0 and block.items:
        last = block.items[-1]
        if isinstance(last, Word):
            return last.offset + len(last.text)
        block = last
    return max(block.end, block.offset) + 1
