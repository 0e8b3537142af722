"""The whole of a house, found by walking through it."""

import contextlib

import pytest

from pddlego_local.environments.coin.game import Coin
from pddlego_local.train.maps import houses


@pytest.mark.parametrize("rooms", [3, 7, 11])
def test_a_house_has_all_its_rooms_and_one_coin(rooms: int) -> None:
    for seed, house in houses(rooms, True, range(12)).items():
        assert len({room for room, *exit_ in house if exit_ and room != "coin"}) == rooms
        ((_, place),) = (entry for entry in house if entry[0] == "coin")
        with contextlib.closing(Coin(rooms=rooms)) as environment:
            assert environment.reset(seed).success == (place == "kitchen")


def test_small_houses_repeat_and_large_ones_do_not() -> None:
    assert len(set(houses(3, True, range(40)).values())) < 30
    assert len(set(houses(11, True, range(40)).values())) == 40
