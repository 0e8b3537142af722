"""What happens in a world: unified-planning's sequential simulator on the gold files."""

import functools
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.described.gold import with_distinct_names

_ONE_AT_A_TIME = threading.RLock()
"""The library keeps the expressions of all tasks in one place, which knows no threads. It grounds
actions there even for a task with an environment of its own, which therefore cannot be had."""


class Simulator:
    """One task, as PDDL has it: an action whose effects add and delete one fact adds it. Objects
    and actions go by their names in the gold files, in lower case."""

    def __init__(self, domain: str, problem: str, where: str) -> None:
        """Raises ConfigError in the library's words if it does not take the files."""
        # It takes seconds to load, which a sweep that only lists its cells need not wait for.
        from unified_planning.engines.sequential_simulator import UPSequentialSimulator
        from unified_planning.model.walkers import StateEvaluator

        try:
            with _ONE_AT_A_TIME, warnings.catch_warnings(action="ignore"):
                task = _reader(with_distinct_names(domain))(problem)
                self._simulator = UPSequentialSimulator(task)
                self._evaluator = StateEvaluator(task)
        except Exception as error:  # its own, pyparsing's, and whatever odd files raise in them
            reason = " ".join(str(error).split())[:300]
            raise ConfigError(f"{where}: unified-planning does not take it: {reason}") from error
        self._task = task
        self._actions = {action.name.removeprefix("do-"): action for action in task.actions}
        self._objects = {thing.name.lower(): thing for thing in task.all_objects}
        self.reset()

    @property
    def actions(self) -> dict[str, int]:
        """Each action's number of parameters, in the order of the file."""
        return {name: len(action.parameters) for name, action in self._actions.items()}

    @property
    def done(self) -> bool:
        with _ONE_AT_A_TIME:
            return bool(self._simulator.is_goal(self._state))

    def reset(self) -> None:
        with _ONE_AT_A_TIME:
            self._state: Any = self._simulator.get_initial_state()

    def apply(self, name: str, arguments: Sequence[str]) -> str:
        """ "" if the action was carried out; else why not, and nothing has changed."""
        with _ONE_AT_A_TIME:
            return self._apply(name, arguments)

    def _apply(self, name: str, arguments: Sequence[str]) -> str:
        action, things = self._actions[name], [self._objects[argument] for argument in arguments]
        for parameter, thing in zip(action.parameters, things, strict=True):
            if not parameter.type.is_compatible(thing.type):
                return f"{thing.name} is a {thing.type}, not a {parameter.type}"
        terms = self._task.environment.expression_manager
        binding = {
            terms.ParameterExp(parameter): terms.ObjectExp(thing)
            for parameter, thing in zip(action.parameters, things, strict=True)
        }
        for condition in action.preconditions:
            for part in condition.args if condition.is_and() else (condition,):
                ground = part.substitute(binding)
                if not self._evaluator.evaluate(ground, self._state).bool_constant_value():
                    return _said(ground)
        self._state = self._simulator.apply(self._state, action, list(binding.values()))
        return ""


@functools.lru_cache(maxsize=16)
def _reader(domain: str) -> Callable[[str], Any]:
    """Makes tasks of this domain's problems. The domain is parsed once: half of all the parsing,
    where a thousand problems have one domain. A reader cannot be shared by domains: it keeps the
    costs of the last one that had any."""
    from pyparsing import ParserElement
    from unified_planning.io import PDDLReader

    reader = PDDLReader()
    reader._pp_domain.parse_string = functools.cache(reader._pp_domain.parse_string)
    # The library has pyparsing remember all it tried, which here takes longer than to try again.
    ParserElement.disable_memoization()
    return functools.partial(reader.parse_problem_string, domain)


def _said(condition: Any) -> str:
    """ "(clear b1) does not hold", "(taken coin) holds"."""
    if condition.is_not():
        return f"{_fact(condition.arg(0))} holds"
    return f"{_fact(condition)} does not hold"


def _fact(condition: Any) -> str:
    if condition.is_fluent_exp():
        return f"({' '.join([condition.fluent().name, *map(str, condition.args)])})"
    return f"({condition})"
