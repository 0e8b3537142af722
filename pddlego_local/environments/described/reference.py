"""The answers of a perfect formalizer for a described world: its gold files."""

from collections.abc import Sequence

from pddlego_local.core.nouns import Turns
from pddlego_local.environments.described.simulator import Simulator
from pddlego_local.environments.described.world import world_of
from pddlego_local.environments.writing import atoms
from pddlego_local.pddl.sections import with_section


def formalize(
    memory: Turns, goal: str = "", offered: Sequence[str] = ()
) -> tuple[str, str]:
    """Returns (domain, problem) of the world in the first turn, in its state after the
    actions so far.
    """
    world = world_of(memory[0].text)
    commands = [turn.command for turn in memory[1:] if turn.text]
    if not commands:
        return world.domain, world.problem
    simulator = Simulator(world, "described")
    for command in commands:
        simulator.carry_out(command)
    facts = sorted(atoms(simulator.facts, str))
    init = f"(:init {' '.join(facts)})"
    return world.domain, with_section(world.problem, ":init", init)


def problem(memory: Turns) -> str:
    return formalize(memory)[1]


def subgoals(memory: Turns) -> tuple[str, ...]:
    return ("bring about what must be so in the end",)


def command(planned: str) -> str:
    return planned.strip("()")
