"""A second simulator, on another reader: the package `pddl`, and sets of facts."""

from typing import Any

from pddl.parser.domain import DomainParser
from pddl.parser.problem import ProblemParser


class Strips:
    """For domains whose conditions are conjunctions of literals."""

    def __init__(self, domain: str, problem: str) -> None:
        self._domain, task = DomainParser()(domain), ProblemParser()(problem)
        things = {*task.objects, *self._domain.constants}
        self._types = {thing.name: thing.type_tag for thing in things}
        self.facts = {_fact(atom, {}) for atom in task.init}
        self._goal = task.goal

    @property
    def done(self) -> bool:
        return self._holds(self._goal, {})

    def possible(self, planned: str) -> bool:
        """Whether "(stack b1 b2)" can be carried out now."""
        action, values = self._grounded(planned)
        fits = all(self._fits(values[p.name], p.type_tags) for p in action.parameters)
        return fits and self._holds(action.precondition, values)

    def apply(self, planned: str) -> bool:
        """Whether it is possible; then it is done."""
        if not self.possible(planned):
            return False
        action, values = self._grounded(planned)
        effects = _parts(action.effect)
        gone = [_atom(part) for part in effects if _negated(part)]
        made = [part for part in effects if not _negated(part)]
        self.facts -= {_fact(atom, values) for atom in gone}
        self.facts |= {_fact(atom, values) for atom in made}
        return True

    def _grounded(self, planned: str) -> tuple[Any, dict[str, str]]:
        name, *things = planned.strip("()").lower().split()
        action = next(action for action in self._domain.actions if action.name == name)
        parameters = [parameter.name for parameter in action.parameters]
        return action, dict(zip(parameters, things, strict=True))

    def _fits(self, thing: str, types: Any) -> bool:
        if not types or "object" in types:
            return True
        kind: Any = self._types[thing]
        while kind and kind not in types:
            kind = self._domain.types.get(kind)
        return bool(kind)

    def _holds(self, condition: Any, values: dict[str, str]) -> bool:
        for part in _parts(condition):
            is_true = _fact(_atom(part), values) in self.facts
            if is_true == _negated(part):
                return False
        return True


def _parts(formula: Any) -> list[Any]:
    operands = getattr(formula, "operands", None)
    if operands is None:
        return [formula]
    return [part for operand in operands for part in _parts(operand)]


def _negated(literal: Any) -> bool:
    return type(literal).__name__ == "Not"


def _atom(literal: Any) -> Any:
    return literal.argument if _negated(literal) else literal


def _fact(atom: Any, values: dict[str, str]) -> tuple[str, ...]:
    return (atom.name, *(values.get(term.name, term.name) for term in atom.terms))
