"""Decides whether two problems of one domain are equal up to the names of their
objects.

The definition is Planetarium's (Zuo et al., arXiv 2407.03321,
github.com/BatsResearch/planetarium): the objects and facts of a problem are the nodes
of a graph, and two problems are equivalent if their graphs are isomorphic. Before that,
the facts that follow from a goal are added to it (completion.py).
"""

from collections import Counter
from typing import Literal

import networkx as nx

from pddlego_local.pddl.completion import NONE_KNOWN, Invariants, completed
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.isomorphism import Undecided, isomorphic
from pddlego_local.pddl.reader import read
from pddlego_local.pddl.task import Domain, Problem

Verdict = Literal["equivalent", "different", "not comparable", "undecided"]
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
    neighbourhood that the comparison would take too much work (isomorphism.py). The
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
