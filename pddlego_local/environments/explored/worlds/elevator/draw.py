"""Draws the passengers and floors of the described world."""

from random import Random

from pddlego_local.environments.described.generated import drawn, problem_of


def draw(size: int, random: Random) -> str:
    return problem_of("elevator", drawn("elevator", size, random))
