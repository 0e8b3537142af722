"""PDDL files as pages show them."""

from functools import lru_cache

from pddlego_local.decoding.layout import Printer


@lru_cache(maxsize=64)  # an unchanged domain is read once in an episode
def readable_file(text: str) -> str:
    """Returns a PDDL file in the layout `lines`, with the closing parentheses of a
    section on a separate line. A text that is not PDDL is returned unchanged.
    """
    try:
        printed = Printer("lines").file(text)
    except (ValueError, RecursionError):
        return text
    lines: list[str] = []
    for line in printed.split("\n"):
        closing = ")" * (line.count(")") - line.count("("))
        lines.append(line.removesuffix(closing))
        if closing:
            lines.append(closing)
    return "\n".join(lines)
