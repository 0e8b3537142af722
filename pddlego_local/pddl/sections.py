"""Finds and replaces sections in the text of a problem file. All other text stays
unchanged.

A section is found at any place in the file, even if parentheses are wrong. In that case
the file is read with recovery, as the static check reads it.
"""

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
