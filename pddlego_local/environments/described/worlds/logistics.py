"""Packages in cities, which trucks and airplanes carry from place to place."""

import random

from pddlego_local.environments.described.drawing import (
    Drawing,
    Words,
    most_of,
    numbered,
    other,
)


def draw(chance: random.Random, count: int, _words: Words) -> Drawing:
    """Draws two or three cities, each with an airport, one or two other places and a
    truck, and one or two airplanes. Two thirds of the packages, and at least one, have
    to go to another place.
    """
    cities = numbered("city", chance.randint(2, 3))
    airports = {
        city: f"airport {number}" for number, city in enumerate(cities, start=1)
    }
    places: dict[str, str] = {}
    for city in cities:
        for _ in range(chance.randint(1, 2)):
            places[f"depot {len(places) + 1}"] = city
    where = {**places, **{airport: city for city, airport in airports.items()}}
    trucks = [(f"truck {number}", city) for number, city in enumerate(cities, start=1)]
    planes = numbered("airplane", chance.randint(1, 2))
    packages = numbered("package", count)
    starts = {package: chance.choice(list(where)) for package in packages}
    sent = most_of(chance, packages)
    at = [
        *(
            (truck, chance.choice([p for p in where if where[p] == c]))
            for truck, c in trucks
        ),
        *((plane, chance.choice(list(airports.values()))) for plane in planes),
        *starts.items(),
    ]
    return Drawing(
        {
            "package": packages,
            "truck": [truck for truck, _ in trucks],
            "airplane": planes,
            "place": list(places),
            "airport": list(airports.values()),
            "city": cities,
        },
        [("at", *pair) for pair in at] + [("in_city", *pair) for pair in where.items()],
        [
            ("at", package, other(chance, list(where), starts[package]))
            for package in sent
        ],
    )
