"""What the player of a partly seen world sees: what is where it is, and what it needs
to know in order to act from there.

The rules are those that a domain needed: each is there because a domain failed without
it. For a fact, the first of these applies, judged in the true state:

(a) where the player is: always, if the predicate places nothing but movers
(b) a fact that names places: where the player is at one that an action's precondition
    binds to the player's place, otherwise at the first place that the fact names
(c) a fact that names a mover, and one that an action makes true of a thing while it
    takes the thing from its place (holding): always
(d) any other fact: where one of its things is; always if none of them can be anywhere

In addition, (e) a precondition of an action is seen from where the action could be
carried out, as far as facts tell that no action changes, or that say where a thing is.

The author's conditions (`see`) replace all of this for their predicates.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pddlego_local.environments.explored.seen_when import HERE, seen_when
from pddlego_local.environments.explored.whereabouts import Whereabouts
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.conditions import (
    TRUE,
    Atomic,
    Choices,
    Condition,
    Fact,
    Junction,
    Known,
    bindings,
    conjuncts,
    known_as,
)
from pddlego_local.pddl.state import State, Task


class ActionView(NamedTuple):
    """A precondition of an action, and what must hold so that it is seen: the player is
    where the action could be carried out, and the facts that never change fit.
    """

    pattern: Fact
    choices: Choices
    conditions: Sequence[Condition]


class Sight:
    """The sight of one task. Its facts are those of the judge (pddl/state.py)."""

    def __init__(self, world: World, task: Task) -> None:
        self.whereabouts = world.whereabouts(task)
        self._parameters = world.parameters
        self._seen_when = {
            name: TRUE if seen.is_always else task.condition(seen.condition)
            for name, seen in seen_when(world).items()
        }
        self._held = world.held
        self.bound = _bound_places(task, self.whereabouts)
        self._views = _views(task, self.whereabouts)

    def seen(self, state: State) -> frozenset[Fact]:
        """Returns the facts of a state that the player sees."""
        known = known_as(state.true)
        places = self.whereabouts.places(state.true)
        return frozenset(
            fact for fact in state.true if self.is_seen(fact, known, places)
        )

    def is_seen(self, fact: Fact, known: Known, places: frozenset[str]) -> bool:
        """Returns whether the player sees whether a fact is true, from these places."""
        condition = self._seen_when.get(fact[0])
        if condition is None:
            return self._by_default(fact, known, places) or self._can_act(fact, known)
        variables = [f"?{name}" for name in self._parameters[fact[0]]]
        binding = dict(zip(variables, fact[1:], strict=True))
        return any(condition.holds({**binding, HERE: place}, known) for place in places)

    def _by_default(self, fact: Fact, known: Known, places: frozenset[str]) -> bool:
        where = self.whereabouts
        if fact[0] == where.here and where.places_movers_alone:
            return True
        in_fact = [n for n, name in enumerate(fact) if n and name in where.all_places]
        if in_fact:
            asked = self.bound.get(fact[0], frozenset()).intersection(in_fact)
            return any(fact[n] in places for n in asked or in_fact[:1])
        if fact[0] in self._held or any(name in where.movers for name in fact[1:]):
            return True
        things = [name for name in fact[1:] if where.can_be_somewhere(name)]
        if not things:
            return True
        return any(place in places for n in things for place in where.of(n, known.true))

    def _can_act(self, fact: Fact, known: Known) -> bool:
        """Returns whether a fact is a precondition of an action that could be carried
        out from where the player is.
        """
        for view in self._views.get(fact[0], ()):
            binding = _matched(view, fact)
            if binding is None:
                continue
            met = bindings(view.choices, view.conditions, binding, known)
            if next(met, None) is not None:
                return True
        return False


def _matched(view: ActionView, fact: Fact) -> dict[str, str] | None:
    """Returns the binding under which the view's precondition is the fact."""
    found: dict[str, str] = {}
    if len(view.pattern) != len(fact):
        return None
    for term, value in zip(view.pattern[1:], fact[1:], strict=True):
        if term[:1] != "?":
            fits = term == value
        else:
            fits = value in view.choices[term]
            fits = fits and found.setdefault(term, value) == value
        if not fits:
            return None
    return found


def _bound_places(task: Task, where: Whereabouts) -> dict[str, frozenset[int]]:
    """Returns, by predicate, the positions at which a precondition has the place where
    the player acts.
    """
    bound: dict[str, set[int]] = {}
    for schema in task.schemas:
        for anchor in where.anchors(schema):
            for part in atoms_of(schema.condition):
                if part in anchor.conditions:
                    continue
                for position, term in enumerate(part.pattern):
                    if position and term == anchor.place:
                        bound.setdefault(part.pattern[0], set()).add(position)
    return {name: frozenset(positions) for name, positions in bound.items()}


def _views(task: Task, where: Whereabouts) -> dict[str, list[ActionView]]:
    """Returns the views of all actions, by the predicate that is seen."""
    changing = {
        change.pattern[0] for schema in task.schemas for change in schema.changes
    }
    views: dict[str, list[ActionView]] = {}
    for schema in task.schemas:
        static = [
            part
            for part in conjuncts(schema.condition)
            if isinstance(part, Atomic) and part.pattern[0] not in changing
        ]
        placing = [
            part
            for part in conjuncts(schema.condition)
            if isinstance(part, Atomic)
            and not part.negated
            and part.pattern[0] in where.located
        ]
        for anchor in where.anchors(schema):
            for part in conjuncts(schema.condition):
                for atom, choices in _with_choices(part, schema.choices):
                    placed = [other for other in placing if other is not atom]
                    conditions = [*anchor.conditions, *static, *placed]
                    view = ActionView(atom.pattern, choices, conditions)
                    views.setdefault(atom.pattern[0], []).append(view)
    return views


def _with_choices(
    condition: Condition, choices: Choices
) -> Iterator[tuple[Atomic, Choices]]:
    """Yields the atoms of a condition, each with the choices of all its variables."""
    if isinstance(condition, Atomic):
        yield condition, choices
    elif isinstance(condition, Junction):
        for part in condition.parts:
            yield from _with_choices(part, choices)
    else:
        yield from _with_choices(condition.sought, {**choices, **condition.choices})


def atoms_of(condition: Condition) -> Iterator[Atomic]:
    for atom, _ in _with_choices(condition, {}):
        yield atom
