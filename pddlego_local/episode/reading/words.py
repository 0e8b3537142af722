"""Loads the words in `words.yaml` for regular expressions."""

from pathlib import Path

import yaml

_WORDS: dict[str, list[str]] = yaml.safe_load(
    Path(__file__).with_name("words.yaml").read_text(encoding="utf-8")
)


def any_of(kind: str) -> str:
    """Returns a regular expression that matches any word of one kind."""
    return f"(?:{'|'.join(_WORDS[kind])})"
