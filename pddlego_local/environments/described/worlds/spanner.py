"""Loose nuts, and spanners that break."""

import random
from itertools import pairwise

from pddlego_local.environments.described.drawing import Drawing, Words, numbered


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Draws three to five spots in a row, along which the worker can walk in one
    direction only. All nuts are at the last spot, and there is one spanner more than
    there are nuts.
    """
    nuts, spanners = numbered("nut", count), numbered("spanner", count + 1)
    spots = numbered("spot", chance.randint(3, 5))
    return Drawing(
        {"nut": nuts, "spanner": spanners, "spot": spots},
        [
            ("worker-at", spots[0]),
            *(("leads", *pair) for pair in pairwise(spots)),
            *(("lies-at", spanner, chance.choice(spots)) for spanner in spanners),
            *(("whole", spanner) for spanner in spanners),
            *(("sits-at", nut, spots[-1]) for nut in nuts),
            *(("loose", nut) for nut in nuts),
        ],
        [("tight", nut) for nut in chance.sample(nuts, count)],
    )
