"""Reads a domain and a problem into a graph that can be drawn.

Everything follows from arity and types, so that a domain that a model wrote is read,
too. Only two kinds of words are known: the directions of a compass, and those of doors.
The player is found by the form of the actions: its predicate is one that no action
changes except by moving it from one object to another, as in `(not (at ?from)) (at
?to)`. Where the record says which words of the environment mean the player, doors and
places, these come first.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from pddlego_local.core.nouns import TrueState
from pddlego_local.core.record.states import NOTHING, predicates_of
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import read, tidy
from pddlego_local.pddl.task import ActionDefinition, Domain

COMPASS: Mapping[str, tuple[int, int]] = {
    "north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0),
    "northeast": (1, -1), "northwest": (-1, -1),
    "southeast": (1, 1), "southwest": (-1, 1),
}  # fmt: skip
DOOR_WORDS = ("door", "gate", "closed", "locked")
MOST_NODES = 60  # of one drawing; the rest is counted

Predicate = tuple[str, int]
"""A predicate's name and its arity."""


@dataclass(frozen=True)
class World:
    """Objects with their types, facts, and the facts that the goal asks for.
    `goal_text` is the goal as written. `here` are the predicates that say where the
    player is, in their last term, and `doors` those of closed doors. `places` are the
    objects known as places. `declared` are the predicates of the domain. `left_out` is
    the number of objects that a part of a world lacks.
    """

    objects: Mapping[str, str] = field(default_factory=dict)
    facts: frozenset[Fact] = frozenset()
    goal: frozenset[Fact] = frozenset()
    goal_text: str = ""
    here: frozenset[Predicate] = frozenset()
    doors: frozenset[Predicate] = frozenset()
    places: frozenset[str] = frozenset()
    declared: frozenset[Predicate] = frozenset()
    left_out: int = 0

    @cached_property
    def directions(self) -> frozenset[str]:
        """The objects that are directions: they are no nodes, but say where nodes
        lie.
        """
        kinds = {self.objects[name] for name in self.objects if name in COMPASS}
        return frozenset(
            name
            for name, kind in self.objects.items()
            if name in COMPASS or (kind in kinds and kind != "object")
        )

    def terms(self, fact: Fact) -> list[str]:
        """Returns the objects of a fact that are no directions."""
        return [name for name in fact[1:] if name not in self.directions]

    def direction(self, fact: Fact) -> str:
        """Returns the direction in a fact about two objects, "" if there is none."""
        named = [name for name in fact[1:] if name in COMPASS]
        return named[0] if len(named) == 1 and len(self.terms(fact)) == 2 else ""

    @cached_property
    def of_the_player(self) -> frozenset[Fact]:
        """The facts that say where the player is."""
        return frozenset(fact for fact in self.facts if predicate_of(fact) in self.here)

    @cached_property
    def standing(self) -> frozenset[str]:
        """The objects where the player is."""
        return frozenset(fact[-1] for fact in self.of_the_player)

    @cached_property
    def box_of(self) -> Mapping[str, str]:
        """The box in which each object is drawn: its own or that of another object. A
        player is drawn where it is. A thing is drawn in the place that it has to do
        with, such as a mug in a cabinet. Where no places are known, something that has
        to do with one object of another type alone is drawn in its box.
        """
        inside = {
            name: fact[-1] for fact in sorted(self.of_the_player) for name in fact[1:-1]
        }
        found = self._in_places() if self.places else self._by_types()
        inside = {**found, **inside}
        return {name: _end(name, inside) for name in self.objects}

    def _in_places(self) -> dict[str, str]:
        """Returns the holder of each thing: the only place that ends a fact which
        begins with the thing, otherwise the only other object.
        """
        holders = defaultdict[str, set[str]](set)
        for fact in self.facts - self.of_the_player:
            terms = self.terms(fact)
            if len(terms) == 2 and terms[0] not in self.places | {terms[1]}:
                holders[terms[0]].add(terms[1])
        found = {}
        for name, all_of in holders.items():
            candidates = all_of & self.places or all_of
            if len(candidates) == 1:
                (found[name],) = candidates
        return found

    def _by_types(self) -> dict[str, str]:
        """Of two objects that have to do with each other alone, the one that a fact
        names last is the box.
        """
        inside: dict[str, str] = {}
        partners = defaultdict[str, set[str]](set)
        joined = set[str]()  # by a direction
        last = set[str]()
        for fact in self.facts - self.of_the_player:
            terms = self.terms(fact)
            for name in terms:
                partners[name].update(terms)
            last.update(terms[1:][-1:])
            if self.direction(fact):
                joined.update(terms)
        for name in sorted(partners, key=lambda name: (name in last, name)):
            others = partners[name] - {name}
            if len(others) != 1 or name in joined | self.standing:
                continue
            (holder,) = others
            is_mutual = inside.get(holder) == name
            if not is_mutual and self._type(holder) != self._type(name):
                inside[name] = holder
        return inside

    def _type(self, name: str) -> str:
        return self.objects.get(name, "object")

    @cached_property
    def boxes(self) -> list[str]:
        """The objects with a box of their own. One that is in no fact has none."""
        named = {name for fact in self.facts | self.goal for name in self.terms(fact)}
        return [
            name for name in self.objects if name in named and self.box_of[name] == name
        ]

    @cached_property
    def rows(self) -> Mapping[str, list[str]]:
        """The other objects that are drawn in each box."""
        rows = defaultdict[str, list[str]](list)
        for name, box in self.box_of.items():
            if box != name:
                rows[box].append(name)
        return rows

    def is_door(self, fact: Fact) -> bool:
        if predicate_of(fact) in self.doors:
            return True
        return "open" not in fact[0] and any(word in fact[0] for word in DOOR_WORDS)

    @cached_property
    def implied(self) -> str:
        """The predicate that every object which is drawn in another one's box has with
        it, such as `in`: the drawing says it. "" if there are several.
        """
        words = {
            fact[0]
            for fact in self.facts - self.of_the_player
            if len(terms := self.terms(fact)) == 2 and self._is_inside(*terms)
        }
        return min(words) if len(words) == 1 else ""

    def _is_inside(self, first: str, second: str) -> bool:
        boxes = {self.box_of.get(name, name) for name in (first, second)}
        return first != second and len(boxes) == 1 and bool(boxes & {first, second})

    def words(self, thing: str, facts: Iterable[Fact]) -> str:
        """Returns facts about an object in another one's box, without its own name, the
        box, and the predicate that the drawing says.
        """
        said = {thing, self.box_of[thing]}
        words = list[str]()
        for fact in facts:
            others = [name for name in self.terms(fact) if name not in said]
            if others or fact[0] != self.implied:
                words += [fact[0], *others]
        return " ".join(words)

    @cached_property
    def plain_ways(self) -> frozenset[str]:
        """The predicates between places that need no word: the only one of doors, and
        the only one of other ways.
        """
        facts = [
            fact
            for fact in self.facts
            if len(terms := self.terms(fact)) == 2 and self.places.issuperset(terms)
        ]
        doors = {fact[0] for fact in facts if self.is_door(fact)}
        ways = {fact[0] for fact in facts} - doors
        return frozenset().union(*(words for words in (doors, ways) if len(words) == 1))

    def about(self, name: str, facts: Iterable[Fact]) -> list[Fact]:
        """Returns the facts that are written beside an object: those about it alone,
        and those within its box of which it is the object that is not the box.
        """
        found = []
        for fact in sorted(facts):
            terms = self.terms(fact)
            boxes = {self.box_of.get(term, term) for term in terms}
            if not terms or len(boxes) > 1:
                continue
            inner = [term for term in terms if self.box_of.get(term) != term]
            if (inner or terms)[0] == name:
                found.append(fact)
        return found

    def between(self, facts: Iterable[Fact]) -> dict[tuple[str, str], list[Fact]]:
        """Returns the facts about objects in two boxes, by these boxes."""
        found = defaultdict[tuple[str, str], list[Fact]](list)
        for fact in sorted(facts):
            boxes = [self.box_of.get(name, name) for name in self.terms(fact)]
            others = [box for box in boxes if box != boxes[0]]
            if others:
                found[boxes[0], others[0]].append(fact)
        return found

    @cached_property
    def alone(self) -> list[Fact]:
        """The facts without an object, such as ("hands-full",)."""
        return sorted(fact for fact in self.facts if not self.terms(fact))

    def with_roles(self, true: TrueState) -> "World":
        """Returns the world with what the environment says of its words. Its player
        counts where a fact has the word, and its places by their names, and then all
        objects that the world gives the same types.
        """
        player = predicates_of(true.roles.get("player", ()))
        has_player = any(predicate_of(fact) in player for fact in self.facts)
        kinds = true.roles.get("places", ())
        named = {name for name, kind in true.objects.items() if kind in kinds}
        own_kinds = {self.objects[name] for name in named & self.objects.keys()}
        own_kinds.discard("object")
        return replace(
            self,
            here=player if has_player else self.here,
            doors=predicates_of(true.roles.get("doors", ())),
            places=frozenset(
                name
                for name, kind in self.objects.items()
                if name in named or kind in own_kinds
            ),
        )

    def part(self, most: int = MOST_NODES) -> "World":
        """Returns the part around the player with at most so many boxes."""
        if len(self.boxes) <= most:
            return self
        near = set(list(self._nearest())[:most])
        kept = {
            name: kind
            for name, kind in self.objects.items()
            if name in self.directions or self.box_of[name] in near
        }
        return replace(
            self,
            objects=kept,
            facts=_within(kept, self.facts),
            goal=_within(kept, self.goal),
            left_out=len(self.objects) - len(kept),
        )

    def _nearest(self) -> Iterator[str]:
        """Yields the boxes, the nearest to the player first; then the unconnected."""
        beside = defaultdict[str, list[str]](list)
        for a, b in self.between(self.facts):
            beside[a].append(b)
            beside[b].append(a)
        reached = dict[str, None]()
        asked = {self.box_of.get(n, n) for fact in self.goal for n in self.terms(fact)}
        for start in (*sorted(self.standing), *sorted(asked), *self.boxes):
            pending = deque([start])
            while pending:
                box = pending.popleft()
                if box not in reached:
                    reached[box] = None
                    pending += beside[box]
        known = set(self.boxes)
        return (box for box in reached if box in known)


def _end(name: str, inside: Mapping[str, str]) -> str:
    """Follows `inside` from a name to its box. A circle ends where it began."""
    passed = {name}
    box = name
    while box in inside and inside[box] not in passed:
        box = inside[box]
        passed.add(box)
    return box


def _within(objects: Collection[str], facts: Iterable[Fact]) -> frozenset[Fact]:
    return frozenset(fact for fact in facts if all(n in objects for n in fact[1:]))


def read_world(domain: str, problem: str, true: TrueState = NOTHING) -> World:
    """Reads two files, which may have any faults: what cannot be read is left out.
    `true` says what the environment's words mean.
    """
    try:
        return _read(domain, problem).with_roles(true)
    except (ValueError, RecursionError):
        return World()


def predicate_of(fact: Fact) -> Predicate:
    return fact[0], len(fact) - 1


def _read(domain: str, problem: str) -> World:
    read_of_domain = read_domain(read(domain, recover=True))
    read_of_problem = read_problem(read(problem, recover=True))
    objects = {
        entry.name: min(entry.type_names)
        for entry in (*read_of_domain.constants, *read_of_problem.objects)
    }
    facts = {
        literal.atom.key for literal in read_of_problem.init if not literal.negated
    }
    goal = read_of_problem.goal
    asked = set[Fact]()
    if goal is not None:
        for literal in goal.literals:
            ground = not any(term.name[:1] == "?" for term in literal.atom.terms)
            if ground and not literal.negated and literal.atom.predicate.name != "=":
                asked.add(literal.atom.key)
    for fact in sorted(facts | asked):
        for name in fact[1:]:
            objects.setdefault(name, "object")
    return World(
        objects=objects,
        facts=frozenset(facts),
        goal=frozenset(asked),
        goal_text=tidy(goal.block) if goal is not None else "",
        here=_of_the_player(read_of_domain),
        declared=_declared(read_of_domain),
    )


def declared(domain: str) -> frozenset[Predicate]:
    """Returns the predicates of a domain file, which may have any faults."""
    return _declared(read_domain(read(domain, recover=True)))


def _declared(domain: Domain) -> frozenset[Predicate]:
    predicates = domain.predicates or []
    return frozenset(
        (entry.word.name, len(entry.parameters or ())) for entry in predicates
    )


def _of_the_player(domain: Domain) -> frozenset[Predicate]:
    """Returns the predicates that are only ever moved from one object to another, with
    the same terms before it.
    """
    moved = set[Predicate]()
    otherwise = set[Predicate]()
    for action in domain.actions:
        for predicate, is_moved in _changes(action):
            (moved if is_moved else otherwise).add(predicate)
    return frozenset(moved - otherwise)


def _changes(action: ActionDefinition) -> Iterator[tuple[Predicate, bool]]:
    """Yields each predicate that an action changes, and whether it only moves it."""
    added = defaultdict[Predicate, list[Fact]](list)
    deleted = defaultdict[Predicate, list[Fact]](list)
    for change in action.effect.changes:
        fact = change.atom.key
        (deleted if change.negated else added)[predicate_of(fact)].append(fact)
    for predicate in {**added, **deleted}:
        if predicate[1]:
            from_ = sorted(fact[:-1] for fact in deleted[predicate])
            to = sorted(fact[:-1] for fact in added[predicate])
            yield predicate, from_ == to and len(to) == 1
