"""A small judge of states: what is true, which actions are possible, and what they
change.

It has Fast Downward's semantics, so that it accepts what the planner accepts:
conditions with all operators of ADL, nested conditional and universal effects, action
costs, and derived predicates. A fact that an action both adds and deletes is added. A
type belongs to `object` only if it is declared, and a parameter that is declared twice
is one object of both types.

    task = read_task(domain, problem)
    state = task.initial
    for action in task.applicable(state):       # ("move", "ball1", "room1", "room2"), …
        task.refusal(state, action)             # "", or the first condition that fails
        task.successor(state, action)
    task.is_goal(state)

Names are in lower case. The files must be free of syntax and symbol faults (check.py).
The judge knows neither numbers other than costs, nor time, nor how to find a plan.
Objects whose names begin with `?`, on which the planner itself fails, have no meaning
here. Tasks and states never change, so any number of threads may share them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from pddlego_local.core.grouping import grouped
from pddlego_local.core.nouns import TrueState
from pddlego_local.pddl.conditions import (
    TRUE,
    Atomic,
    Binding,
    Choices,
    Condition,
    Fact,
    Junction,
    Known,
    Quantified,
    bindings,
    condition_of,
    conjuncts,
    ground,
    joined,
    known_as,
    without,
)
from pddlego_local.pddl.derived import Rule, derived_facts, in_groups
from pddlego_local.pddl.files import read_domain, read_problem
from pddlego_local.pddl.reader import Block, read
from pddlego_local.pddl.symbols import Types
from pddlego_local.pddl.task import (
    ActionDefinition,
    Axiom,
    Domain,
    Literal,
    Problem,
    TypedName,
    WrittenCondition,
)

Step = Sequence[str]
"""An action with its objects, such as ("move", "ball1", "room1", "room2")."""


@dataclass(frozen=True, slots=True)
class State:
    """`facts` are the basic facts that are true, and `derived` those that follow from
    them. `cost` is the cost of the actions since the initial state, as the planner
    counts it: each action costs 1 unless the problem has a `:metric`.
    """

    facts: frozenset[Fact]
    derived: frozenset[Fact] = frozenset()
    cost: int = 0

    @property
    def true(self) -> frozenset[Fact]:
        return self.facts | self.derived


class Change(NamedTuple):
    """One fact that is added, or deleted if `negated`, for all objects that `choices`
    allow and for which the condition holds.

    As in Fast Downward, nested `when` and `forall` become one list of changes, each
    with all the variables and conditions around it. An inner variable hides an outer
    one of the same name, in the conditions too.
    """

    pattern: Fact
    negated: bool
    choices: Choices
    condition: Condition


@dataclass(frozen=True, slots=True)
class Schema:
    """An action of the domain. `choices` are the objects that each parameter may stand
    for. `cost` is the function whose value is the cost, or a number alone; None if the
    action costs nothing.
    """

    name: str
    parameters: Sequence[TypedName]
    choices: Choices
    condition: Condition
    changes: Sequence[Change]
    cost: Fact | None = None

    def binding(self, things: Sequence[str]) -> dict[str, str]:
        names = (entry.name for entry in self.parameters)
        return dict(zip(names, things, strict=True))


class Task:
    """A domain and a problem."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self._domain = domain
        self._problem = problem
        self._types = Types(domain)
        self._things = (*domain.constants, *problem.objects)
        self._of_types: dict[frozenset[str], Mapping[str, object]] = {}
        self.objects: Mapping[str, str] = {
            entry.name: _first_type(entry) for entry in self._things
        }
        """The type of each object and constant."""
        self._values = {value.function: value.number for value in problem.values}
        schemas = map(self._schema, domain.actions)
        self.actions = grouped((schema.name, schema) for schema in schemas)
        """The actions by their names. If two have one name, both are meant."""
        self.schemas = [*chain.from_iterable(self.actions.values())]
        self.rules = [self._rule(axiom) for axiom in domain.axioms]
        """The rules of `:derived`."""
        self.groups = in_groups(self.rules)
        """The rules in the order in which they are evaluated."""
        goal = problem.goal or WrittenCondition()
        self.goal = self._condition(goal.block)
        self.stated = frozenset(
            fact.atom.key for fact in problem.init if not fact.negated
        )
        """The facts of `:init`."""

    # ---- What is true

    @cached_property
    def initial(self) -> State:
        return self._state(self.stated)

    def is_goal(self, state: State) -> bool:
        known = known_as(state.true)
        return self.goal.holds({}, known)

    def inspected(self, state: State) -> TrueState:
        """Returns a state with its objects and the predicates of the domain, for a
        record.
        """
        predicates = self._domain.predicates or []
        return TrueState(
            objects=self.objects,
            facts=state.true,
            predicates=frozenset(
                (entry.word.name, len(entry.parameters or ())) for entry in predicates
            ),
        )

    # ---- Actions

    def applicable(self, state: State) -> list[Fact]:
        """Returns the actions that are possible in a state, sorted."""
        known = known_as(state.true)
        found = set[Fact]()
        for schema in self.schemas:
            for binding in bindings(schema.choices, [schema.condition], {}, known):
                if self.cost(schema, binding) is not None:
                    things = [binding[entry.name] for entry in schema.parameters]
                    found.add((schema.name, *things))
        return sorted(found)

    def successor(self, state: State, step: Step) -> State:
        """Returns the state after a possible action."""
        return next(self.successors(state, step))

    def successors(self, state: State, step: Step) -> Iterator[State]:
        """Yields the states that an action may lead to: none if it is impossible, and
        several only if the domain has several actions of that name.
        """
        name, *things = step
        known = known_as(state.true)
        for schema in self._called(name, len(things)):
            if self._refusal(schema, things, known):
                continue
            binding = schema.binding(things)
            added, deleted = changed(schema.changes, binding, known)
            cost = self.cost(schema, binding) if self._problem.minimizes else 1
            after = (state.facts - deleted) | added
            yield self._state(after, state.cost + (cost or 0))

    def refusal(self, state: State, step: Step) -> str:
        """Returns why an action is impossible, such as "(clear b1) does not hold", or
        "" if it is possible. It is about names and types, or else about the first
        condition that fails.
        """
        name, *things = step
        known = known_as(sorted(state.true))
        schemas = self._called(name, len(things))
        refusals = [self._refusal(schema, things, known) for schema in schemas]
        if not refusals:
            return f"no action {name} has {len(things)} parameters"
        return "" if "" in refusals else refusals[0]

    def _called(self, name: str, count: int) -> list[Schema]:
        schemas = self.actions.get(name, ())
        return [schema for schema in schemas if len(schema.parameters) == count]

    def _refusal(self, schema: Schema, things: Sequence[str], known: Known) -> str:
        for thing in things:
            if thing not in self.objects:
                return f"there is no {thing}"
        binding = schema.binding(things)
        for entry, thing in zip(schema.parameters, things, strict=True):
            if misfit := self.misfit(schema, {entry.name: thing}):
                return misfit
            other = binding[entry.name]
            if other != thing:
                return f"{thing} and {other} stand for one parameter, {entry.name}"
        for part in conjuncts(schema.condition):
            if not part.holds(binding, known):
                return why_not(part, binding, known)
        if schema.cost is not None and self.cost(schema, binding) is None:
            return f"({' '.join(ground(schema.cost, binding))}) has no value"
        return ""

    def misfit(self, schema: Schema, binding: Binding) -> str:
        """Returns which of the objects has not the type of its parameter, such as "c1
        is a crate, not a vessel"; "" if all have.
        """
        for entry in schema.parameters:
            thing = binding.get(entry.name)
            if thing is not None and thing not in self._instances(entry):
                own = self._kind(self.objects[thing])
                wanted = self._kind(_first_type(entry))
                return f"{thing} is a {own}, not a {wanted}"
        return ""

    def _kind(self, kind: str) -> str:
        """The type as messages name it, with the type that it belongs to."""
        for entry in self._domain.types:
            if entry.name == kind and _first_type(entry) != "object":
                return f"{kind} - {_first_type(entry)}"
        return kind

    def cost(self, schema: Schema, binding: Binding) -> int | None:
        """The cost, or None if its function has no value; then the planner does not use
        the action, even without a `:metric`.
        """
        if schema.cost is None:
            return 0
        if schema.cost[0].isdigit():
            return int(schema.cost[0])
        return self._values.get(ground(schema.cost, binding))

    def condition(self, text: str) -> Condition:
        """Returns a condition of one's own, of which a check has found no faults."""
        block = read(text)
        return TRUE if block is None else self._condition(block)

    # ---- From the files

    def _condition(self, block: Block) -> Condition:
        return condition_of(block, self._choices)

    def _schema(self, action: ActionDefinition) -> Schema:
        effect = action.effect
        return Schema(
            name=action.word.name,
            parameters=action.parameters,
            choices=self._common(action.parameters),
            condition=self._condition(action.precondition.block),
            changes=[self._change(change) for change in effect.changes],
            cost=effect.cost.key if effect.cost else None,
        )

    def _change(self, literal: Literal) -> Change:
        conditions = [self._condition(block) for block in literal.when]
        return Change(
            pattern=literal.atom.key,
            negated=literal.negated,
            choices=self._choices(literal.scope),
            condition=joined(True, conditions),
        )

    def _rule(self, axiom: Axiom) -> Rule:
        parameters = axiom.predicate.parameters or []
        names = [entry.name for entry in parameters]
        return Rule(
            head=(axiom.predicate.word.name, *names),
            choices=self._common(parameters),
            condition=self._condition(axiom.condition.block),
        )

    def _state(self, facts: Iterable[Fact], cost: int = 0) -> State:
        basic = frozenset(facts)
        return State(basic, derived_facts(self.groups, basic), cost)

    def _instances(self, entry: TypedName) -> Mapping[str, object]:
        if len(entry.types) > 1:  # for the planner, `either` is a type without objects
            return {}
        types = entry.type_names
        if types not in self._of_types:
            self._of_types[types] = self._types.instances(types, self._things)
        return self._of_types[types]

    def _common(self, parameters: Sequence[TypedName]) -> Choices:
        """The choices of parameters: one that is declared twice has both types."""
        choices: dict[str, Mapping[str, object]] = {}
        for entry in parameters:
            own = self._instances(entry)
            earlier = choices.get(entry.name, own)
            common = [name for name in own if name in earlier]
            choices[entry.name] = dict.fromkeys(common)
        return choices

    def _choices(self, variables: Sequence[TypedName]) -> Choices:
        """The choices of quantified variables. The last one of a name hides the others,
        of which an object must exist all the same. A name without `?` is not a variable
        for the planner, but an object.
        """
        choices: dict[str, Mapping[str, object]] = {}
        for entry in variables:
            name = entry.name
            if name in choices:
                hidden = choices.pop(name)
                choices[f"{name} hidden {len(choices)}"] = hidden
            own = self._instances(entry)
            if name[0] != "?":
                own = {name: None} if name in own else {}
            choices[name] = own
        return choices


def _first_type(entry: TypedName) -> str:
    return entry.types[0].name if entry.types else "object"


def changed(
    changes: Sequence[Change], binding: Binding, known: Known
) -> tuple[set[Fact], set[Fact]]:
    """Returns the facts that are added and those that are deleted. A fact that is both
    stays.
    """
    added = set[Fact]()
    deleted = set[Fact]()
    for change in changes:
        outside = without(binding, change.choices)
        met = bindings(change.choices, [change.condition], outside, known)
        changing = deleted if change.negated else added
        changing |= {ground(change.pattern, found) for found in met}
    return added, deleted - added


def read_task(domain: str, problem: str) -> Task:
    """Returns the task of two texts without faults."""
    return Task(read_domain(read(domain)), read_problem(read(problem)))


def goal_already_true(domain: Domain, problem: Problem) -> bool:
    """Returns whether the goal is true initially, so the plan is empty. False without a
    goal.
    """
    if problem.goal is None:
        return False
    task = Task(domain, problem)
    return task.is_goal(task.initial)


def why_not(condition: Condition, binding: Binding, known: Known) -> str:
    """Says which fact is missing, or in the way, so that the condition does not
    hold.
    """
    if isinstance(condition, Junction) and condition.every:
        for part in condition.parts:
            if not part.holds(binding, known):
                return why_not(part, binding, known)
    if isinstance(condition, Quantified) and condition.every:
        found = condition.found(binding, known)
        if found is not None:
            return why_not(condition.sought.turned(), found, known)
    if isinstance(condition, Atomic) and condition.negated:
        return f"{condition.turned().text(binding)} holds"
    return f"{condition.text(binding)} does not hold"
