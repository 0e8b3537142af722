"""What a perfect formalizer would write of a described world: its gold files."""

from collections.abc import Sequence

from pddlego_local.core.nouns import Turn
from pddlego_local.environments.described.world import told


def formalize(
    memory: Sequence[Turn], goal: str = "", offered: Sequence[str] = ()
) -> tuple[str, str]:
    """(domain, problem) of the world that the first turn tells."""
    world = told(memory[0].text)
    return world.domain, world.problem


def problem(memory: Sequence[Turn]) -> str:
    return formalize(memory)[1]


def subgoals(memory: Sequence[Turn]) -> tuple[str, ...]:
    return ("bring about what must be so in the end",)


def command(planned: str) -> str:
    return planned.strip("()")
