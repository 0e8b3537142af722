"""unified-planning as a second judge of plans and states: an oracle for the judge of
states.

Its reader refuses much that Fast Downward accepts. Nothing else of the project uses it.
"""

import re
import warnings
from collections.abc import Sequence
from typing import Any

from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.reader import Block, read, source
from pddlego_local.pddl.state import State, Step, Task

MOST_CHARACTERS = 40_000
MOST_FLUENTS = 1_500
NO_VALUE = -1  # costs are not negative
_VARIABLE = re.compile(r"\?[\w-]+")
_ACTION = re.compile(r"(\(\s*:action\s+)([^\s()]+)", re.IGNORECASE)


def unified_task(domain: str, problem: str) -> "Unified | str":
    """Returns the task, or why unified-planning cannot judge it."""
    if len(domain) + len(problem) > MOST_CHARACTERS:
        return "too long for its reader"
    from unified_planning.io import PDDLReader

    try:
        with warnings.catch_warnings(action="ignore"):
            task = PDDLReader().parse_problem_string(
                with_distinct_names(domain), problem
            )
            none = task.environment.expression_manager.Int(NO_VALUE)
            for fluent in task.fluents:
                if fluent.type.is_real_type():
                    task.fluents_defaults.setdefault(fluent, none)
            unified = Unified(task)
    except Exception as error:  # the library's, pyparsing's, and others from odd files
        return " ".join(str(error).split())[:300] or type(error).__name__
    return unified if len(unified.fluents) <= MOST_FLUENTS else "too many facts"


def with_distinct_names(domain: str) -> str:
    """Returns the domain with a separate variable for each parameter of a predicate,
    and with actions that do not share a predicate's name. The reader needs both,
    although PDDL does not.
    """
    root = read(domain)
    parts = []
    for item in root.items if root else ():
        text = source(domain, item)
        if isinstance(item, Block) and item.head == ":predicates":
            text = _VARIABLE.sub(lambda match: f"?v{match.start()}", text)
        parts.append(_ACTION.sub(r"\1do-\2", text))
    return f"({' '.join(parts)})"


class Unified:
    """A task as unified-planning's sequential simulator sees it."""

    def __init__(self, task: Any) -> None:
        from unified_planning.engines.sequential_simulator import UPSequentialSimulator
        from unified_planning.model.walkers import StateEvaluator

        self._task, self._simulator = task, UPSequentialSimulator(task)
        self._evaluator = StateEvaluator(task)
        self._initial = self._simulator.get_initial_state()
        self._actions = {
            action.name.removeprefix("do-"): action for action in task.actions
        }
        self._objects = {thing.name.lower(): thing for thing in task.all_objects}
        self.fluents = {
            (exp.fluent().name, *map(str, exp.args)): exp
            for exp in task.initial_values
            if exp.type.is_bool_type()
        }

    def reaches(self, plan: Sequence[Step]) -> bool:
        """Returns whether a plan reaches the goal."""
        state = self._initial
        for step in plan:
            state = self._after(state, step)
            if state is None:
                return False
        return bool(self._simulator.is_goal(state))

    def difference(self, state: State, steps: Sequence[Step], task: Task) -> str:
        """Returns for which of the steps the judge says something else, "" if for
        none.
        """
        terms = self._task.environment.expression_manager
        changed = {
            exp: terms.Bool(fact in state.facts) for fact, exp in self.fluents.items()
        }
        own = self._initial.make_child(changed)
        if bool(self._simulator.is_goal(own)) != task.is_goal(state):
            return "unified-planning differs about the goal"
        for step in steps:
            after = self._after(own, step)
            ours = [*task.successors(state, step)]
            if (after is None) != (not ours):
                return f"unified-planning differs about whether {step} is possible"
            if after is None:
                continue
            if self._facts(after) != ours[0].facts & self.fluents.keys():
                return f"unified-planning differs about what {step} changes"
        return ""

    def _facts(self, state: Any) -> set[Fact]:
        return {
            fact for fact, exp in self.fluents.items() if state.get_value(exp).is_true()
        }

    def _after(self, state: Any, step: Step) -> Any:
        """The state after a step, None if it is impossible."""
        terms = self._task.environment.expression_manager
        action = self._actions.get(step[0])
        things = [self._objects.get(name) for name in step[1:]]
        if action is None or None in things or len(things) != len(action.parameters):
            return None
        binding = dict[Any, Any]()
        for parameter, thing in zip(action.parameters, things, strict=True):
            assert thing is not None
            if not parameter.type.is_compatible(thing.type):
                return None
            binding[terms.ParameterExp(parameter)] = terms.ObjectExp(thing)
        for metric in self._task.quality_metrics:
            if not metric.is_minimize_action_costs():
                continue
            cost = metric.get_action_cost(action)
            if cost is not None:
                value = self._evaluator.evaluate(cost.substitute(binding), state)
                if value.constant_value() == NO_VALUE:
                    return None
        from unified_planning.exceptions import UPInvalidActionError

        try:
            return self._simulator.apply(state, action, list(binding.values()))
        except UPInvalidActionError:  # its preconditions exclude each other
            return None
