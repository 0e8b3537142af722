"""The map that a belief in a partly seen world amounts to."""

from collections.abc import Iterator

from pddlego_local.core.chart import Chart
from pddlego_local.environments.explored.belief import Belief
from pddlego_local.environments.explored.phrases import spelled
from pddlego_local.environments.explored.sight import atoms_of


def chart_of(belief: Belief) -> Chart:
    """Returns where the player is, the ways between places, and where things are.

    A fact that names two places is a way, which takes an action more if no action that
    moves the player asks for such a fact. A thing is at the place with which a fact
    names it, and carried if it was told to be held.
    """
    world = belief.world
    whereabouts = world.whereabouts(belief.task)
    places = whereabouts.all_places
    standing = whereabouts.standing(belief.facts)
    here = next(iter(standing.values()), "")
    moving = frozenset(_moving(belief))
    ways: dict[tuple[str, str], int] = {}
    lying: dict[str, str] = {}
    carried: set[str] = set()
    for fact in sorted(belief.facts):
        named = [name for name in fact[1:] if name in places]
        things = [name for name in fact[1:] if name not in places]
        if len(named) == 2:
            start, end = map(spelled, named)
            actions = 1 if fact[0] in moving else 2
            ways[start, end] = min(actions, ways.get((start, end), actions))
        elif fact[0] in whereabouts.located and not whereabouts.is_here(fact):
            lying |= {spelled(thing): spelled(named[0]) for thing in things}
        elif fact[0] in world.held:
            carried |= {spelled(thing) for thing in things}
    visited = {fact[-1] for fact in belief.marked if len(fact) == 2}
    beyond = {end for _, end in ways}
    return Chart(
        here=spelled(here),
        ways=ways,
        lying=lying,
        carried=frozenset(carried),
        unexplored=frozenset(beyond - set(map(spelled, visited))),
    )


def _moving(belief: Belief) -> Iterator[str]:
    """Yields the predicates of the facts that an action asks for which moves the
    player.
    """
    here = belief.world.here.predicate
    for schema in belief.task.schemas:
        if here in {change.pattern[0] for change in schema.changes}:
            for atom in atoms_of(schema.condition):
                if not atom.negated:
                    yield atom.pattern[0]
