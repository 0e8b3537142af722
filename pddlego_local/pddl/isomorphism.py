"""Decides whether two labelled graphs are the same but for the names of their nodes.

Nodes get colours, which are refined until all nodes of a colour have neighbours of the
same colours. If some nodes still share a colour, one of the first graph is paired with
each candidate of the second one in turn. For most graphs the first candidate decides.
Regular graphs may need exponentially many, so the work is counted and bounded.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from typing import NamedTuple

import networkx as nx

MOST_STEPS = 2_000_000  # neighbours looked at; about two seconds

Node = tuple[int, Hashable]
"""The number of the graph, and its node."""
Colours = Mapping[Node, int]


class Undecided(Exception):
    """The graphs are not decided within the bound."""


class _Pairing(NamedTuple):
    """Colours, and two nodes that are to get a colour of their own, None at the
    start.
    """

    colours: Colours
    pair: tuple[Node, Node] | None = None


def isomorphic(first: nx.Graph, second: nx.Graph) -> bool:
    """Returns whether the graphs with their node labels are isomorphic. Raises
    Undecided.
    """
    return _Search(first, second).succeeds()


class _Search:
    def __init__(self, *graphs: nx.Graph) -> None:
        self._neighbours: dict[Node, list[Node]] = {
            (number, node): [(number, other) for other in graph[node]]
            for number, graph in enumerate(graphs)
            for node in graph
        }
        labels: dict[object, int] = {}
        self._labels = {
            (number, node): labels.setdefault(graph.nodes[node]["label"], len(labels))
            for number, graph in enumerate(graphs)
            for node in graph
        }
        self._round = sum(map(len, self._neighbours.values())) + len(self._neighbours)
        self._steps = 0

    def succeeds(self) -> bool:
        pending = [_Pairing(self._labels)]
        while pending:
            colours, pair = pending.pop()
            if pair is not None:
                colours = {**colours, **dict.fromkeys(pair, len(self._labels))}
            refined = self._refined(colours)
            if refined is None:
                continue
            shared = self._smallest_shared(refined)
            if (
                shared is None
            ):  # each node has one counterpart, with the same neighbours
                return True
            chosen, candidates = shared
            pending += [
                _Pairing(refined, (chosen, other)) for other in reversed(candidates)
            ]
        return False

    def _refined(self, colours: Colours) -> Colours | None:
        """The stable refinement, None if the graphs differ in how many nodes have some
        colour.
        """
        count = len(set(colours.values()))
        while self._balanced(colours):
            self._steps += self._round
            if self._steps > MOST_STEPS:
                raise Undecided
            known: dict[object, int] = {}
            colours = {
                node: known.setdefault(
                    (colours[node], *sorted(colours[other] for other in others)),
                    len(known),
                )
                for node, others in self._neighbours.items()
            }
            if len(known) == count:
                return colours if self._balanced(colours) else None
            count = len(known)
        return None

    def _balanced(self, colours: Colours) -> bool:
        counts = Counter[int]()
        for (number, _), colour in colours.items():
            counts[colour] += 1 if number == 0 else -1
        return not any(counts.values())

    def _smallest_shared(self, colours: Colours) -> tuple[Node, list[Node]] | None:
        """A node of the first graph with the nodes of the second one that have its
        colour, which are as few as possible but not one alone.
        """
        sides: tuple[defaultdict[int, list[Node]], ...] = (
            defaultdict(list),
            defaultdict(list),
        )
        for node, colour in colours.items():
            sides[node[0]][colour].append(node)
        shared = [colour for colour, nodes in sides[0].items() if len(nodes) > 1]
        if not shared:
            return None
        fewest = min(shared, key=lambda colour: len(sides[0][colour]))
        return sides[0][fewest][0], sides[1][fewest]
