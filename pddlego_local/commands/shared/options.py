"""Parses command-line options: counts and files."""

import argparse
import contextlib
import os.path
from collections.abc import Callable, Iterator
from pathlib import Path

from pddlego_local.core.errors import PddlegoError


def count(most: int, least: int = 1) -> Callable[[str], int]:
    """Returns an argparse type: an integer from `least` to `most`."""

    def parse(text: str) -> int:
        if text.isdecimal() and len(text) < 20 and least <= int(text) <= most:
            return int(text)
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is not a whole number from {least} to {most:,}"
        )

    return parse


def path(text: str) -> Path:
    """An argparse type: a path, with "~" for the home folder, which no shell expands in
    --out=~/x.

    An unknown user is no home folder.
    """
    return Path(os.path.expanduser(text))  # noqa: PTH111 - it raises for an unknown user


@contextlib.contextmanager
def as_error(kind: type[PddlegoError], what: object) -> Iterator[None]:
    """Turns an OSError into an error of this kind, such as "--out FILE: Permission
    denied".
    """
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}") from error
