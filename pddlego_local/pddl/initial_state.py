"""Whether a condition is true in a problem's initial state: PDDL's conditions over finite objects.

As Fast Downward judges it, which drops a quantifier over what its operators alone make true or
false: `(exists (?x - t) (and))` holds even if no object is a `t`. What `:init` does not list is
false. Derived predicates are not followed: for domains without them only. The pair must be
free of faults of syntax and symbols.
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


def constant(condition: Block) -> bool | None:
    """The value that a condition has by its operators alone; None if it depends on facts. As deep
    as `InitialState.holds`."""
    if condition.head not in OPERATORS:
        return None
    every, values = condition.head in ("and", "forall"), []
    for position, operand in enumerate(_operands(condition)):
        value = constant(operand)
        if value is not None and _is_negated(condition, position):
            value = not value
        if value is not None and value != every:
            return value
        values.append(value)
    return None if None in values else every


def _operands(condition: Block) -> list[Block]:
    blocks = [item for item in condition.items if isinstance(item, Block)]
    return blocks[1:] if condition.head in ("forall", "exists") else blocks


def _is_negated(condition: Block, position: int) -> bool:
    """Of an operand, if the operators "not" and "imply" are read as "or"."""
    return condition.head == "not" or (condition.head == "imply" and position == 0)


class InitialState:
    """The facts of `:init`, and the objects and constants by their types."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self._types = Types(domain)
        self._things = (*domain.constants, *problem.objects)
        self._facts = {fact.atom.key for fact in problem.init if not fact.negated}
        self._by_type: dict[frozenset[str], dict[str, None]] = {}

    def holds(self, condition: Block, binding: Binding | None = None) -> bool:
        """Goes one frame deeper for each level of nesting, of which the planner takes 495."""
        if condition.head not in OPERATORS:
            return self._is_fact(condition, binding or {})
        if condition.head in ("forall", "exists") and (value := constant(condition)) is not None:
            return value
        every = condition.head in ("and", "forall")
        for operand, bound, negated in self._instances(condition, binding or {}):
            if (self.holds(operand, bound) != negated) != every:
                return not every
        return every

    def _instances(
        self, condition: Block, binding: Binding
    ) -> Iterator[tuple[Block, Binding, bool]]:
        """What an "and" or an "or" of the same meaning joins: (condition, binding, negated)."""
        operands = _operands(condition)
        if condition.head in ("forall", "exists"):
            variables = condition.items[1]
            assert isinstance(variables, Block)
            entries = read_typed_list(variables.items, FaultLog("problem", "")) or []
            for extended in self._bindings(entries, binding):
                yield operands[0], extended, False
            return
        for position, operand in enumerate(operands):
            yield operand, binding, _is_negated(condition, position)

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

    def _of_types(self, types: frozenset[str]) -> Iterable[str]:
        if types not in self._by_type:
            self._by_type[types] = self._types.instances(types, self._things)
        return self._by_type[types]
