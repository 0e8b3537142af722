"""Tests whether `generated.py` could have written a text in a degree that trainings
use.

A small model that learned these texts fails on other wordings of the same worlds, and
often on the same sentences in another order too (docs/use/formalize.md). The order is
not checked here.
"""

import itertools
import re
from collections.abc import Mapping

import pydantic

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.described.generated import (
    LEARNED,
    Degree,
    Family,
    words_of,
)
from pddlego_local.environments.described.world import HEADS

NAME = r"\w+ \d+"

_OTHER = (
    "has the rules of {}, but its things, facts or goal have other words or another"
    " number"
)


def check_card(known: Mapping[str, tuple[int, int]], weights: str) -> None:
    """Raises ConfigError if the card of these weights names a world that there is not,
    with the least and greatest number of its things.
    """
    try:
        pydantic.TypeAdapter(list[Family]).validate_python(list(known))
    except ValueError as error:
        raise ConfigError(
            f"{weights}/README.md: `texts` in the YAML at the top must name worlds such"
            " as blocksworld"
        ) from error


def recognize(text: str, known: Mapping[Family, tuple[int, int]]) -> tuple[str, str]:
    """Returns (the text as `generate` lays it out, "") if the text describes a world of
    the `known` families, each with its minimum and maximum number of blocks or
    packages. Returns ("", what is wrong with the text) otherwise, such as "is empty".

    Spaces and line breaks make no difference, and the action heads may be missing.
    """
    flat, sentences = " ".join(text.split()), set[str]()
    for family, degree in itertools.product(known, LEARNED):
        words = words_of(family)
        about, heads = (
            words["domain_text"][degree].strip(),
            f"{HEADS}\n{words['heads'].strip()}",
        )
        if rules := re.match(f"{_pattern(about)}( {_pattern(heads)})? ", flat):
            problem = _problem(flat[rules.end() :], family, degree, known[family])
            parts = (about, heads, problem) if rules[1] else (about, problem)
            return ("\n\n".join(parts), "") if problem else ("", _OTHER.format(family))
        sentences.update(_sentences(about))
    other = next((each for each in _sentences(flat) if each not in sentences), "")
    return (
        "",
        f'says "{other:.60}", which is unknown' if other else "is empty or breaks off",
    )


def _problem(text: str, family: Family, degree: Degree, sizes: tuple[int, int]) -> str:
    """Returns the text in three lines, or "" if it describes no world of this family
    and these sizes.
    """
    words = words_of(family)
    form = words["problem_text"][degree].strip()
    parts = re.fullmatch(_pattern(form, "(.+?)"), text)
    if parts is None:
        return ""
    things, facts = parts[1].split(", "), [*parts[2].split("; "), *parts[3].split("; ")]
    phrases = "|".join(
        _pattern(phrase, NAME) for phrase in words["told"][degree].values()
    )
    known = all(re.fullmatch(NAME, thing) for thing in things)
    known = known and all(re.fullmatch(phrases, fact) for fact in facts)
    count = sum(thing.startswith(f"{words['thing']} ") for thing in things)
    if not known or not sizes[0] <= count <= sizes[1]:
        return ""
    return str(form.format(things=parts[1], start=parts[2], goal=parts[3]))


def _pattern(words: str, slot: str = "") -> str:
    """Returns a regular expression for these words, with `slot` in the place of each
    {name}.
    """
    return slot.join(map(re.escape, re.split(r"\{\w+\}", " ".join(words.split()))))


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.:!?]) ", " ".join(text.split()))
