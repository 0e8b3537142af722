"""Seeds that depend on what is asked, never on when or in which order."""

import hashlib


def derive_seed(*parts: int | str) -> int:
    """A seed in [0, 2**31) from what identifies a request: run seed, game, trial, call number."""
    text = "/".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1
