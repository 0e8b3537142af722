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
        effects = [
            (_negated(part), _fact(_atom(part), values))
            for part in _parts(action.effect)
        ]
        self.facts -= {fact for negated, fact in effects if negated}
        self.facts |= {fact for negated, fact in effects if not negated}
        return True

    def _grounded(self, planned: str) -> tuple[Any, dict[str, str]]:
        name, *things = planned.strip("()").lower().split()
        action = next(action for action in self._domain.actions if action.name == name)
        return action, dict(
            zip([p.name for p in action.parameters], things, strict=True)
        )

    def _fits(self, thing: str, types: Any) -> bool:
        if not types or "object" in types:
            return True
        kind: Any = self._types[thing]
        while kind and kind not in types:
            kind = self._domain.types.get(kind)
        return bool(kind)

    def _holds(self, condition: Any, values: dict[str, str]) -> bool:
        return all(
            (_fact(_atom(part), values) in self.facts) is not _negated(part)
            for part in _parts(condition)
        )


def _parts(formula: Any) -> list[Any]:
    operands = getattr(formula, "operands", None)
    return (
        [formula]
        if operands is None
        else [p for part in operands for p in _parts(part)]
    )


def _negated(literal: Any) -> bool:
    return type(literal).__name__ == "Not"


def _atom(literal: Any) -> Any:
    return literal.argument if _negated(literal) else literal


def _fact(atom: Any, values: dict[str, str]) -> tuple[str, ...]:
    return (atom.name, *(values.get(term.name, term.name) for term in atom.terms))
