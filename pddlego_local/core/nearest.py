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
    spelled = {_plain(one): one for one in known}
    close = difflib.get_close_matches(_plain(name), spelled, n=1, cutoff=0.6)
    return spelled[close[0]] if close else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns the end of a sentence: "; did you mean NAME?", or "." if no known name is
    close.
    """
    close = nearest(name, known)
    return f"; did you mean {close}?" if close else "."


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name.lower().replace("+", "_plus")).strip("_")
