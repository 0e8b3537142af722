"""The rungs of the decoding ladder and their properties, as data.

`ladder` has the constraint of each rung on each form of answer. All code that depends
on the rung reads the properties here; no code compares a rung's name.
"""

from dataclasses import dataclass
from typing import Literal, get_args

RungName = Literal["free", "json", "syntax", "signatures", "typed", "grounded"]
"""The names in ascending order: the decoder excludes least on the first rung, most on
the last.
"""


@dataclass(frozen=True)
class Rung:
    """A rung of the ladder. It excludes what the rung below excludes. For an answer
    with a domain and a problem it also excludes something else; for other answers, such
    as edits, neighbouring rungs can be the same.

    `constrained`: there is a grammar. `needs_context`: the grammar depends on the
    question's `GrammarContext`. `typed`: names are declared and used with their types,
    so that goals can be compared with the initial facts. `grounded`: only names that
    the prompt shows are allowed.
    """

    name: RungName
    constrained: bool = True
    needs_context: bool = False
    typed: bool = False
    grounded: bool = False


RUNGS: dict[str, Rung] = {
    rung.name: rung
    for rung in (
        Rung("free", constrained=False),
        Rung("json"),
        Rung("syntax"),
        Rung("signatures", needs_context=True),
        Rung("typed", needs_context=True, typed=True),
        Rung("grounded", needs_context=True, typed=True, grounded=True),
    )
}
"""The rungs by name, from the bottom of the ladder to the top."""

if tuple(RUNGS) != get_args(RungName):
    raise TypeError(f"decoding.rungs: RUNGS and RungName differ: {tuple(RUNGS)}")
