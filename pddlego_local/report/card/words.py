"""The sentences of a card and of a comparison, from words.yaml beside this module."""

from typing import Any

from pddlego_local.core.resources import table

WORDS: dict[str, Any] = table(__file__)
