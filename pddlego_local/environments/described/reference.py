"""The answers of a perfect formalizer for a described world: its gold files."""

from collections.abc import Sequence

from pddlego_local.core.nouns import Turns
from pddlego_local.environments.described.world import world_of
from pddlego_local.pddl.sections import with_section
from pddlego_local.pddl.state import read_task


def formalize(
    memory: Turns, goal: str = "", offered: Sequence[str] = ()
) -> tuple[str, str]:
    """Returns (domain, problem) of the world in the first turn, in its state after the
    actions so far.
    """
    world = world_of(memory[0].text)
    done = [turn.command.lower().split() for turn in memory[1:] if turn.text]
    if not done:
        return world.domain, world.problem
    task = read_task(world.domain, world.problem)
    state = task.initial
    for step in done:
        state = next(task.successors(state, step), state)
    init = " ".join(sorted(f"({' '.join(fact)})" for fact in state.facts))
    return world.domain, with_section(world.problem, ":init", f"(:init {init})")


def problem(memory: Turns) -> str:
    return formalize(memory)[1]


def subgoals(memory: Turns) -> tuple[str, ...]:
    return ("bring about what must be so in the end",)


def command(planned: str) -> str:
    return planned.strip("()")
