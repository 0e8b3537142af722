"""Loose nuts, and spanners that break."""

from itertools import pairwise
from random import Random

from pddlego_local.environments.described.drawing import Drawing, numbered
from pddlego_local.environments.writing import of_each, of_pairs


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws three to five spots in a row, along which the worker can walk in one
    direction only. All nuts are at the last spot, and there is one spanner more than
    there are nuts.
    """
    nuts = numbered(thing, count)
    spanners = numbered("spanner", count + 1)
    spots = numbered("spot", chance.randint(3, 5))
    lying = [(spanner, chance.choice(spots)) for spanner in spanners]
    return Drawing(
        things={thing: nuts, "spanner": spanners, "spot": spots},
        start=[
            ("worker-at", spots[0]),
            *of_pairs("leads", pairwise(spots)),
            *of_pairs("lies-at", lying),
            *of_each("whole", spanners),
            *(("sits-at", nut, spots[-1]) for nut in nuts),
            *of_each("loose", nuts),
        ],
        goal=of_each("tight", chance.sample(nuts, count)),
    )
