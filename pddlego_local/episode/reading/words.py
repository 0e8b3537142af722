"""Loads the words in `words.yaml` for regular expressions."""

from pddlego_local.core.resources import table

_WORDS: dict[str, list[str]] = table(__file__)


def any_of(kind: str) -> str:
    """Returns a regular expression that matches any word of one kind."""
    return f"(?:{'|'.join(_WORDS[kind])})"
