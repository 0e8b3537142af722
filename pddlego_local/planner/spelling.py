"""Fast Downward answers in lower case; plans are given back in the spelling of the PDDL."""

import re

COMMENT = re.compile(r";[^\r\n]*")
ACTION = re.compile(r"\(\s*:action\s+([^\s()]+)", re.IGNORECASE)
DECLARATION = re.compile(r"\(\s*:(?:constants|objects)\b((?:[^()]|\([^()]*\))*+)", re.IGNORECASE)
TYPE = re.compile(r"(?<=\s)-\s+(?:\([^()]*\)|[^\s()]+)")
NAME = re.compile(r"[^\s()]+")


def in_spelling_of(domain: str, problem: str, steps: tuple[str, ...]) -> tuple[str, ...]:
    """`steps` such as "(move kitchen hall)" with action and object names as they are declared.

    PDDL is case-insensitive, so a name may be written in several ways: its first declaration
    counts. Expects PDDL that Fast Downward accepted.
    """
    domain, problem = COMMENT.sub("", domain), COMMENT.sub("", problem)
    actions = _by_lower_case(ACTION.findall(domain))
    declared = " ".join(DECLARATION.findall(domain) + DECLARATION.findall(problem))
    objects = _by_lower_case(NAME.findall(TYPE.sub("", declared)))
    return tuple(_respell(step, actions, objects) for step in steps)


def _by_lower_case(names: list[str]) -> dict[str, str]:
    return {name.lower(): name for name in reversed(names)}


def _respell(step: str, actions: dict[str, str], objects: dict[str, str]) -> str:
    action, *arguments = step.strip("()").split()
    names = [actions.get(action, action), *(objects.get(name, name) for name in arguments)]
    return "(" + " ".join(names) + ")"
