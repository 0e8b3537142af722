"""Effects that can be carried out: which facts an action adds and deletes in a state.

As in Fast Downward, nested `when` and `forall` become one list of changes, each with
all the variables and conditions around it. An inner variable hides an outer one of the
same name, in the conditions too.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pddlego_local.pddl.conditions import (
    TRUE,
    Binding,
    Choices,
    ChoicesOf,
    Condition,
    bindings,
    condition_of,
    ground,
    joined,
    pattern_of,
    variables_in,
    without,
)
from pddlego_local.pddl.index import Fact, Facts
from pddlego_local.pddl.reader import Block
from pddlego_local.pddl.task import TypedName


class Change(NamedTuple):
    """One fact that is added, or deleted if `negated`, for all objects that `choices`
    allow and for which the condition holds.
    """

    pattern: Fact
    negated: bool
    choices: Choices
    condition: Condition


class _Part(NamedTuple):
    """A part of an effect with what stands around it."""

    block: Block
    variables: Sequence[TypedName] = ()
    condition: Condition = TRUE


def changes_of(block: Block, choices_of: ChoicesOf) -> Iterator[Change]:
    """Yields the changes of an effect without faults. There is no recursion over the
    effect, because it may be nested deeply. Costs are not among the changes.
    """
    pending = [_Part(block)] if block.items else []
    while pending:
        part = pending.pop()
        head, blocks = part.block.head, part.block.blocks
        if head == "and":
            pending += [part._replace(block=each) for each in reversed(blocks)]
        elif head == "forall":
            variables = [*part.variables, *variables_in(blocks[0])]
            pending.append(part._replace(block=blocks[1], variables=variables))
        elif head == "when":
            condition = joined(
                True, [part.condition, condition_of(blocks[0], choices_of)]
            )
            pending.append(part._replace(block=blocks[1], condition=condition))
        elif head != "increase":
            pattern = pattern_of(blocks[0] if head == "not" else part.block)
            yield Change(
                pattern, head == "not", choices_of(part.variables), part.condition
            )


def changed(
    changes: Sequence[Change], binding: Binding, facts: Facts
) -> tuple[set[Fact], set[Fact]]:
    """Returns the facts that are added and those that are deleted. A fact that is both
    stays.
    """
    added, deleted = set[Fact](), set[Fact]()
    for change in changes:
        outside = without(binding, change.choices)
        for found in bindings(
            change.choices, [change.condition], outside, facts, facts
        ):
            (deleted if change.negated else added).add(ground(change.pattern, found))
    return added, deleted - added
