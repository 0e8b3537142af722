"""The names that a model may make up: what they must differ from, and names that run in circles."""

import re
from collections.abc import Collection, Iterable, Sequence

from pddlego_local.decoding.grammars.terminals import ANY, OPERATORS, name_except, new_name

NO_TYPES = frozenset({"number"})
"""What Fast Downward lets no domain declare as a type."""

_THRICE = re.compile(r"(.*?[^0-9].*?)\1\1")


def circle(name: str) -> str:
    """How a name begins that holds a part three times in a row: up to the end of the second.

    "none-of-none-of-none" is on no such way, "none-of-none-of-none-of" gives "none-of-none-of-"…
    Numbers may repeat their digits. "" for any other name.
    """
    match = _THRICE.search(name.lower())
    return name[: match.end() - len(match[1])].lower() if match else ""


class Names:
    """Terminals for new names. Types, predicates, actions and things may share a name, as Fast
    Downward tells them apart by where they stand; a predicate is no operator.

    A name that was begun as one of the `avoided` was given up, for it ran in circles.
    """

    def __init__(self) -> None:
        self._beginnings: set[str] = set()

    def avoid(self, beginning: str) -> None:
        self._beginnings.add(beginning + ANY)

    @property
    def avoided(self) -> frozenset[str]:
        return frozenset(self._beginnings)

    def any(self) -> str:
        return name_except(self.avoided)

    def type(self, taken: Collection[str]) -> str:
        return name_except([*NO_TYPES, *self.avoided, *taken])

    def predicate(self, taken: Collection[str]) -> str:
        return name_except([*OPERATORS, *self.avoided, *taken])

    def thing(self, allowed: Sequence[str] | None, taken: Collection[str]) -> str:
        """A constant or object: one of the `allowed`, None for any; "" if none is left."""
        return new_name(allowed, [*taken, *(self.avoided if allowed is None else ())])

    def variable(self, taken: Iterable[str] = ()) -> str:
        """With the blank before it; `taken` begin with "?"."""
        return f'_B1 "?" {name_except([*self.avoided, *(name[1:] for name in taken)])}'
