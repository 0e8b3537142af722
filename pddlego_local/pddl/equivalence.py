"""Decides whether two problems of one domain are equal up to the names of their
objects.

The definition is Planetarium's (Zuo et al., arXiv 2407.03321,
github.com/BatsResearch/planetarium): the objects and facts of a problem are a graph,
and two problems are equivalent if their graphs are isomorphic. Before that, the facts
that follow from a goal are added to it (completion.py).

Objects get colours, which are refined until all objects of a colour have their places
in facts with objects of the same colours. If some objects still share a colour, one of
the first problem is paired with each candidate of the second one in turn. For most
problems the first candidate decides. Regular graphs may need exponentially many, so the
work is counted and bounded.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pddlego_local.pddl.completion import NONE_KNOWN, Invariants, completed
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import read
from pddlego_local.pddl.task import Domain, Problem

MOST_STEPS = 2_000_000  # objects in facts looked at; about two seconds

Verdict = Literal["equivalent", "different", "not comparable", "undecided"]
_Fact = tuple[str, tuple[str, ...]]
"""For example ("goal", ("at", "ball1", "room2")). The kind is "init", "goal" or "not
goal".
"""


class Undecided(Exception):
    """The problems are not decided within the bound."""


def compare(
    domain: str, gold: str, answer: str, invariants: Invariants = NONE_KNOWN
) -> Verdict:
    """Compares two PDDL problems of the PDDL `domain`, which has these invariants.

    They are "not comparable" if one of them cannot be read, has predicates or types
    that are not in the domain, has names that are not declared, or has a goal that is
    not a conjunction of literals. They are "undecided" if they look so alike in every
    neighbourhood that the comparison would take too much work. The work is counted, so
    that the verdict is the same on every machine.
    """
    known = read_domain(read(domain))
    first, second = (
        _structure(known, read_problem(read(text)), invariants)
        for text in (gold, answer)
    )
    if first is None or second is None:
        return "not comparable"
    try:
        same = _Search(first, second).succeeds()
    except Undecided:
        return "undecided"
    return "equivalent" if same else "different"


@dataclass(frozen=True)
class _Structure:
    """The objects of a problem with their labels, and its facts. The label of an object
    is its type, and that of a constant its name.
    """

    labels: Mapping[str, str]
    facts: set[_Fact]


def _structure(
    domain: Domain, problem: Problem, invariants: Invariants
) -> _Structure | None:
    """Returns what is compared of a problem, or None if it cannot be compared."""
    facts = _facts(domain, problem, invariants)
    types = {"object", *(entry.name for entry in domain.types)}
    if facts is None or any(entry.type_names - types for entry in problem.objects):
        return None
    labels = {
        entry.name: " ".join(sorted(entry.type_names)) for entry in problem.objects
    }
    for entry in domain.constants:
        labels[entry.name] = f"constant {entry.name}"
    used = {term for _, (_, *terms) in facts for term in terms}
    return _Structure(labels, facts) if used <= labels.keys() else None


def _facts(
    domain: Domain, problem: Problem, invariants: Invariants
) -> set[_Fact] | None:
    goal = problem.goal
    if goal is None or not goal.plain or not problem.whole or problem.unreadable:
        return None
    init = {fact.atom.key for fact in problem.init if not fact.negated}
    wanted = {literal.atom.key for literal in goal.literals if not literal.negated}
    unwanted = {literal.atom.key for literal in goal.literals if literal.negated}
    declared = {
        (predicate.word.name, len(predicate.parameters or ()))
        for predicate in domain.predicates or ()
    }
    if any((key[0], len(key) - 1) not in declared for key in init | wanted | unwanted):
        return None
    wanted = completed(wanted, init, domain, problem, invariants)
    kinds = {"init": init, "goal": wanted, "not goal": unwanted}
    return {(kind, key) for kind, keys in kinds.items() for key in keys}


_Object = tuple[int, str]
"""The number of the problem, and the name of its object."""
_Colours = Mapping[_Object, int]


class _Place(NamedTuple):
    """The place of an object in a fact."""

    label: str
    objects: tuple[_Object, ...]


class _Pairing(NamedTuple):
    """Colours, and two objects that are to get a colour of their own, () at the
    start.
    """

    colours: _Colours
    pair: tuple[_Object, ...] = ()


class _Search:
    """The search for a renaming of the objects that makes two problems equal."""

    def __init__(self, first: _Structure, second: _Structure) -> None:
        self._places: dict[_Object, list[_Place]] = {}
        self._without_objects: list[set[_Fact]] = []
        numbers: dict[str, int] = {}
        colours = {}
        for side, structure in enumerate((first, second)):
            for name, label in structure.labels.items():
                self._places[side, name] = []
                colours[side, name] = numbers.setdefault(label, len(numbers))
            bare = {fact for fact in structure.facts if len(fact[1]) == 1}
            self._without_objects.append(bare)
            for kind, (predicate, *terms) in structure.facts:
                objects = tuple((side, term) for term in terms)
                for position, each in enumerate(objects):
                    place = _Place(f"{kind} {predicate} {position}", objects)
                    self._places[each].append(place)
        self._labels: _Colours = colours
        self._round = len(colours)  # the steps of one round of refinement
        for places in self._places.values():
            self._round += sum(len(place.objects) for place in places)
        self._steps = 0

    def succeeds(self) -> bool:
        """Raises Undecided."""
        if self._without_objects[0] != self._without_objects[1]:
            return False
        pending = [_Pairing(self._labels)]
        while pending:
            colours, pair = pending.pop()
            own = dict.fromkeys(pair, len(self._labels))
            refined = self._refined({**colours, **own})
            if refined is None:
                continue
            chosen = self._chosen(refined)
            if chosen is None:
                return True
            others = [
                other
                for other, colour in refined.items()
                if other[0] == 1 and colour == refined[chosen]
            ]
            pending += [_Pairing(refined, (chosen, other)) for other in others[::-1]]
        return False

    def _refined(self, colours: _Colours) -> _Colours | None:
        """The stable refinement, None if the problems differ in how many objects have
        some colour.
        """
        count = len(set(colours.values()))
        while _balanced(colours):
            self._steps += self._round
            if self._steps > MOST_STEPS:
                raise Undecided
            known: dict[object, int] = {}
            refined = {}
            for each, places in self._places.items():
                around = [
                    (place.label, *(colours[other] for other in place.objects))
                    for place in places
                ]
                kind = (colours[each], *sorted(around))
                refined[each] = known.setdefault(kind, len(known))
            colours = refined
            if len(known) == count:
                return colours if _balanced(colours) else None
            count = len(known)
        return None

    def _chosen(self, colours: _Colours) -> _Object | None:
        """An object of the first problem that shares its colour with as few others as
        possible; None if every pairing of equal colours is right.

        Objects of one colour are interchangeable if all other objects in their facts
        have a colour of their own. A search might try all their orders.
        """
        counts = Counter(colours[each] for each in colours if each[0] == 0)
        tied = []
        for each, places in self._places.items():
            others = {other for place in places for other in place.objects} - {each}
            shares = each[0] == 0 and counts[colours[each]] > 1
            if shares and any(counts[colours[other]] > 1 for other in others):
                tied.append(each)
        return min(tied, key=lambda each: counts[colours[each]], default=None)


def _balanced(colours: _Colours) -> bool:
    counts = Counter[int]()
    for (side, _), colour in colours.items():
        counts[colour] += 1 if side == 0 else -1
    return not any(counts.values())
