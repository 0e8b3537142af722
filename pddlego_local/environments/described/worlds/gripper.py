"""Balls in rooms, and a robot with two hands."""

import random

from pddlego_local.environments.described.drawing import (
    Drawing,
    Words,
    most_of,
    numbered,
    other,
)


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Draws two to four rooms. Every room can be reached from every other."""
    balls, rooms = numbered("ball", count), numbered("room", chance.randint(2, 4))
    hands = numbered("hand", 2)
    starts = {ball: chance.choice(rooms) for ball in balls}
    lying = [("lies-in", *pair) for pair in starts.items()]
    free = [("free", hand) for hand in hands]
    return Drawing(
        {"ball": balls, "room": rooms, "hand": hands},
        [("robot-in", chance.choice(rooms)), *free, *lying],
        [
            ("lies-in", ball, other(chance, rooms, starts[ball]))
            for ball in most_of(chance, balls)
        ],
    )
