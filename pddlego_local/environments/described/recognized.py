"""Tests whether `generated.py` could have written a text in a degree that trainings
use.

A small model that learned these texts fails on other wordings of the same worlds, and
often on the same sentences in another order too (docs/use/formalize.md). The order is
not checked here.
"""

import itertools
import re
from collections.abc import Mapping
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.described.generated import (
    LEARNED,
    Degree,
    families,
    words_of,
)
from pddlego_local.environments.described.world import HEADS

NAME = r"\w+ \d+"
_CONSTANTS = re.compile(r"\(:constants (\w+) - ")  # such as the kitchen of childsnack

_OTHER = (
    "has the rules of {}, but its things, facts or goal have other words or another"
    " number"
)


def recognize(text: str, known: Mapping[str, tuple[int, int]]) -> tuple[str, str]:
    """Returns (the text as `generate` lays it out, "") if the text describes a world of
    the `known` families, each with its minimum and maximum number of blocks or
    packages. Returns ("", what is wrong with the text) otherwise, such as "is empty".

    Spaces and line breaks make no difference, and the action heads may be missing.
    Raises ConfigError if a model's card names a family that does not exist.
    """
    for family in known:
        if family not in families():
            raise ConfigError(
                f"the model's card lists {family!r} under `texts`, and there is no such"
                f" world; the worlds are {', '.join(families())}"
            )
    flat = _flat(text)
    known_sentences = set()
    for family, degree in itertools.product(known, LEARNED):
        words = words_of(family)
        about = words["domain_text"][degree].strip()
        heads = f"{HEADS}\n{words['heads'].strip()}"
        opening = f"{_pattern(about)}( {_pattern(heads)})? "
        rules = re.match(opening, flat)
        if rules is None:
            known_sentences.update(_sentences(about))
            continue
        rest = flat[rules.end() :]
        problem = _problem(rest, words, degree, known[family])
        if not problem:
            return "", _OTHER.format(family)
        has_heads = rules[1] is not None
        parts = [about, heads, problem] if has_heads else [about, problem]
        return "\n\n".join(parts), ""
    for sentence in _sentences(flat):
        if sentence not in known_sentences:
            return "", f'says "{sentence:.60}", which is unknown'
    return "", "is empty or breaks off"


def _problem(
    text: str, words: Mapping[str, Any], degree: Degree, sizes: tuple[int, int]
) -> str:
    """Returns the text in three lines, or "" if it describes no world of the family
    with these words and of these sizes.
    """
    form: str = words["problem_text"][degree].strip()
    parts = re.fullmatch(_pattern(form, "(.+?)"), text)
    if parts is None:
        return ""
    told, start, goal = parts.groups()
    facts = [*start.split("; "), *goal.split("; ")]
    known_fact = _fact_pattern(words, degree)
    if not all(known_fact.fullmatch(fact) for fact in facts):
        return ""
    things = told.split(", ")
    if not all(re.fullmatch(NAME, thing) for thing in things):
        return ""
    main = words["thing"]
    counted = [thing for thing in things if thing.startswith(f"{main} ")]
    least, most = sizes
    if not least <= len(counted) <= most:
        return ""
    return form.format(things=told, start=start, goal=goal)


def _fact_pattern(words: Mapping[str, Any], degree: Degree) -> re.Pattern[str]:
    """Returns a regular expression for the facts that a world's texts may state."""
    constants = _CONSTANTS.findall(words["domain"])
    names = "|".join([NAME, *constants])
    phrases = words["told"][degree].values()
    slot = f"(?:{names})"
    patterns = [_pattern(phrase, slot) for phrase in phrases]
    return re.compile("|".join(patterns))


def _pattern(words: str, slot: str = "") -> str:
    """Returns a regular expression for these words, with `slot` in the place of each
    {name}.
    """
    parts = re.split(r"\{\w+\}", _flat(words))
    return slot.join(map(re.escape, parts))


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.:!?]) ", _flat(text))


def _flat(text: str) -> str:
    return " ".join(text.split())
