"""Draws an office whose doors are closed, and parcels that go to other rooms."""

from random import Random

from pddlego_local.environments.explored.drawing import numbered, passages, problem


def draw(size: int, random: Random) -> str:
    """Draws `size` parcels, and three rooms for each."""
    rooms = numbered("room", 3 * size)
    random.shuffle(rooms)
    parcels = numbered("parcel", size)
    doors = passages(rooms, size - 1, random)
    facts = [("at", rooms[0]), ("bag-empty",)]
    for door in doors:
        facts.append(("closed-door", door.start, door.end))
        facts.append(("closed-door", door.end, door.start))
    goal = []
    for parcel in parcels:
        start, end = random.sample(rooms, 2)
        facts.append(("in", parcel, start))
        goal.append(("in", parcel, end))
    return problem("office", {"room": rooms, "parcel": parcels}, facts, goal)
