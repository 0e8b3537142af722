"""Marks say what has been looked at, so that exploring is a goal like any other.

Each visibility condition has one mark: a predicate that no action changes, which the
model states in `:init`. The sub-goal names no object: `(exists (?x - room) (and (at ?x)
(not (visited ?x))))`. A sub-goal that named a room would be a fault under a grammar
whenever the model had not declared the room.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pddlego_local.environments.explored.phrases import a_kind
from pddlego_local.environments.explored.seen_when import HERE, SeenWhen, seen_when
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.conditions import Fact, Quantified, bindings, known_as
from pddlego_local.pddl.reader import Block, read
from pddlego_local.pddl.state import Task


@dataclass(frozen=True)
class Variable:
    name: str
    kind: str

    def __str__(self) -> str:
        return f"{self.name} - {self.kind}"


@dataclass(frozen=True)
class Mark:
    """A mark for the variables of a condition. `condition` is PDDL, and holds where the
    player sees what belongs to these things. `words` say the sub-goal.
    """

    predicate: str
    variables: Sequence[Variable]
    condition: str
    words: str

    @property
    def _declared(self) -> str:
        return " ".join(map(str, self.variables))

    @property
    def goal(self) -> str:
        """The sub-goal of looking at something that has no mark yet."""
        names = " ".join(variable.name for variable in self.variables)
        mark = f"({self.predicate} {names})" if names else f"({self.predicate})"
        unmarked = f"(and {self.condition} (not {mark}))"
        return f"(exists ({self._declared}) {unmarked})" if names else unmarked

    @property
    def declaration(self) -> str:
        return f"({f'{self.predicate} {self._declared}'.strip()})"

    def earned(self, task: Task, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Yields the facts of this mark for the things of which the condition holds."""
        condition = task.condition(f"(exists ({self._declared}) {self.condition})")
        if not isinstance(condition, Quantified):
            return
        known = known_as(facts)
        for found in bindings(condition.choices, [condition.sought], {}, known):
            yield (self.predicate, *(found[name] for name in condition.choices))


def marks_of(world: World) -> tuple[Mark, ...]:
    """Returns the marks of a world: its places, if facts are seen at places, its
    things, if facts are seen where things are, and what the author's conditions name.
    Raises ConfigError for words about a mark that does not exist.
    """
    rules = {world.rule_of(name) for name in world.predicates}
    marks = list[Mark]()
    if "place" in rules:
        marks.append(_visited(world))
    marks += [*_seen(world), *_of_author(world)]
    for name in world.file.explore:
        if name not in {mark.predicate for mark in marks}:
            known = ", ".join(mark.predicate for mark in marks)
            raise world.wrong(
                f"explore.{name}",
                f"there is no such mark; there are {known or 'none, all is seen'}",
            )
    return tuple(marks)


def _mark(
    world: World, name: str, variables: Sequence[Variable], condition: str, words: str
) -> Mark:
    """Returns a mark whose name the domain does not use, with the author's words."""
    used = {*world.predicates, *world.type_names}
    while name in used:
        name += "-before"
    return Mark(name, variables, condition, world.file.explore.get(name, words))


def _visited(world: World) -> Mark:
    (kind, *_) = sorted(world.here.place.type_names)
    words = f"be at {a_kind(kind)} where you have not been yet"
    variables = [Variable("?x", kind)]
    return _mark(world, "visited", variables, _here(world, "?x"), words)


def _seen(world: World) -> Iterator[Mark]:
    """Yields a mark for the things of each predicate that says where they are, if facts
    are seen where these things are. A thing within another one is at no place.
    """
    (place, *_) = sorted(world.here.place.type_names)
    seen_at_things = [
        name for name in world.predicates if world.rule_of(name) == "thing"
    ]
    asked = {
        located
        for name in seen_at_things
        for number, _ in enumerate(world.parameters[name])
        for located in world.located_by(name, number)
    }
    for name, where in world.located.items():
        places_player = name == world.here.predicate and world.places_movers_alone
        if name not in asked or places_player:
            continue
        parameters = world.predicates[name].parameters or []
        (kind, *_) = sorted(parameters[where.thing - 1].type_names)
        terms = ["?x", "?p"] if where.thing < where.place else ["?p", "?x"]
        condition = f"(exists (?p - {place}) (and {_here(world, '?p')}"
        condition += f" ({name} {' '.join(terms)})))"
        words = f"be where {a_kind(kind)} is that you have not seen"
        variables = [Variable("?x", kind)]
        yield _mark(world, f"seen-{kind}", variables, condition, words)


def _of_author(world: World) -> Sequence[Mark]:
    """Returns a mark for each condition of `see`. Conditions that differ only in their
    variables' names and types are one, over the widest types.
    """
    marks: dict[str, Mark] = {}
    for name, condition in seen_when(world).items():
        if condition.is_always:
            continue
        mark = _of_condition(world, name, condition)
        other = marks.get(mark.condition)
        marks[mark.condition] = _widest(world, mark, other) if other else mark
    return [*marks.values()]


def _of_condition(world: World, name: str, seen: SeenWhen) -> Mark:
    condition = seen.condition
    variables = []
    for number, entry in enumerate(seen.free, start=1):
        variable = Variable(f"?x{number}", min(entry.type_names))
        condition = _renamed(condition, entry.name, variable.name)
        variables.append(variable)
    if seen.names_here:
        place = min(world.here.place.type_names)
        at = _here(world, HERE)
        condition = f"(exists ({HERE} - {place}) (and {at} {condition}))"
    words = f"see more of what is {name}"
    return _mark(world, f"seen-{name}", variables, condition, words)


def _renamed(condition: str, name: str, new: str) -> str:
    """Returns the condition with another name for a variable."""
    words = condition.replace("(", " ( ").replace(")", " ) ").split()
    text = " ".join(new if word.lower() == name else word for word in words)
    return text.replace("( ", "(").replace(" )", ")")


def _widest(world: World, mark: Mark, other: Mark) -> Mark:
    """Returns the first of two equal marks, with the wider type of each variable."""
    wider = [
        new if world.is_below(known.kind, new.kind) else known
        for known, new in zip(other.variables, mark.variables, strict=True)
    ]
    return replace(other, variables=wider)


def _here(world: World, place: str) -> str:
    """Returns the condition that the player is at a place."""
    here = world.here
    movers = [f"?m{number}" for number in range(len(here.movers))]
    fact = f"({' '.join([here.predicate, *movers, place])})"
    if not movers:
        return fact
    typed = [
        f"{name} - {sorted(mover.type_names)[0]}"
        for name, mover in zip(movers, here.movers, strict=True)
    ]
    return f"(exists ({' '.join(typed)}) {fact})"


def with_marks(domain: str, marks: tuple[Mark, ...]) -> str:
    """Returns the text of a domain that declares the marks, too."""
    root = read(domain)
    section = next(
        (block for block in _blocks(root) if block.head == ":predicates"), None
    )
    if section is None:
        return domain
    declarations = "".join(f" {mark.declaration}" for mark in marks)
    return domain[: section.end] + declarations + domain[section.end :]


def _blocks(root: Block | None) -> list[Block]:
    return root.blocks if root else []
