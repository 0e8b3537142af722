"""Sections of a problem file: text in, text out, everything else untouched."""

import re


def section(problem: str, name: str) -> str:
    """The text of "(:init …)" and its like without comments; "" if there is none that closes."""
    start, end = _place(problem, name)
    return without_comments(problem)[start:end]


def with_section(problem: str, name: str, text: str) -> str:
    """The problem with `text` in the section's place; one that lacks the section gains it.

    `:objects` goes before `:init`, anything else to the end; a problem without a closing bracket
    is returned as it is: the planner will say what is wrong.
    """
    start, end = _place(problem, name)
    if start < 0:
        before_init = _place(problem, "init")[0] if name == "objects" else -1
        start = end = before_init if before_init >= 0 else problem.rfind(")")
    return problem if start < 0 else problem[:start] + text + problem[end:]


def with_goal(problem: str, condition: str) -> str:
    """The problem with another goal (PDDLego §2)."""
    return with_section(problem, "goal", f"(:goal {condition})")


def _place(problem: str, name: str) -> tuple[int, int]:
    """Where a section begins and ends; (-1, -1) if it is not there or never closes."""
    text = without_comments(problem)
    found = re.search(rf"\(\s*:{name}\b", text, re.IGNORECASE)
    depth = 0
    for position in range(found.start(), len(text)) if found else ():
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return (found.start(), position + 1) if found else (-1, -1)
    return -1, -1


def without_comments(text: str) -> str:
    """Of the same length, so that positions stay what they are."""
    return re.sub(r";[^\n]*", lambda comment: " " * len(comment[0]), text)
