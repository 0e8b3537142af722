"""Simulates a world with unified-planning's sequential simulator on the gold files."""

import functools
import re
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pddlego_local.core.errors import ConfigError, UnsolvableGame
from pddlego_local.environments.described.world import World, with_distinct_names

NO_VALUE = -1  # costs are not negative
_ONE_AT_A_TIME = threading.RLock()
"""The library keeps the expressions of all tasks in one place that is not thread-safe. It
grounds actions there even for a task with a separate environment, so the environments cannot be
separated."""


class Simulator:
    """One world, with the semantics of PDDL: an action whose effects add and delete the same fact
    adds it. Objects and actions have their names in the gold files, in lower case."""

    def __init__(self, world: World, task_type: str, *, exact: bool = False) -> None:
        """With `exact`, an object is known only by its exact name, not in another spelling.

        Raises UnsolvableGame, or ConfigError with the library's message if it cannot read the
        files.
        """
        where = f"the world {world.name} of {task_type}"
        if world.out_of_reach:
            raise UnsolvableGame(f"{where}: {world.out_of_reach}")
        # The import takes seconds, and a sweep that only lists its cells does not need it.
        from unified_planning.engines.sequential_simulator import UPSequentialSimulator
        from unified_planning.model.walkers import StateEvaluator

        try:
            with _ONE_AT_A_TIME, warnings.catch_warnings(action="ignore"):
                task = _reader(with_distinct_names(world.domain))(world.problem)
                for number in (each for each in task.fluents if each.type.is_real_type()):
                    none = task.environment.expression_manager.Int(NO_VALUE)
                    task.fluents_defaults.setdefault(number, none)
                self._simulator = UPSequentialSimulator(task)
                self._evaluator = StateEvaluator(task)
                self._state: Any = self._simulator.get_initial_state()
        except Exception as error:  # the library's, pyparsing's, and others from odd files
            reason = " ".join(str(error).split())[:300]
            raise ConfigError(f"{where}: unified-planning cannot read it: {reason}") from error
        self.world, self._task = world, task
        self._actions = {action.name.removeprefix("do-"): action for action in task.actions}
        self._spelled = str.lower if exact else spelled
        named = {thing.name.lower(): thing for thing in task.all_objects}
        self._objects = named if exact else spellings(named)

    @property
    def done(self) -> bool:
        with _ONE_AT_A_TIME:
            return bool(self._simulator.is_goal(self._state))

    def carry_out(self, command: str) -> str:
        """Carries out a command and returns "". Returns the reason if that is impossible; the state
        is then unchanged."""
        name, *arguments = command.lower().split() or [""]
        action = self._actions.get(name)
        if action is None:
            return f"{command!r} is none of the actions {', '.join(self._actions)}."
        arity = len(action.parameters)
        if len(arguments) != arity:
            return f"{name} has {arity} parameters, and {command!r} names {len(arguments)} things."
        things = [self._objects.get(a) or self._objects.get(self._spelled(a)) for a in arguments]
        if None in things:
            return f"There is no {arguments[things.index(None)]} in this world."
        with _ONE_AT_A_TIME:
            refusal = self._apply(action, things)
        return f"({command}) cannot be carried out: {refusal}." if refusal else ""

    def _apply(self, action: Any, things: Sequence[Any]) -> str:
        terms, binding = self._task.environment.expression_manager, dict[Any, Any]()
        for parameter, thing in zip(action.parameters, things, strict=True):
            if not parameter.type.is_compatible(thing.type):
                return f"{thing.name} is a {thing.type}, not a {parameter.type}"
            binding[terms.ParameterExp(parameter)] = terms.ObjectExp(thing)
        for condition in action.preconditions:
            for part in condition.args if condition.is_and() else (condition,):
                ground = part.substitute(binding)
                if not self._evaluator.evaluate(ground, self._state).bool_constant_value():
                    return _said(ground)
        for cost in self._costs(action):
            ground = cost.substitute(binding)
            if self._evaluator.evaluate(ground, self._state).constant_value() == NO_VALUE:
                return f"{_fact(ground)} has no value"
        self._state = self._simulator.apply(self._state, action, list(binding.values()))
        return ""

    def _costs(self, action: Any) -> list[Any]:
        """Returns the cost of an action, which the reader moves from the effects to the metric."""
        metrics = [one for one in self._task.quality_metrics if one.is_minimize_action_costs()]
        return [cost for one in metrics if (cost := one.get_action_cost(action)) is not None]


def spelled(name: str) -> str:
    """Returns a name in lower case without separators. Texts say "block 3" for block3 in the gold
    files, and a model may write block_3."""
    return re.sub(r"[\W_]+", "", name.lower())


def spellings(named: Mapping[str, Any]) -> dict[str, Any]:
    """Returns each object by its name, and by its name without separators if no other object has
    the same short name: not for city1-3 if there is a city13."""
    short = Counter(map(spelled, named))
    return {spelled(name): named[name] for name in named if short[spelled(name)] == 1} | dict(named)


@functools.lru_cache(maxsize=16)
def _reader(domain: str) -> Callable[[str], Any]:
    """Returns a function that makes tasks of this domain's problems. The domain is parsed once,
    which is half of all the parsing when a thousand problems have one domain. Domains cannot share
    a reader, because it keeps the costs of the last domain that had any."""
    from pyparsing import ParserElement
    from unified_planning.io import PDDLReader

    reader = PDDLReader()
    reader._pp_domain.parse_string = functools.cache(reader._pp_domain.parse_string)
    # The library turns on pyparsing's memoization, which makes parsing slower here.
    ParserElement.disable_memoization()
    return functools.partial(reader.parse_problem_string, domain)


def _said(condition: Any) -> str:
    """Returns "(clear b1) does not hold" or "(taken coin) holds"."""
    if condition.is_not():
        return f"{_fact(condition.arg(0))} holds"
    return f"{_fact(condition)} does not hold"


def _fact(condition: Any) -> str:
    if condition.is_fluent_exp():
        return f"({' '.join([condition.fluent().name, *map(str, condition.args)])})"
    return f"({condition})"
