"""Which games have the same map: told at reset, the same for the same house, never to
who plays.
"""

import itertools

import pytest

from pddlego_local.core.nouns import Budget, Turn
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.cooking.game import Cooking
from pddlego_local.environments.maps import OPPOSITE
from pddlego_local.environments.textworld_express.house_map import HouseMap


def walked(game: Coin, seed: int) -> tuple[object, ...]:
    """All that one sees on a walk through the whole house, which depends on the house
    alone.
    """
    known = HouseMap()
    told = [game.reset(seed).text]
    path: list[str] = []
    command = "look around"
    while True:
        known.read(Turn(command, told[-1]))
        here = known.exits[known.here]
        ways = [way for way in sorted(here) if here[way] not in known.exits]
        if not ways and not path:
            break
        if not ways:
            command = f"move {OPPOSITE[path.pop()]}"
        elif (known.here, ways[0]) in known.closed:
            command = f"open door to {ways[0]}"
        else:
            command = f"move {ways[0]}"
            path.append(ways[0])
        told.append(game.step(command).text)
    rooms = {room: sorted(ways.items()) for room, ways in known.exits.items()}
    doors = [text.count(" door") for text in told]
    return sorted(rooms.items()), doors, [" coin" in text for text in told]


@pytest.mark.parametrize(("rooms", "doors"), [(3, True), (4, False)])
def test_two_houses_have_the_same_map_if_a_walk_sees_the_same(
    rooms: int, doors: bool
) -> None:
    played, asked = Coin(rooms=rooms, doors=doors), Coin(rooms=rooms, doors=doors)
    seen = {seed: walked(played, seed) for seed in range(24)}
    maps = {}
    for seed in seen:
        asked.reset(seed)
        maps[seed] = asked.map
    for first, other in itertools.combinations(seen, 2):
        looks_the_same = seen[first] == seen[other]
        assert looks_the_same == (maps[first] == maps[other]), (first, other)
    assert len(set(maps.values())) < len(maps)


def test_a_map_is_the_games_and_nothing_that_is_played_or_shown_changes_it() -> None:
    plain = Coin(rooms=5)
    first = plain.reset(3)
    told = plain.map
    plain.step(first.commands[0])
    assert plain.map == told != ""
    assert plain.reset(3) == first and plain.map == told
    for other in (
        Coin(
            rooms=5,
            furniture=True,
            distractors=4,
            budget=Budget(unit="rounds", limit=1),
        ),
        Coin(rooms=5, fold="test"),
    ):
        other.reset(3)
        assert other.map == told
    open_house = Coin(rooms=5, doors=False)
    open_house.reset(3)
    plain.reset(4)
    assert len({told, open_house.map, plain.map}) == 3


def test_cooking_has_another_map_where_the_recipe_is_another() -> None:
    houses = {fold: Cooking(fold=fold) for fold in ("train", "test")}
    for game in houses.values():
        game.reset(1)
    assert (
        houses["train"].map != houses["test"].map
    )  # the house depends on the seed alone
    again = Cooking()
    again.reset(1)
    assert again.map == houses["train"].map
    again.reset(2)
    assert again.map != houses["train"].map
