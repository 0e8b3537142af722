"""Texts that are the path of a file by mistake."""

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import PlanResult
from pddlego_local.pddl.paths import path_in_place_of_text
from pddlego_local.planner import FastDownward


def refuse_paths(**texts: str) -> None:
    """Raises ConfigError if the path of a file was given in place of a text."""
    for name, text in texts.items():
        if path := path_in_place_of_text(text):
            raise ConfigError(f"{name}: {path}")


def planned(planner: FastDownward, domain: str, problem: str) -> PlanResult:
    """Plans. If a text is a path, the planner is not asked, and the message names the
    path.
    """
    try:
        refuse_paths(domain=domain, problem=problem)
    except ConfigError as error:
        return PlanResult("translate_error", (), str(error), 0.0)
    return planner.plan(domain, problem)
