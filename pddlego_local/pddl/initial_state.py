"""Decides whether a PDDL condition is true in a problem's initial state.

The result is that of Fast Downward, which drops a quantifier if the operators alone make its
condition true or false: `(exists (?x - t) (and))` holds even if no object is a `t`. Facts that
`:init` does not list are false. Derived predicates are not evaluated, so this is only for domains
without them. The pair must be free of syntax and symbol faults.
"""

import itertools
from collections.abc import Iterator, Mapping

from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.formulas import OPERATORS
from pddlego_local.pddl.reader import Block, Word
from pddlego_local.pddl.symbols import Types
from pddlego_local.pddl.task import Domain, Problem
from pddlego_local.pddl.typed_list import read_typed_list

Binding = Mapping[str, str]
"""Maps variable names to object names, both in lower case."""
QUANTIFIERS = ("forall", "exists")


def goal_already_true(domain: Domain, problem: Problem) -> bool:
    """Returns whether the goal is true initially, so the plan is empty. False without a goal."""
    goal = problem.goal_block
    return goal is not None and bool(_InitialState(domain, problem).holds(goal, {}))


def _operands(condition: Block) -> list[tuple[Block, bool]]:
    """The operands and whether each is negated, where "not" and "imply" are read as "or"."""
    blocks = condition.blocks[1 if condition.head in QUANTIFIERS else 0 :]
    turned = {"not": len(blocks), "imply": 1}.get(condition.head, 0)
    return [(block, position < turned) for position, block in enumerate(blocks)]


class _InitialState:
    """The facts of `:init`, and the objects and constants by their types."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self._types = Types(domain)
        self._things = (*domain.constants, *problem.objects)
        self._facts = {fact.atom.key for fact in problem.init if not fact.negated}

    def holds(self, condition: Block, binding: Binding | None) -> bool | None:
        """Returns whether the condition holds. Recurses once per level; the planner accepts 495.

        Without a binding, returns the value that the operators alone determine, or None if the
        value depends on facts.
        """
        if condition.head not in OPERATORS:
            return None if binding is None else self._is_fact(condition, binding)
        bindings: Iterator[Binding | None] = iter([binding])
        if condition.head in QUANTIFIERS and binding is not None:
            if (constant := self.holds(condition, None)) is not None:
                return constant
            bindings = self._bindings(condition, binding)
        every, unknown = condition.head in ("and", "forall"), False
        for bound in bindings:
            for operand, negated in _operands(condition):
                value = self.holds(operand, bound)
                unknown |= value is None
                if value is not None and (value != negated) != every:
                    return not every
        return None if unknown else every

    def _is_fact(self, atom: Block, binding: Binding) -> bool:
        predicate, *terms = (word.name for word in atom.items if isinstance(word, Word))
        arguments = [binding.get(term, term) for term in terms]
        if predicate == "=":
            return arguments[0] == arguments[1]
        return (predicate, *arguments) in self._facts

    def _bindings(self, quantified: Block, binding: Binding) -> Iterator[Binding]:
        """Extends `binding` by an object for each variable, in every way that the types allow."""
        variables = quantified.items[1]
        assert isinstance(variables, Block)
        entries = read_typed_list(variables.items, FaultLog()) or []
        names = [entry.name for entry in entries]
        objects = [self._types.instances(entry.type_names, self._things) for entry in entries]
        for values in itertools.product(*objects):
            yield {**binding, **dict(zip(names, values, strict=True))}
