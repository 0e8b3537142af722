"""Crates in towers at several depots, and trucks."""

import random

from pddlego_local.environments.described.drawing import Drawing, Words, numbered
from pddlego_local.environments.writing import Fact


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Draws two or three depots, each with one or two pallets and a hoist, and two
    trucks.
    """
    crates, trucks = numbered("crate", count), numbered("truck", 2)
    depots = numbered("depot", chance.randint(2, 3))
    hoists = numbered("hoist", len(depots))
    pallets = numbered("pallet", len(depots) + chance.randint(0, len(depots)))
    where = {
        pallet: depots[place % len(depots)] for place, pallet in enumerate(pallets)
    }

    def towers() -> tuple[list[Fact], list[Fact], list[Fact]]:
        """Returns what lies on what, where everything is, and what has nothing on
        it.
        """
        tops, on = {pallet: pallet for pallet in pallets}, list[Fact]()
        at = list(where.items())
        for crate in chance.sample(crates, count):
            pallet = chance.choice(pallets)
            on.append(("on", crate, tops[pallet]))
            at.append((crate, where[pallet]))
            tops[pallet] = crate
        return (
            on,
            [("stands-at", *pair) for pair in at],
            [("clear", top) for top in tops.values()],
        )

    start, goal = towers(), towers()[0]
    while set(goal) == set(start[0]):
        goal = towers()[0]
    hoisting = [("hoist-at", *pair) for pair in zip(hoists, depots, strict=True)]
    driving = [("truck-at", truck, chance.choice(depots)) for truck in trucks]
    idle = [("idle", hoist) for hoist in hoists]
    return Drawing(
        {
            "crate": crates,
            "pallet": pallets,
            "hoist": hoists,
            "truck": trucks,
            "depot": depots,
        },
        [*driving, *hoisting, *idle, *start[1], *start[0], *start[2]],
        goal,
    )
