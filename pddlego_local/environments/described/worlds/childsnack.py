"""Children at tables, who are served sandwiches from trays."""

import random

from pddlego_local.environments.described.drawing import Drawing, Words, numbered


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Draws children. Up to half of them, and at least one, eat no gluten. For each of
    these there is a loaf without gluten, and for every child there is one loaf and one
    sandwich.
    """
    children, loaves = numbered("child", count), numbered("loaf", count)
    sandwiches, trays = numbered("sandwich", count), numbered("tray", 2)
    tables = numbered("table", chance.randint(1, 3))
    careful = chance.sample(children, chance.randint(1, max(1, count // 2)))
    without = chance.sample(loaves, len(careful))
    return Drawing(
        {
            "child": children,
            "loaf": loaves,
            "sandwich": sandwiches,
            "tray": trays,
            "place": tables,
        },
        [
            *(("tray-at", tray, "kitchen") for tray in trays),
            *(("sits-at", child, chance.choice(tables)) for child in children),
            *(
                ("careful" if child in careful else "eats-all", child)
                for child in children
            ),
            *(("fresh", loaf) for loaf in loaves),
            *(("gluten-free", loaf) for loaf in loaves if loaf in without),
            *(("unmade", sandwich) for sandwich in sandwiches),
        ],
        [("served", child) for child in children],
    )
