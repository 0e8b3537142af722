"""Sections of a problem file: text in, text out, everything else untouched.

A section is found wherever it stands, also between parentheses that are wrong: then the file is
read as the static check explains it.
"""

from pddlego_local.pddl.reader import Block, Word, read


def listed(problem: str, name: str) -> Block:
    """The first section of that name, such as ":init"; without one an empty list."""
    return _first(name, _lists(problem, name)) or Block(0)


def with_section(problem: str, name: str, text: str) -> str:
    """The problem with `text` in the place of the section.

    A problem that lacks the section gains it: `:objects` before `:init`, anything else at the end.
    A section that never closes does not close afterwards either: that fault is not repaired here. A
    text without any list is returned as it is.
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
    """The problem with another goal (PDDLego §2)."""
    return with_section(problem, ":goal", f"(:goal {condition})")


def _lists(text: str, name: str) -> list[Block]:
    """The file and the lists in it as the planner reads them; where that shows no such section, as
    they may be meant."""
    lists = _with_parts(read(text))
    return lists if _first(name, lists) is not None else _with_parts(read(text, recover=True))


def _with_parts(root: Block | None) -> list[Block]:
    return [root, *root.blocks] if root else []


def _first(name: str, lists: list[Block]) -> Block | None:
    return next((block for block in lists if block.head == name), None)


def _end(block: Block) -> int:
    """Where the block ends, its parenthesis included; of one that never closes what was read."""
    while block.end < 0 and block.items:
        last = block.items[-1]
        if isinstance(last, Word):
            return last.offset + len(last.text)
        block = last
    return max(block.end, block.offset) + 1
