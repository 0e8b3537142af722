"""The PDDL that a perfect formalizer would write for CoinCollector.

It comes from rules, not from a language model. The rules read the same memory that a
prompt shows, and draw the map of the house.
"""

from collections.abc import Sequence

from pddlego_local.core.nouns import Turns
from pddlego_local.environments.coin.game import COIN, TABLES
from pddlego_local.environments.tables import domain_text
from pddlego_local.environments.textworld_express.house_map import HouseMap
from pddlego_local.environments.writing import Fact, atoms, of_each, problem_file

command = TABLES.command

DOMAIN = domain_text(__package__, "reference.pddl")


def formalize(
    memory: Turns, goal: str = "", offered: Sequence[str] = ()
) -> tuple[str, str]:
    """Returns (domain, problem) for `memory`. The goal is the nearest place that is not
    visited yet. `offered` is ignored, because the map already shows everything that is
    possible.
    """
    house = HouseMap.of(memory)
    target = house.nearest_unvisited() or house.here
    return DOMAIN, _problem("exploration", house, [], f"(at {target})")


def problem(memory: Turns) -> str:
    """Returns everything that is known, for the hand-written domain. The method sets
    the goal.
    """
    house = HouseMap.of(memory)
    facts = of_each("visited", house.exits)
    if COIN.search(memory[-1].text):
        facts.append(("coin-at", house.here))
    return _problem("coin_collector", house, facts, "(have-coin)")


def subgoals(memory: Turns) -> tuple[str, ...]:
    """Returns one sub-goal: the game ends when the coin is seen."""
    return ("explore the house until you see the coin",)


def _problem(domain: str, house: HouseMap, further: Sequence[Fact], goal: str) -> str:
    places = " ".join(house.places())
    directions = " ".join(house.directions())
    objects = [f"{places} - location", f"{directions} - direction"]
    facts = [("at", house.here), *further, *house.ways()]
    return problem_file("explore", domain, objects, atoms(facts, str), goal)
