"""A game's map: how a record names it."""

import hashlib
import json


def map_hash(environment: str, *what: object) -> str:
    """12 hexadecimal digits: games with the same hash have the same map. `what` is the map as data
    that JSON can hold, in an order that does not depend on chance."""
    text = json.dumps([environment, *what], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
