"""Options that say how many."""

import argparse
from collections.abc import Callable


def count(most: int, least: int = 1) -> Callable[[str], int]:
    """For argparse: a whole number within these bounds."""

    def parse(text: str) -> int:
        if text.isdecimal() and len(text) < 20 and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is not a whole number from {least} to {most:,}"
        )

    return parse
