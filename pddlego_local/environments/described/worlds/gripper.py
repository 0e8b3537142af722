"""Balls in rooms, and a robot with two hands."""

from random import Random

from pddlego_local.environments.described.drawing import Drawing, moved, numbered
from pddlego_local.environments.writing import of_each, of_pairs


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws two to four rooms. Every room can be reached from every other."""
    balls = numbered(thing, count)
    rooms = numbered("room", chance.randint(2, 4))
    hands = numbered("hand", 2)
    starts = {ball: chance.choice(rooms) for ball in balls}
    robot = chance.choice(rooms)
    return Drawing(
        things={thing: balls, "room": rooms, "hand": hands},
        start=[
            ("robot-in", robot),
            *of_each("free", hands),
            *of_pairs("lies-in", starts.items()),
        ],
        goal=of_pairs("lies-in", moved(chance, starts, rooms)),
    )
