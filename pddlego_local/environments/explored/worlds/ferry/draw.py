"""Draws cars on islands, most of which have to go to another island."""

from random import Random

from pddlego_local.environments.explored.drawing import numbered, problem


def draw(size: int, random: Random) -> str:
    cars = numbered("car", size)
    islands = numbered("island", size + 2)
    facts = [("ferry-at", random.choice(islands)), ("deck-empty",)]
    goal = []
    for car in cars:
        start, end = random.sample(islands, 2)
        facts.append(("parked", car, start))
        goal.append(("parked", car, end))
    return problem("ferry", {"car": cars, "island": islands}, facts, goal)
