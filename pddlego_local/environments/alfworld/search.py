"""Where to look next in an ALFWorld room. The order of the search is data (search.yaml).

One order for all that is sought. Orders of its own for every class of objects ("an egg is in the
fridge") were tried on 140 real games and were no better: things lie anywhere.
"""

from collections.abc import Mapping

from pddlego_local.environments import family
from pddlego_local.environments.alfworld.room_map import RoomMap, class_of, of_class

ORDER: dict[str, int] = {
    name: rank for rank, name in enumerate(family.words(__package__, "search.yaml")["order"])
}


def next_place(room: RoomMap, sought: str, order: Mapping[str, int] = ORDER) -> str:
    """The best place not looked into yet, for a class of objects or of receptacles; "" if none.

    `order` ranks classes of receptacles; those that it does not name come in the order of the first
    observation. What is closed right here comes first: opening it is one action. What shares this
    spot comes last: the player has to leave and come back to see it.
    """

    def rank(place: str) -> tuple[bool, bool, int]:
        return (
            not (place == room.here and place in room.closed),
            room.beside(room.here, place),
            order.get(class_of(place), len(order)),
        )

    unexplored = room.unexplored()
    return min(of_class(sought, unexplored) or unexplored, key=rank, default="")
