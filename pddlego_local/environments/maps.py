"""What environments with maps share: the directions, and the hash that identifies a
game's map in a record.
"""

import hashlib
import json

OPPOSITE = {"north": "south", "east": "west", "south": "north", "west": "east"}


def map_hash(environment: str, *what: object) -> str:
    """Returns 12 hexadecimal digits. Games with the same hash have the same map. `what`
    is the map as JSON data, in an order that does not depend on chance.
    """
    text = json.dumps([environment, *what], ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return digest[:12]
