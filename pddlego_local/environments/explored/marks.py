"""Marks say what has been looked at, so that exploring is a goal like any other.

Each visibility condition has one mark: a predicate that no action changes, which the
model states in `:init`. The sub-goal names no object: `(exists (?x - room) (and (at ?x)
(not (visited ?x))))`. A sub-goal that named a room would be a fault under a grammar
whenever the model had not declared the room.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.reader import Block, read


@dataclass(frozen=True)
class Mark:
    """A mark. `condition` is PDDL over ?x: the player is where ?x can be seen. `words`
    say the sub-goal. `located` is the predicate that says where ?x is, "" if ?x is a
    place.
    """

    predicate: str
    kind: str
    condition: str
    words: str
    located: str = ""

    @property
    def goal(self) -> str:
        """The sub-goal of looking at something that has no mark yet."""
        unmarked = f"(and {self.condition} (not ({self.predicate} ?x)))"
        return f"(exists (?x - {self.kind}) {unmarked})"

    @property
    def declaration(self) -> str:
        return f"({self.predicate} ?x - {self.kind})"


def marks_of(world: World) -> tuple[Mark, ...]:
    """Returns the marks of a world: its places, if facts are seen at places, and its
    things, if facts are seen where things are.
    """
    rules = {world.rule_of(name) for name in world.predicates}
    marks = []
    if "place" in rules:
        marks.append(_visited(world))
    if "thing" in rules:
        marks += _seen(world)
    return tuple(marks)


def _visited(world: World) -> Mark:
    (kind, *_) = sorted(world.here.place.type_names)
    name = _free(world, "visited")
    words = world.file.explore.get(
        "visited", f"be at a {kind} where you have not been yet"
    )
    return Mark(name, kind, _here(world, "?x"), words)


def _seen(world: World) -> Iterator[Mark]:
    """Yields a mark for the things of each predicate that says where they are."""
    (place, *_) = sorted(world.here.place.type_names)
    for name, where in world.located.items():
        if name == world.here.predicate and world.places_movers_alone:
            continue
        parameters = world.predicates[name].parameters or []
        (kind, *_) = sorted(parameters[where.thing - 1].type_names)
        terms = ["?x", "?p"] if where.thing < where.place else ["?p", "?x"]
        condition = f"(exists (?p - {place}) (and {_here(world, '?p')}"
        condition += f" ({name} {' '.join(terms)})))"
        mark = f"seen-{kind}"
        words = world.file.explore.get(
            mark, f"be where a {kind} is that you have not seen"
        )
        yield Mark(_free(world, mark), kind, condition, words, name)


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


def _free(world: World, name: str) -> str:
    """Returns a name that the domain does not use."""
    used = {*world.predicates, *world.type_names}
    while name in used:
        name += "-before"
    return name


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
