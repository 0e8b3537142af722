"""Children at tables, who are served sandwiches from trays."""

from random import Random

from pddlego_local.environments.described.drawing import Drawing, numbered
from pddlego_local.environments.writing import of_each, of_pairs


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws children. Up to half of them, and at least one, eat no gluten. For each of
    these there is a loaf without gluten, and for every child there is one loaf and one
    sandwich.
    """
    children = numbered(thing, count)
    loaves = numbered("loaf", count)
    sandwiches = numbered("sandwich", count)
    trays = numbered("tray", 2)
    tables = numbered("table", chance.randint(1, 3))
    careful_count = chance.randint(1, max(1, count // 2))
    careful = chance.sample(children, careful_count)
    without = chance.sample(loaves, len(careful))
    seats = [(child, chance.choice(tables)) for child in children]
    eating = [
        ("careful" if child in careful else "eats-all", child) for child in children
    ]
    gluten_free = [loaf for loaf in loaves if loaf in without]
    return Drawing(
        things={
            thing: children,
            "loaf": loaves,
            "sandwich": sandwiches,
            "tray": trays,
            "place": tables,
        },
        start=[
            *(("tray-at", tray, "kitchen") for tray in trays),
            *of_pairs("sits-at", seats),
            *eating,
            *of_each("fresh", loaves),
            *of_each("gluten-free", gluten_free),
            *of_each("unmade", sandwiches),
        ],
        goal=of_each("served", children),
    )
