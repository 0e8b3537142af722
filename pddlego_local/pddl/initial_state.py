"""Whether a condition is true in a problem's initial state: PDDL's conditions over finite objects.

What `:init` does not list is false. Derived predicates are not followed: to be asked of domains
without them. The pair must be free of faults of syntax and symbols.
"""

from collections.abc import Iterable, Iterator, Mapping

from pddlego_local.pddl.conditions import OPERATORS
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.reader import Block, Word
from pddlego_local.pddl.symbols import Types, type_names
from pddlego_local.pddl.task import Domain, Problem, TypedName
from pddlego_local.pddl.typed_list import read_typed_list

Binding = Mapping[str, str]
"""From the name of a variable to that of an object, both in lower case."""


def goal_already_true(domain: Domain, problem: Problem) -> bool:
    """Whether the initial facts alone make the goal true: the plan is empty. False without goal."""
    goal = problem.goal_block
    return goal is not None and InitialState(domain, problem).holds(goal)


class InitialState:
    """The facts of `:init`, and the objects and constants by their types."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self._types = Types(domain)
        self._things = (*domain.constants, *problem.objects)
        self._facts = {fact.atom.key for fact in problem.init if not fact.negated}
        self._by_type: dict[frozenset[str], list[str]] = {}

    def holds(self, condition: Block, binding: Binding | None = None) -> bool:
        """Goes one frame deeper for each level of nesting, of which the planner takes 495."""
        if condition.head not in OPERATORS:
            return self._is_fact(condition, binding or {})
        every = condition.head in ("and", "forall")
        for operand, bound, negated in self._operands(condition, binding or {}):
            if (self.holds(operand, bound) != negated) != every:
                return not every
        return every

    def _operands(
        self, condition: Block, binding: Binding
    ) -> Iterator[tuple[Block, Binding, bool]]:
        """What an "and" or an "or" of the same meaning joins: (condition, binding, negated)."""
        operator, operands = condition.head, [i for i in condition.items if isinstance(i, Block)]
        if operator in ("forall", "exists"):
            variables = read_typed_list(operands[0].items, FaultLog("problem", "")) or []
            for extended in self._bindings(variables, binding):
                yield operands[1], extended, False
            return
        for position, operand in enumerate(operands):
            yield operand, binding, operator == "not" or (operator == "imply" and position == 0)

    def _is_fact(self, atom: Block, binding: Binding) -> bool:
        predicate, *terms = (word.name for word in atom.items if isinstance(word, Word))
        arguments = [binding.get(term, term) for term in terms]
        if predicate == "=":
            return arguments[0] == arguments[1]
        return (predicate, *arguments) in self._facts

    def _bindings(self, variables: Iterable[TypedName], binding: Binding) -> Iterator[Binding]:
        """`binding` with an object for each of the variables, in every way that types allow."""
        first, *others = variables
        for name in self._of_types(frozenset(type_names(first))):
            extended = {**binding, first.name: name}
            if others:
                yield from self._bindings(others, extended)
            else:
                yield extended

    def _of_types(self, wanted: frozenset[str]) -> list[str]:
        if wanted not in self._by_type:
            self._by_type[wanted] = [
                thing.name
                for thing in self._things
                if any(wanted & self._types.with_ancestors(own) for own in type_names(thing))
            ]
        return self._by_type[wanted]
