"""What options may say: how many, and which file."""

import argparse
import contextlib
from collections.abc import Callable, Iterator

from pddlego_local.core.errors import PddlegoError


def count(most: int, least: int = 1) -> Callable[[str], int]:
    """For argparse: a whole number within these bounds."""

    def parse(text: str) -> int:
        if text.isdecimal() and len(text) < 20 and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is not a whole number from {least} to {most:,}"
        )

    return parse


@contextlib.contextmanager
def told_as(kind: type[PddlegoError], what: object) -> Iterator[None]:
    """What the system refuses is an error of this kind: "--out FILE: Permission denied"."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}") from error
