"""Decides whether two problems of one domain are equal up to the names of their
objects.

The definition is Planetarium's (Zuo et al., arXiv 2407.03321,
github.com/BatsResearch/planetarium): the objects and facts of a problem are the nodes
of a graph, and two problems are equivalent if their graphs are isomorphic. Before that,
the facts that follow from a goal are added to it (completion.py).

Nodes get colours, which are refined until all nodes of a colour have neighbours of the
same colours. If some nodes still share a colour, one of the first graph is paired with
each candidate of the second one in turn. For most graphs the first candidate decides.
Regular graphs may need exponentially many, so the work is counted and bounded.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from typing import Literal, NamedTuple

import networkx as nx

from pddlego_local.pddl.completion import NONE_KNOWN, Invariants, completed
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import read
from pddlego_local.pddl.task import Domain, Problem

Verdict = Literal["equivalent", "different", "not comparable", "undecided"]
MOST_STEPS = 2_000_000  # neighbours looked at; about two seconds

Node = tuple[int, Hashable]
"""The number of the graph, and its node."""
Colours = Mapping[Node, int]
_ROUNDS = 8
"""Rounds of colour refinement before the search. They separate objects that differ
nearby.
"""

_Fact = tuple[str, tuple[str, ...]]
"""For example ("goal", ("at", "ball1", "room2")). The kind is "init", "goal" or "not
goal".
"""


def compare(
    domain: str, gold: str, answer: str, invariants: Invariants = NONE_KNOWN
) -> Verdict:
    """Compares two PDDL problems of the PDDL `domain`, which has these invariants.

    They are "not comparable" if one of them cannot be read, has predicates or types
    that are not in the domain, has names that are not declared, or has a goal that is
    not a conjunction of literals. They are "undecided" if they look so alike in every
    neighbourhood that the comparison would take too much work. The
    work is counted, so that the verdict is the same on every machine.
    """
    known = read_domain(read(domain))
    first, second = (
        _graph(known, read_problem(read(text)), invariants) for text in (gold, answer)
    )
    if first is None or second is None:
        return "not comparable"
    try:
        same = first.graph == second.graph and isomorphic(first, second)
    except Undecided:
        return "undecided"
    return "equivalent" if same else "different"


def _graph(domain: Domain, problem: Problem, invariants: Invariants) -> nx.Graph | None:
    """Returns the labelled graph of a problem, or None if the problem cannot be
    compared.

    There is a node for each object (labelled with its type), constant (its name), fact
    (its predicate, and whether it is initial or a goal) and argument (its position).
    Each argument has edges to its fact and its object.

    Objects with equal labels are interchangeable if all other objects in their facts
    have unique labels. A search might try all their orders, so the graph has only the
    number of each label.
    """
    facts, graph = _facts(domain, problem, invariants), nx.Graph()
    types = {"object", *(entry.name for entry in domain.types)}
    labels = {
        entry.name: " ".join(sorted(entry.type_names)) for entry in problem.objects
    }
    if facts is None or any(entry.type_names - types for entry in problem.objects):
        return None
    labels |= {entry.name: f"constant {entry.name}" for entry in domain.constants}
    graph.add_nodes_from((name, {"label": label}) for name, label in labels.items())
    for fact in facts:
        kind, (predicate, *terms) = fact
        graph.add_node(fact, label=f"{kind} ({predicate})")
        for position, term in enumerate(terms):
            if term not in labels:
                return None
            graph.add_node((fact, position), label=f"argument ({position})")
            graph.add_edges_from([(fact, (fact, position)), ((fact, position), term)])
    hashes = nx.weisfeiler_lehman_subgraph_hashes(
        graph, node_attr="label", iterations=_ROUNDS
    )
    for node, refined in hashes.items():
        graph.nodes[node]["label"] += f" {refined[-1]}"
    early = {
        name: hashes[name][_ROUNDS // 2 - 1] for name in labels
    }  # labels tell neighbours
    counts = Counter(early.values())
    alone = {name for name, kind in early.items() if counts[kind] == 1}
    tied = {
        name for _, (_, *terms) in facts for name in terms if {*terms} - {name} - alone
    }
    twins = labels.keys() - alone - tied
    graph.graph["twins"] = sorted(graph.nodes[name]["label"] for name in twins)
    graph.remove_nodes_from(twins)
    return graph


def _facts(
    domain: Domain, problem: Problem, invariants: Invariants
) -> set[_Fact] | None:
    goal = problem.goal
    if goal is None or not goal.plain or not problem.whole or problem.unreadable:
        return None
    init = {fact.atom.key for fact in problem.init if not fact.negated}
    wanted, unwanted = (
        {g.atom.key for g in goal.literals if g.negated == no} for no in (0, 1)
    )
    known = {
        (each.word.name, len(each.parameters or ())) for each in domain.predicates or ()
    }
    if any((key[0], len(key) - 1) not in known for key in init | wanted | unwanted):
        return None
    wanted = completed(wanted, init, domain, problem, invariants)
    kinds = {"init": init, "goal": wanted, "not goal": unwanted}
    return {(kind, key) for kind, keys in kinds.items() for key in keys}


# ---- Isomorphism


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
