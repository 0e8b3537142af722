"""Explains why a task that the planner accepts has no plan, or an empty one.

The facts that may become true are explored under delete relaxation: what has become
true stays true, and what has become false stays false beside it. So a goal that cannot
be met here cannot be met by the planner. The reason is a chain: the action that could
make the fact true, the first of its conditions that cannot be met, and so on.

The work is bounded: nothing is said about the goal of a task beyond the bound. Nothing
is said about tasks with derived predicates either.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from pddlego_local.pddl.conditions import (
    ANY,
    Atomic,
    Binding,
    Choices,
    Condition,
    Fact,
    Facts,
    Known,
    bindings,
    conjuncts,
    ground,
    joined,
    without,
)
from pddlego_local.pddl.faults import Fault, FaultLog
from pddlego_local.pddl.state import Change, Schema, Task
from pddlego_local.pddl.task import Domain, Problem

MOST_STEPS = 30_000  # about 0.2 seconds
LONGEST_CHAIN = 4  # of actions, each of which needs an effect of the next one
OUT_OF_REACH = "no action can make"
ALREADY_TRUE = (
    "the goal `{}` already holds in `:init`, so the plan is empty: "
    "ask for something that is not true yet, or correct `:init`"
)
NOTHING_ASKED = (
    "the goal asks for nothing, so it already holds and the plan is empty: "
    "name the facts that are to be made true"
)


class TooLarge(Exception):
    """The task is too large to be explored within the bound."""


class _Budget:
    """The steps that are left."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def spend(self, steps: int = 1) -> None:
        self._left -= steps
        if self._left < 0:
            raise TooLarge


class _CountedFacts(Facts):
    """Facts of which each look-up is a step."""

    def __init__(self, facts: Iterable[Fact], budget: _Budget) -> None:
        super().__init__(facts)
        self._budget = budget

    def __contains__(self, fact: Fact) -> bool:
        self._budget.spend()
        return super().__contains__(fact)

    def matching(self, pattern: Fact) -> Sequence[Fact]:
        found = super().matching(pattern)
        self._budget.spend(1 + len(found))
        return found


@dataclass(frozen=True)
class GroundEffect:
    """A change that an action may make. `outer` are the objects of its parameters, and
    `inner` those of the change's variables too.
    """

    action: Schema
    outer: Binding
    change: Change
    inner: Binding

    @property
    def fact(self) -> Fact:
        return ground(self.change.pattern, self.inner)


class Reachable:
    """What may be `known`: the facts that can become true, and those that no action
    makes false. All methods raise TooLarge.
    """

    def __init__(self, task: Task, steps: int) -> None:
        """`steps` bounds how many facts are looked up and objects are tried."""
        self.task = task
        self._budget = _Budget(steps)
        self.actions = [*task.schemas]
        true = _CountedFacts(sorted(task.stated), self._budget)
        lasting = _CountedFacts(task.stated, self._budget)
        self.known = Known(true, lasting)

    def explore(self, goal: Condition) -> None:
        """Adds what actions can make true and false, until the goal may hold."""
        lasting = {*self.task.stated}
        changing = True
        while changing and not self.holds(goal):
            added = set[Fact]()
            deleted = set[Fact]()
            for effect in self.effects():
                facts = deleted if effect.change.negated else added
                facts.add(effect.fact)
            true = self.known.true
            new = [fact for fact in sorted(added) if fact not in true]
            for fact in new:
                true.add(fact)
            changing = bool(new) or not lasting.isdisjoint(deleted)
            lasting -= deleted
            self.known = Known(true, _CountedFacts(lasting, self._budget))

    def holds(self, condition: Condition) -> bool:
        return condition.holds({}, self.known)

    def bindings(
        self, choices: Choices, parts: Sequence[Condition], bound: Binding
    ) -> Iterator[Binding]:
        """Yields the extensions of `bound` under which the parts may hold together."""
        for found in bindings(choices, parts, bound, self.known):
            self._budget.spend()
            yield found

    def uses(self, action: Schema) -> Iterator[Binding]:
        """Yields the parameters' objects for which the action may be possible."""
        return self.bindings(action.choices, [action.condition], {})

    def effects(self) -> Iterator[GroundEffect]:
        for action in self.actions:
            for outer in self.uses(action):
                for change in action.changes:
                    own = without(outer, change.choices)
                    for found in self.bindings(change.choices, [change.condition], own):
                        yield GroundEffect(action, outer, change, found)


def why_no_plan(
    domain: Domain, problem: Problem, texts: tuple[str, str]
) -> tuple[Fault, ...]:
    """Returns, in order, warnings about why the plan is missing or empty. The pair must
    have no syntax or symbol faults.
    """
    domain_log = FaultLog("domain", texts[0])
    problem_log = FaultLog("problem", texts[1])
    _warn_of_costs(domain, problem, domain_log)
    if not domain.axioms:
        # The planner alone judges what is too large, or nested deeply.
        with suppress(TooLarge, RecursionError):
            _warn_of_goal(Task(domain, problem), problem, problem_log)
    return domain_log.in_order() + problem_log.in_order()


def _warn_of_costs(domain: Domain, problem: Problem, log: FaultLog) -> None:
    """Warns of actions that the planner does not use because their cost is unknown."""
    valued = {value.function[0] for value in problem.values}
    for action in domain.actions:
        if action.effect.cost is None:
            continue
        function = action.effect.cost.predicate
        if not function.name.isdigit() and function.name not in valued:
            log.warn(
                function,
                f"action `{action.word}` can never be used: `:init` gives its cost"
                f" `{function}` no value `(= ({function} …) number)`",
            )


def _warn_of_goal(task: Task, problem: Problem, log: FaultLog) -> None:
    """Warns of a goal that is already true, or of its facts that are out of reach."""
    goal = problem.goal
    if goal is None or any(name[0] == "?" for name in task.objects):
        return
    reachable = Reachable(task, MOST_STEPS)
    if reachable.holds(task.goal):
        is_empty = len(goal.block.items) == 1
        said = NOTHING_ASKED if is_empty else ALREADY_TRUE.format(goal.block)
        log.warn(goal.block, said)
        return
    reachable.explore(task.goal)
    for literal in goal.literals:
        wanted = Atomic(literal.atom.key, literal.negated)
        if literal.required and not reachable.holds(wanted):
            truth = "false" if literal.negated else "true"
            why = _why(wanted, reachable)
            log.warn(
                literal.atom.block, f"{OUT_OF_REACH} `{literal.atom}` {truth}: {why}"
            )


def _why(wanted: Atomic, reachable: Reachable) -> str:
    """The conditions that cannot be met behind a fact that is out of reach: the action
    that could make it true needs another such fact, and so on.
    """
    needs = dict[str, None]()
    end = "nothing makes that true"
    for _ in range(LONGEST_CHAIN):
        attempts = [*_attempts(wanted, reachable)]
        if not attempts:
            break
        attempt = min(attempts, key=lambda attempt: attempt.misfit != "")
        if attempt.misfit:
            end = f"`{attempt.name}` cannot be used: {attempt.misfit}"
            break
        found = _first_unmet(attempt, reachable)
        if found is None:
            end = f"`{attempt.name}` has a parameter for which there is no object"
            break
        unmet, bound = found
        needs[f"`{attempt.name}` needs `{unmet.text(bound)}`"] = None
        if not isinstance(unmet, Atomic):
            break
        predicate, *terms = ground(unmet.pattern, bound)
        known = (ANY if term[0] == "?" else term for term in terms)
        wanted = Atomic((predicate, *known), unmet.negated)
    if not needs and not attempts:
        if wanted.negated:
            return f"no action deletes `{wanted.pattern[0]}`"
        return f"no action adds `{wanted.pattern[0]}` and the fact is not in `:init`"
    return f"{', '.join(needs)}, and {end}" if needs else end


@dataclass(frozen=True)
class _Attempt:
    """A way to get a fact with the action `name`: the objects that the fact demands,
    and what must hold for them. `misfit` says that one of them has the wrong type.
    """

    name: str
    bound: Binding
    choices: Choices
    conditions: Sequence[Condition]
    misfit: str


def _attempts(wanted: Atomic, reachable: Reachable) -> Iterator[_Attempt]:
    for action in reachable.actions:
        for change in action.changes:
            bound = _unified(change.pattern, wanted.pattern)
            if bound is None or change.negated != wanted.negated:
                continue
            yield _Attempt(
                name=action.name,
                bound=bound,
                choices={**action.choices, **change.choices},
                conditions=conjuncts(
                    joined(True, [action.condition, change.condition])
                ),
                misfit=reachable.task.misfit(action, without(bound, change.choices)),
            )


def _unified(pattern: Fact, fact: Fact) -> dict[str, str] | None:
    """The binding that makes the pattern equal to the fact, in which ANY stands for any
    object; None if there is none.
    """
    binding: dict[str, str] = {}
    if pattern[0] != fact[0] or len(pattern) != len(fact):
        return None
    for term, value in zip(pattern[1:], fact[1:], strict=True):
        if value in (ANY, term):
            continue
        if term[0] != "?" or binding.setdefault(term, value) != value:
            return None
    return binding


def _first_unmet(
    attempt: _Attempt, reachable: Reachable
) -> tuple[Condition, Binding] | None:
    """The first condition that cannot be met together with those before it, for the
    objects that these demand; None if all can be met.
    """

    def ways_to_meet(parts: Sequence[Condition]) -> list[Binding]:
        asked = frozenset[str]().union(*(part.variables for part in parts))
        choices = {
            name: objects for name, objects in attempt.choices.items() if name in asked
        }
        return [*islice(reachable.bindings(choices, parts, attempt.bound), 2)]

    for number, part in enumerate(attempt.conditions):
        before = attempt.conditions[:number]
        if not ways_to_meet([*before, part]):
            ways = ways_to_meet(before)
            is_general = len(ways) > 1 and not ways_to_meet([part])
            return part, attempt.bound if is_general else ways[0]
    return None
