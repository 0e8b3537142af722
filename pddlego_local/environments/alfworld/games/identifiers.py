"""ALFRED's identifiers, "Cabinet|+00.41|+00.48|+00.45", and what PDDL and the games call them."""

from collections import Counter
from collections.abc import Iterable

_BASIN = "Basin"  # the part of a sink or bathtub that things are put in
_ESCAPES = str.maketrans(
    {"-": "_minus_", "+": "_plus_", "|": "_bar_", ".": "_dot_", ",": "_comma_"}
)


def pddl_name(identifier: str) -> str:
    """ "Apple|-00.14|+00.96" is "Apple_bar__minus_00_dot_14_bar__plus_00_dot_96" in PDDL."""
    return identifier.translate(_ESCAPES)


def spoken_names(identifiers: Iterable[str]) -> dict[str, str]:
    """The game's name for every object and receptacle: "apple 1". The games number each kind
    downwards in the order of the PDDL names, in lower case
    (alfworld.agents.utils.misc.Demangler)."""
    amount: Counter[str] = Counter()
    names = {}
    for identifier in sorted(identifiers, key=lambda name: pddl_name(name).lower(), reverse=True):
        kind = kind_of(identifier).lower()
        amount[kind] += 1
        names[identifier] = f"{kind} {amount[kind]}"
    return names


def kind_of(identifier: str) -> str:
    """ "Cabinet|+00.41|…" is a Cabinet, "Sink|+00.00|+00.89|-01.44|SinkBasin" a SinkBasin. Named
    after what comes first, as in the games: "Bathtub|…|SinkBasin" is a BathtubBasin."""
    first, *_, last = identifier.split("|")
    return f"{first}{_BASIN}" if last.endswith(_BASIN) else first


def unlisted_identifier(kind: str) -> str:
    """The identifier of a receptacle that the floor plan does not list."""
    first = kind.removesuffix(_BASIN)
    position = "|+00.00|+00.00|+00.00"
    return f"{first}{position}|{kind}" if kind != first else f"{kind}{position}"
