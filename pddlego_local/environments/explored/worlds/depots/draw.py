"""Draws the crates and depots of the described world."""

from random import Random

from pddlego_local.environments.described.generated import drawn, problem_of


def draw(size: int, random: Random) -> str:
    return problem_of("depots", drawn("depots", size, random))
