"""What the texts of a game have shown of where things are."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import networkx


@dataclass(frozen=True)
class Chart:
    """Where everything is that was seen, by the names in the texts.

    `ways` has the actions that each way from a place to another one takes, `lying` the
    place where each thing was seen last, and `carried` what the player carries.
    `unexplored` are the places that were told of and not looked into yet, such as rooms
    behind doors and closed containers.
    """

    here: str
    ways: Mapping[tuple[str, str], int]
    lying: Mapping[str, str]
    carried: frozenset[str]
    unexplored: frozenset[str]

    @cached_property
    def _map(self) -> networkx.DiGraph:
        ways = networkx.DiGraph()
        ways.add_node(self.here)
        for (start, end), actions in self.ways.items():
            ways.add_edge(start, end, actions=actions)
        return ways

    @property
    def places(self) -> frozenset[str]:
        return frozenset(self._map)

    @property
    def seen(self) -> frozenset[str]:
        """Everything that was seen or is told of as a place."""
        return self.places | self.lying.keys() | self.carried

    def actions_from(self, start: str) -> Mapping[str, int]:
        """Returns the actions to each place that a known way leads to."""
        found: Mapping[str, int] = networkx.single_source_dijkstra_path_length(
            self._map, start, weight="actions"
        )
        return found
