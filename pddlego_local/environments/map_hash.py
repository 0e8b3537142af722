"""How a record names a game's map: games with the same hash have the same map."""

import hashlib
import json


def map_hash(environment: str, *what: object) -> str:
    """12 hexadecimal digits for what an environment calls its map: data that JSON can hold, in an
    order that does not depend on chance."""
    text = json.dumps([environment, *what], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
