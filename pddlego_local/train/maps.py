"""Whether two games are the same house: rooms, exits, closed doors, and where the coin lies."""

import contextlib
from collections import deque
from collections.abc import Iterable

from pddlego_local.core import Turn
from pddlego_local.environments.coin.game import Coin
from pddlego_local.environments.textworld_express.house_map import OPPOSITE, HouseMap

House = frozenset[tuple[str, ...]]


def house(environment: Coin, seed: int) -> House:
    """All exits as (room, direction, room beyond, "door" or ""), and ("coin", room)."""
    map_, first = HouseMap(), environment.reset(seed)
    turns = deque([Turn("look around", first.text)])
    coins, doors = set[tuple[str, ...]](), set[tuple[str, str]]()
    path: list[str] = []
    done: set[str] = set()

    def see(command: str) -> None:
        seen = environment.step(command)
        map_.read(Turn(command, seen.text))
        doors.update(map_.closed)
        if seen.success:
            coins.add(("coin", map_.here))

    map_.read(turns[0])
    doors.update(map_.closed)
    if first.success:
        coins.add(("coin", map_.here))
    while True:
        done.add(map_.here)
        way = next(
            (
                direction
                for direction, beyond in map_.exits[map_.here].items()
                if beyond is None or beyond not in done
            ),
            None,
        )
        if way is None:
            if not path:
                break
            see(f"move {OPPOSITE[path.pop()]}")
            continue
        if (map_.here, way) in map_.closed:
            see(f"open door to {way}")
        if map_.exits[map_.here][way] not in done:
            see(f"move {way}")
            path.append(way)
    passages = {
        (room, way, str(beyond), "door" * ((room, way) in doors))
        for room, exits in map_.exits.items()
        for way, beyond in exits.items()
    }
    return frozenset(passages | coins)


def houses(rooms: int, doors: bool, seeds: Iterable[int]) -> dict[int, House]:
    with contextlib.closing(Coin(rooms=rooms, doors=doors)) as environment:
        return {seed: house(environment, seed) for seed in seeds}
