"""Crates in towers at several depots, and trucks."""

from collections.abc import Mapping, Sequence
from random import Random

from pddlego_local.environments.described.drawing import Drawing, numbered
from pddlego_local.environments.writing import of_each, of_pairs


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws two or three depots, each with one or two pallets and a hoist, and two
    trucks.
    """
    crates = numbered(thing, count)
    trucks = numbered("truck", 2)
    depots = numbered("depot", chance.randint(2, 3))
    hoists = numbered("hoist", len(depots))
    second_pallets = chance.randint(0, len(depots))
    pallets = numbered("pallet", len(depots) + second_pallets)
    where = dict(zip(pallets, depots * 2, strict=False))
    below = _stacked(chance, crates, pallets)
    wanted = _stacked(chance, crates, pallets)
    while wanted == below:
        wanted = _stacked(chance, crates, pallets)
    for crate, support in below.items():
        where[crate] = where[support]
    driving = [(truck, chance.choice(depots)) for truck in trucks]
    return Drawing(
        things={
            thing: crates,
            "pallet": pallets,
            "hoist": hoists,
            "truck": trucks,
            "depot": depots,
        },
        start=[
            *of_pairs("truck-at", driving),
            *of_pairs("hoist-at", zip(hoists, depots, strict=True)),
            *of_each("idle", hoists),
            *of_pairs("stands-at", where.items()),
            *of_pairs("on", below.items()),
            *of_each("clear", _tops(below, pallets)),
        ],
        goal=of_pairs("on", wanted.items()),
    )


def _stacked(
    chance: Random, crates: Sequence[str], pallets: Sequence[str]
) -> dict[str, str]:
    """Returns what each crate stands on: a pallet or another crate."""
    tops = {pallet: pallet for pallet in pallets}
    below = {}
    for crate in chance.sample(crates, len(crates)):
        pallet = chance.choice(pallets)
        below[crate] = tops[pallet]
        tops[pallet] = crate
    return below


def _tops(below: Mapping[str, str], pallets: Sequence[str]) -> list[str]:
    """Returns what nothing stands on, for each pallet."""
    above = {support: crate for crate, support in below.items()}
    tops = []
    for pallet in pallets:
        top = pallet
        while top in above:
            top = above[top]
        tops.append(top)
    return tops
