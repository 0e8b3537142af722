"""Decides whether two problems of one domain are equal up to the names of their
objects.

The definition is Planetarium's (Zuo et al., arXiv 2407.03321,
github.com/BatsResearch/planetarium): the objects and facts of a problem are a graph,
and two problems are equivalent if their graphs are isomorphic. Before that, the facts
that follow from a goal are added to it (completion.py). Two problems that are
equivalent only without their idle objects, those that stand in no fact, have a verdict
of their own.

Objects get colours, which are refined until all objects of a colour have their places
in facts with objects of the same colours. If some objects still share a colour, one of
the first problem is paired with each candidate of the second one in turn. For most
problems the first candidate decides. Regular graphs may need exponentially many, so the
work is counted and bounded.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pddlego_local.pddl.completion import NONE_KNOWN, Invariants, completed
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import read
from pddlego_local.pddl.task import Domain, Problem

MOST_STEPS = 2_000_000  # objects in facts looked at; about two seconds

Verdict = Literal[
    "equivalent",
    "equivalent but for idle objects",
    "different",
    "not comparable",
    "undecided",
]


class _Fact(NamedTuple):
    """For example ("goal", "at", ("ball1", "room2")). The kind is "init", "goal" or
    "not goal".
    """

    kind: str
    predicate: str
    terms: tuple[str, ...]


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
    problems = read_problem(read(gold)), read_problem(read(answer))
    verdict = _compared(known, problems, invariants)
    if verdict != "different":
        return verdict
    busy = _without_idle(problems[0]), _without_idle(problems[1])
    if _compared(known, busy, invariants) == "equivalent":
        return "equivalent but for idle objects"
    return "different"


def _compared(
    domain: Domain, problems: tuple[Problem, Problem], invariants: Invariants
) -> Verdict:
    first, second = [_structure(domain, each, invariants) for each in problems]
    if first is None or second is None:
        return "not comparable"
    if first.without_objects != second.without_objects:
        return "different"
    try:
        same = _Search(first, second).succeeds()
    except Undecided:
        return "undecided"
    return "equivalent" if same else "different"


def _without_idle(problem: Problem) -> Problem:
    """The problem without the objects that stand in no fact of it. What its goal is
    completed with depends on its objects.
    """
    goal = problem.goal.literals if problem.goal else ()
    busy = {
        term.name for literal in (*problem.init, *goal) for term in literal.atom.terms
    }
    objects = [entry for entry in problem.objects if entry.name in busy]
    return dataclasses.replace(problem, objects=objects)


@dataclass(frozen=True)
class _Structure:
    """The objects of a problem with their labels, and its facts. The label of an object
    is its type, and that of a constant its name.
    """

    labels: Mapping[str, str]
    facts: set[_Fact]

    @property
    def without_objects(self) -> set[_Fact]:
        return {fact for fact in self.facts if not fact.terms}


def _structure(
    domain: Domain, problem: Problem, invariants: Invariants
) -> _Structure | None:
    """Returns what is compared of a problem, or None if it cannot be compared."""
    facts = _facts(domain, problem, invariants)
    if facts is None:
        return None
    types = {"object", *(entry.name for entry in domain.types)}
    labels = {}
    for entry in problem.objects:
        if not entry.type_names <= types:
            return None
        labels[entry.name] = " ".join(sorted(entry.type_names))
    for entry in domain.constants:
        labels[entry.name] = f"constant {entry.name}"
    for fact in facts:
        if not labels.keys() >= set(fact.terms):
            return None
    return _Structure(labels, facts)


def _facts(
    domain: Domain, problem: Problem, invariants: Invariants
) -> set[_Fact] | None:
    """The facts of a problem with its completed goal, or None if a predicate is not
    declared or the goal is not a conjunction of literals.
    """
    goal = problem.goal
    if goal is None or not goal.plain or not problem.whole or problem.unreadable:
        return None
    init = {fact.atom.key for fact in problem.init if not fact.negated}
    wanted = {literal.atom.key for literal in goal.literals if not literal.negated}
    unwanted = {literal.atom.key for literal in goal.literals if literal.negated}
    declared = set()
    for predicate in domain.predicates or ():
        declared.add((predicate.word.name, len(predicate.parameters or ())))
    for name, *terms in init | wanted | unwanted:
        if (name, len(terms)) not in declared:
            return None
    completed_goal = completed(wanted, init, domain, problem, invariants)
    kinds = {"init": init, "goal": completed_goal, "not goal": unwanted}
    facts = set()
    for kind, keys in kinds.items():
        for name, *terms in keys:
            facts.add(_Fact(kind, name, tuple(terms)))
    return facts


class _Object(NamedTuple):
    """An object of the first problem, or of the second one."""

    is_first: bool
    name: str


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
        self._labels: dict[_Object, int] = {}  # their first colours
        numbers: dict[str, int] = {}
        for is_first, structure in ((True, first), (False, second)):
            for name, label in structure.labels.items():
                own = _Object(is_first, name)
                self._places[own] = []
                self._labels[own] = numbers.setdefault(label, len(numbers))
            for kind, predicate, terms in structure.facts:
                objects = tuple(_Object(is_first, term) for term in terms)
                for position, thing in enumerate(objects):
                    place = _Place(f"{kind} {predicate} {position}", objects)
                    self._places[thing].append(place)
        self._round = len(self._labels)  # the steps of one round of refinement
        for places in self._places.values():
            self._round += sum(len(place.objects) for place in places)
        self._steps = 0

    def succeeds(self) -> bool:
        """Raises Undecided."""
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
            others = []
            for other, colour in refined.items():
                if not other.is_first and colour == refined[chosen]:
                    others.append(other)
            for other in reversed(others):
                pending.append(_Pairing(refined, (chosen, other)))
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
            for thing, places in self._places.items():
                around = []
                for place in places:
                    of_objects = [colours[other] for other in place.objects]
                    around.append((place.label, *of_objects))
                kind = (colours[thing], *sorted(around))
                refined[thing] = known.setdefault(kind, len(known))
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
        counts = Counter(colours[thing] for thing in colours if thing.is_first)

        def is_shared(thing: _Object) -> bool:
            return counts[colours[thing]] > 1

        tied = []
        for thing, places in self._places.items():
            if thing.is_first and is_shared(thing):
                others = {other for place in places for other in place.objects}
                if any(map(is_shared, others - {thing})):
                    tied.append(thing)
        return min(tied, key=lambda thing: counts[colours[thing]], default=None)


def _balanced(colours: _Colours) -> bool:
    """Whether both problems have equally many objects of each colour."""
    counts = Counter[int]()
    for thing, colour in colours.items():
        counts[colour] += 1 if thing.is_first else -1
    return not any(counts.values())
