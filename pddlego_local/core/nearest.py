"""Finds the known name that an unknown name probably stands for."""

import difflib
import re
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns the known name whose spelling is closest to `name`, or "" if none is
    close.

    Case is ignored, "-" and "_" are equivalent, and "+" is read as "_plus". So
    "PDDLego+" is closest to "pddlego_plus".
    """
    by_spelling = {_plain(known_name): known_name for known_name in known}
    close = difflib.get_close_matches(_plain(name), by_spelling, n=1)
    return by_spelling[close[0]] if close else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns the end of a sentence: "; did you mean NAME?", or "." if no known name is
    close.
    """
    close = nearest(name, known)
    return f"; did you mean {close}?" if close else "."


def _plain(name: str) -> str:
    spelled_out = name.lower().replace("+", "_plus")
    return re.sub(r"[\W_]+", "_", spelled_out).strip("_")
