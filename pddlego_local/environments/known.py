"""What a game has told of its map beside what PDDL says of it, for people who read a report."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """One piece of a map: `what` names it, `told` is what the game has said of it, and `written`
    what a problem file says; "" for nothing. `agrees` says whether these are the same, None where
    they cannot be compared."""

    what: str
    told: str
    written: str
    agrees: bool | None = None
