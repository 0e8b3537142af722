"""PDDL as text: reader, static check, explanations, repair.

Recorded PDDL leaves as objects of the package `pddl`, for people who go on in Python:

    from pddlego_local.pddl import as_objects
    from pddlego_local.core.record.folder import read_events

    domain, problem = as_objects(plan.domain, plan.problem)   # plan: an `events.Plan`

`pddl` is a reader of its own: it refuses some files that Fast Downward takes, and the other way
round. It checks each file by itself, not whether the two go together.
"""

from typing import TYPE_CHECKING

from pddlego_local.core.errors import ConfigError, MissingPart

if TYPE_CHECKING:
    from pddl.core import Domain, Problem

LONGEST_REASON = 500  # characters


class NotForPddl(ConfigError):
    """A file that the package `pddl` does not take: which one, and its reason."""


def as_objects(domain: str, problem: str) -> tuple["Domain", "Problem"]:
    """A `pddl.core.Domain` and a `pddl.core.Problem`.

    Raises NotForPddl with the reason where `pddl` refuses one, and MissingPart where it is not
    installed.
    """
    try:
        from pddl.parser.domain import DomainParser
        from pddl.parser.problem import ProblemParser
    except ModuleNotFoundError as error:
        raise MissingPart(
            "the package pddl is not installed: pip install 'pddlego_local[pddl]'"
        ) from error
    objects = []
    for what, parser, text in (
        ("domain", DomainParser, domain),
        ("problem", ProblemParser, problem),
    ):
        try:
            objects.append(parser()(text))
        except Exception as error:  # lark's, pddl's, and any that its actions raise on odd input
            raise NotForPddl(f"the package pddl refuses the {what}: {_reason(error)}") from error
    return objects[0], objects[1]


def _reason(error: Exception) -> str:
    """The innermost cause, on one line."""
    inner = getattr(error, "orig_exc", None) or error
    told = " ".join(str(inner)[:LONGEST_REASON].split())
    return f"{type(inner).__name__}: {told}" if told else type(inner).__name__
