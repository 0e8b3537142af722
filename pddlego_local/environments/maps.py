"""A game's map: how a record names it, and what people who read a report are shown of it."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pddlego_local.core.nouns import Turn


@dataclass(frozen=True)
class Known:
    """One piece of a map: `what` names it, `told` is what the game has said of it, and `written`
    what a problem file says; "" for nothing. `agrees` says whether these are the same, None where
    they cannot be compared."""

    what: str
    told: str
    written: str
    agrees: bool | None = None


Describe = Callable[[Sequence[Turn], str], list[Known]]
"""Tells of (all that a game has said so far, a problem file) what is known of the map; a reset
begins with the first turn again."""


def map_hash(environment: str, *what: object) -> str:
    """12 hexadecimal digits: games with the same hash have the same map. `what` is the map as data
    that JSON can hold, in an order that does not depend on chance."""
    text = json.dumps([environment, *what], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
