"""Draws a vault in which the key of each chest lies in the chest before it."""

from random import Random

from pddlego_local.environments.explored.drawing import numbered, passages, problem


def draw(size: int, random: Random) -> str:
    """Draws `size` chests, and two rooms for each. The ruby is in the last chest, and
    the first key lies on the floor.
    """
    rooms = numbered("room", 2 * size)
    random.shuffle(rooms)
    chests = random.sample(numbered("chest", size), size)
    keys = random.sample(numbered("key", size), size)
    facts = [("at", rooms[0]), ("lies", keys[0], random.choice(rooms))]
    for way in passages(rooms, 1, random):
        facts.append(("corridor", way.start, way.end))
        facts.append(("corridor", way.end, way.start))
    contents = [*keys[1:], "ruby"]
    for chest, key, item in zip(chests, keys, contents, strict=True):
        facts.append(("stands", chest, random.choice(rooms)))
        facts.append(("locked", chest))
        facts.append(("label", chest, key))
        facts.append(("inside", item, chest))
    things = {"room": rooms, "chest": chests, "key": keys, "jewel": ["ruby"]}
    return problem("vault", things, facts, [("held", "ruby")])
