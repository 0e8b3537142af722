"""Says in words from where the facts of each predicate are seen."""

from collections.abc import Iterator
from typing import NamedTuple

from pddlego_local.environments.explored.seen_when import seen_when
from pddlego_local.environments.explored.sight import Sight, atoms_of
from pddlego_local.environments.explored.whereabouts import Anchor
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.conditions import Atomic, Fact
from pddlego_local.pddl.state import Task


class Visibility(NamedTuple):
    """`rule` is a letter of sight.py, or "see". `where` says where the facts of the
    predicate are seen, and `also_for` has the actions whose preconditions show more of
    them (rule e).
    """

    predicate: str
    rule: str
    where: str
    also_for: list[str]


def visibility(world: World, task: Task, sight: Sight) -> Iterator[Visibility]:
    """Yields what is seen where, for each predicate."""
    for name, parameters in world.parameters.items():
        variables = " ".join(f"?{parameter}" for parameter in parameters)
        rule, where = _rule(world, sight, name)
        also_for = list[str]()
        if where != _ALWAYS:
            also_for = _also_for(world, task, sight, name)
        yield Visibility(
            f"({name} {variables})".replace(" )", ")"), rule, where, also_for
        )


_ALWAYS = "always"


def _rule(world: World, sight: Sight, name: str) -> tuple[str, str]:
    """Returns the letter of the default rule, and where the facts are seen."""
    parameters = world.parameters[name]
    match world.rule_of(name):
        case "see":
            condition = seen_when(world)[name].condition
            return "see", condition
        case "place":
            at = " or ".join(
                f"?{parameters[n - 1]}" for n in _positions(world, sight, name)
            )
            return "b", f"where the player is at {at}"
        case "thing":
            things = [
                f"?{parameter}"
                for number, parameter in enumerate(parameters)
                if world.located_by(name, number)
            ]
            return "d", f"where {' or '.join(things)} is"
    if name == world.here.predicate:
        return "a", _ALWAYS
    is_of_mover = name in world.held or world.names_mover(name)
    return "c" if is_of_mover else "d", _ALWAYS


def _positions(world: World, sight: Sight, name: str) -> list[int]:
    """Returns the arguments, counted from 1, at which the player sees a fact."""
    places = [
        number
        for number, _ in enumerate(world.parameters[name], start=1)
        if world.is_place(name, number - 1)
    ]
    bound = sight.bound.get(name, frozenset()).intersection(places)
    return sorted(bound) or places[:1]


def _also_for(world: World, task: Task, sight: Sight, name: str) -> list[str]:
    """Returns the actions that show facts of a predicate which its own rule does not
    show.
    """
    found = dict[str, None]()
    for schema in task.schemas:
        for anchor in sight.whereabouts.anchors(schema):
            atoms = [*atoms_of(schema.condition)]
            for atom in atoms:
                shown = _is_shown(world, sight, atom.pattern, anchor, atoms)
                if atom.pattern[0] == name and not shown:
                    found[schema.name] = None
    return [*found]


def _is_shown(
    world: World, sight: Sight, pattern: Fact, anchor: Anchor, atoms: list[Atomic]
) -> bool:
    """Returns whether a predicate's own rule shows a precondition where the action is
    carried out.
    """
    name, *terms = pattern
    if name not in world.parameters or len(terms) != len(world.parameters[name]):
        return True
    rule = world.rule_of(name)
    if rule == "place":
        return any(pattern[n] == anchor.place for n in _positions(world, sight, name))
    if rule == "thing":
        for atom in atoms:
            where = world.located.get(atom.pattern[0])
            if where is None or atom.pattern[where.place] != anchor.place:
                continue
            if atom.pattern[where.thing] in terms:
                return True
        return False
    return True
