"""The rungs of the decoding ladder: what each asks of an answer, as data.

`ladder` has what a rung puts on each kind of answer. Everything that depends on the rung reads it
here, and nothing compares a rung's name.
"""

from dataclasses import dataclass
from typing import Literal, get_args

GoalArm = Literal["any", "unmet"]

Lists = Literal["tight", "free"]
"""The rule for lists on the upper rungs. "free" excludes only what makes an answer wrong; "tight"
also excludes what repeats something."""

RungName = Literal["free", "json", "syntax", "signatures", "typed", "grounded"]
"""From the least to the most that the decoder excludes."""


@dataclass(frozen=True)
class Rung:
    """A rung excludes what the one below does, and more.

    `constrained`: there is a grammar. `needs_context`: the grammar depends on the question's
    `GrammarContext`. `typed`: names are declared and used with their types, so that goals can be
    compared with the initial facts. `grounded`: names are those that the prompt shows. `goal` is
    what `conf/decoding/<name>.yaml` sets `decoding.goal` to.
    """

    name: RungName
    constrained: bool = True
    needs_context: bool = False
    typed: bool = False
    grounded: bool = False
    goal: GoalArm = "any"


RUNGS: dict[str, Rung] = {
    rung.name: rung
    for rung in (
        Rung("free", constrained=False),
        Rung("json"),
        Rung("syntax"),
        Rung("signatures", needs_context=True),
        Rung("typed", needs_context=True, typed=True),
        Rung("grounded", needs_context=True, typed=True, grounded=True, goal="unmet"),
    )
}
"""By name, from the bottom of the ladder to its top."""

if tuple(RUNGS) != get_args(RungName):
    raise TypeError(f"decoding.rungs: RUNGS and RungName differ: {tuple(RUNGS)}")
