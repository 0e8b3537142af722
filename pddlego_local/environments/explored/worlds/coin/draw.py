"""Draws a house, most of whose doors are closed, with a coin in one of its rooms."""

from random import Random

from pddlego_local.environments.explored.drawing import OPPOSITE, passages, problem
from pddlego_local.environments.writing import Fact

ROOMS = (
    *("kitchen", "living_room", "bedroom", "bathroom", "corridor", "pantry"),
    *("backyard", "laundry_room", "driveway", "street", "supermarket", "study"),
    *("attic", "cellar", "garage", "library", "nursery", "veranda"),
)
CLOSED = 0.7


def draw(size: int, random: Random) -> str:
    """Draws a house of `size` rooms, 18 at most. The coin is not in the first one."""
    rooms = random.sample(ROOMS, size)
    facts: list[Fact] = [("at", rooms[0]), ("coin-at", random.choice(rooms[1:]))]
    facts += [("opposite", *ways) for ways in OPPOSITE.items()]
    for passage in passages(rooms, size // 4, random):
        kind = "closed-door" if random.random() < CLOSED else "connected"
        facts += [(kind, *passage), (kind, *passage.back)]
    return problem("coin", {"room": rooms}, facts, [("have-coin",)])
