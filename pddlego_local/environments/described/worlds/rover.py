"""Rocks that rovers analyse or photograph."""

from random import Random

from pddlego_local.environments.described.drawing import Drawing, numbered
from pddlego_local.environments.writing import of_each, of_pairs


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws three to five sites, all connected by roads, and one or two rovers. The
    goal requires either an analysis or a photo of each rock.
    """
    rocks = numbered(thing, count)
    sites = numbered("site", chance.randint(3, 5))
    rovers = numbered("rover", chance.randint(1, 2))
    views = []
    for rock in rocks:
        view_count = chance.randint(1, 2)
        for site in chance.sample(sites, view_count):
            views.append((rock, site))
    roads = []
    for rank, site in enumerate(sites[1:], start=1):
        connected = chance.choice(sites[:rank])
        roads.append((connected, site))
    parked = [(rover, chance.choice(sites)) for rover in rovers]
    radio = chance.choice(sites)
    lying = [(rock, chance.choice(sites)) for rock in rocks]
    wanted = [(chance.choice(("analysed", "shown")), rock) for rock in rocks]
    return Drawing(
        things={thing: rocks, "site": sites, "rover": rovers},
        start=[
            *of_pairs("rover-at", parked),
            *of_each("store-empty", rovers),
            ("radio-at", radio),
            *of_pairs("link", roads),
            *of_pairs("lies-at", lying),
            *of_pairs("seen-from", views),
        ],
        goal=wanted,
    )
