"""Seeds that depend only on what is requested, never on the time or order of
requests.
"""

import hashlib


def derive_seed(*parts: int | str) -> int:
    """Derives a seed in [0, 2**31) from the parts that identify a request.

    These are the run seed, game, trial and call number.
    """
    text = "/".join(map(str, parts))
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
