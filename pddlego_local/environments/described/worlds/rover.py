"""Rocks that rovers analyse or photograph."""

import random

from pddlego_local.environments.described.drawing import Drawing, Words, numbered


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Draws three to five sites, all connected by roads, and one or two rovers. The
    goal requires either an analysis or a photo of each rock.
    """
    rocks, sites = numbered("rock", count), numbered("site", chance.randint(3, 5))
    rovers = numbered("rover", chance.randint(1, 2))
    views = [
        (rock, site)
        for rock in rocks
        for site in chance.sample(sites, chance.randint(1, 2))
    ]
    roads = [
        (chance.choice(sites[:place]), sites[place]) for place in range(1, len(sites))
    ]
    return Drawing(
        {"rock": rocks, "site": sites, "rover": rovers},
        [
            *(("rover-at", rover, chance.choice(sites)) for rover in rovers),
            *(("store-empty", rover) for rover in rovers),
            ("radio-at", chance.choice(sites)),
            *(("link", *road) for road in roads),
            *(("lies-at", rock, chance.choice(sites)) for rock in rocks),
            *(("seen-from", *view) for view in views),
        ],
        [(chance.choice(("analysed", "shown")), rock) for rock in rocks],
    )
