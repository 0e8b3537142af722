"""Names that a model may give: what they must differ from, and which of them are a loop."""

import re
from collections.abc import Collection, Iterable, Sequence

from pddlego_local.decoding.grammars.terminals import ANY, OPERATORS, name_except, new_name

NO_TYPES = frozenset({"number"})
"""What Fast Downward lets no domain declare as a type."""

_THRICE = re.compile(r"(.*?[^0-9].*?)\1\1")


def looping_prefix(name: str) -> str:
    """The beginning of a name that says a part three times in a row, to the end of the second time;
    "" for any other name.

    "none-of-none-of-none-of" gives "none-of-none-of", "none-of-none-of-none" gives "". Numbers may
    repeat their digits.
    """
    match = _THRICE.search(name.lower())
    return name[: match.end() - len(match[1])].lower() if match else ""


class NewNames:
    """Terminals for names that an answer declares. Types, predicates, actions and things may share
    a name, as Fast Downward tells them apart by where they stand; a predicate is no operator.

    Constants and objects have `allowed` names; None: the model makes them up. Names that begin as
    one of the `avoided` were loops of the model, and are not permitted again.
    """

    def __init__(self, allowed: Sequence[str] | None = None) -> None:
        self.allowed = allowed
        self.avoided: set[str] = set()

    def avoid_loop(self, name: str) -> bool:
        """Whether a name is a loop; if so, no later name may begin like it."""
        prefix = looping_prefix(name)
        if prefix:
            self.avoided.add(prefix + ANY)
        return bool(prefix)

    def any(self) -> str:
        return name_except(self.avoided)

    def type(self, taken: Collection[str]) -> str:
        return name_except([*NO_TYPES, *self.avoided, *taken])

    def predicate(self, taken: Collection[str]) -> str:
        return name_except([*OPERATORS, *self.avoided, *taken])

    def thing(self, taken: Collection[str]) -> str:
        """A constant or object; "" if no allowed name is left."""
        return new_name(self.allowed, [*taken, *(self.avoided if self.allowed is None else ())])

    def variable(self, taken: Iterable[str] = ()) -> str:
        """With the blank before it; `taken` begin with "?"."""
        return f'_B1 "?" {name_except([*self.avoided, *(name[1:] for name in taken)])}'
