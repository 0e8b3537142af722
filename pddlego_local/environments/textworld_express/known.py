"""The map of a house: what its texts have told, and what a problem file says."""

from collections import defaultdict
from collections.abc import Sequence

from pddlego_local.core.nouns import Turn
from pddlego_local.environments.known import Known
from pddlego_local.environments.textworld_express.house_map import OPPOSITE, HouseMap
from pddlego_local.pddl.edit import facts_as_names


def known(turns: Sequence[Turn], problem: str) -> list[Known]:
    """One line for each way out of a room; a way is written by a fact that names two places and a
    direction, whatever its predicate is called."""
    house = HouseMap()
    for turn in turns:
        house.read(turn)
    told = {
        (room, direction): place + (", door closed" if closed else "")
        for room, place, direction, closed in house.passages()
    }
    written = _written(problem)
    return [
        _beside(f"{way[0]} → {way[1]}", told.get(way, ""), "; ".join(written[way]))
        for way in dict.fromkeys([*told, *written])
    ]


def _beside(what: str, told: str, written: str) -> Known:
    return Known(what, told, written, agrees=told == written)


def _written(problem: str) -> defaultdict[tuple[str, str], list[str]]:
    """(room, direction) → the places that facts name there."""
    written: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for predicate, *terms in facts_as_names(problem):
        directions = [term for term in terms if term in OPPOSITE]
        places = [term for term in terms if term not in OPPOSITE]
        if len(directions) == 1 and len(places) == 2:
            closed = ", door closed" if "closed" in predicate else ""
            written[places[0], directions[0]].append(places[1] + closed)
    return written
