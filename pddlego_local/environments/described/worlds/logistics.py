"""Packages in cities, which trucks and airplanes carry from place to place."""

from random import Random

from pddlego_local.environments.described.drawing import (
    Drawing,
    most_of,
    numbered,
    sent,
)
from pddlego_local.environments.writing import of_pairs


def draw(chance: Random, count: int, thing: str) -> Drawing:
    """Draws two or three cities, each with an airport, one or two other places and a
    truck, and one or two airplanes. Two thirds of the packages, and at least one, have
    to go to another place.
    """
    cities = numbered("city", chance.randint(2, 3))
    airports = numbered("airport", len(cities))
    trucks = numbered("truck", len(cities))
    city_of: dict[str, str] = {}
    for city in cities:
        for _ in range(chance.randint(1, 2)):
            city_of[f"depot {len(city_of) + 1}"] = city
    depots = list(city_of)
    city_of.update(zip(airports, cities, strict=True))
    places = list(city_of)
    planes = numbered("airplane", chance.randint(1, 2))
    packages = numbered(thing, count)
    starts = {package: chance.choice(places) for package in packages}
    moving = most_of(chance, packages)
    at = []
    for truck, city in zip(trucks, cities, strict=True):
        in_city = [place for place in places if city_of[place] == city]
        at.append((truck, chance.choice(in_city)))
    for plane in planes:
        at.append((plane, chance.choice(airports)))
    targets = sent(chance, moving, starts, places)
    return Drawing(
        things={
            thing: packages,
            "truck": trucks,
            "airplane": planes,
            "place": depots,
            "airport": airports,
            "city": cities,
        },
        start=[
            *of_pairs("at", [*at, *starts.items()]),
            *of_pairs("in_city", city_of.items()),
        ],
        goal=of_pairs("at", targets),
    )
