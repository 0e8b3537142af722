"""A world in which names mean nothing: every name becomes a pseudo-word, and every
phrase the default one. What a model knows of kitchens no longer helps it. Seeds, maps
and budgets stay.

A pseudo-word follows from the word alone, so that it is the same in every game:
`living_room` has the words for `living` and `room`, and `room3` the one for `room`.
"""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.explored.seen_when import ALWAYS, HERE
from pddlego_local.environments.explored.world import World, WorldFile
from pddlego_local.environments.tables import without_comments

_TOKEN = re.compile(r"[^\s()]+")
_WORD = re.compile(r"[a-z]+")
_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"
_SYLLABLES = 3
_OF_PDDL = frozenset({
    *("define", "domain", "problem", "object", "and", "or", "not", "imply", "when"),
    *("forall", "exists", "either", "increase", "decrease", "minimize", "maximize"),
    *("number", "total-cost", "total-time", HERE, ALWAYS),
})  # fmt: skip


def renamed(world: World) -> World:
    """Returns the world with pseudo-words for all names."""
    file = world.file
    hide = {}
    for name, arguments in file.hide.items():
        own_arguments = {_renamed(key): _renamed(arguments[key]) for key in arguments}
        hide[_renamed(name)] = own_arguments
    own = WorldFile(  # games are drawn in the names of the files
        vary=file.vary,
        sizes=file.sizes,
        here=renamed_pddl(file.here),
        see={_renamed(name): _renamed_all(text) for name, text in file.see.items()},
        hide=hide,
        known=None if file.known is None else [*map(_renamed, file.known)],
        budget=file.budget,
        checked=file.checked,
        located=None if file.located is None else [*map(_renamed, file.located)],
    )
    return replace(
        world,
        file=own,
        domain_text=renamed_pddl(world.domain_text),
        has_pseudo_words=True,
    )


def renamed_problem(folder: Path, domain: str, problem: str) -> str:
    """Returns a problem with pseudo-words. Raises ConfigError if two words of the
    domain and the problem have one pseudo-word.
    """
    words: dict[str, str] = {}
    for word in _WORD.findall(without_comments(f"{domain}\n{problem}").lower()):
        other = words.setdefault(_pseudo_word(word), word)
        if other != word:
            raise ConfigError(
                f"{folder}: {other} and {word} have one pseudo-word; give one of them"
                " another name, or play with environment.renamed=false."
            )
    return renamed_pddl(problem)


def renamed_pddl(text: str) -> str:
    """Returns a domain, a problem or a condition with pseudo-words for its names."""
    return _TOKEN.sub(lambda token: _renamed(token[0]), without_comments(text).lower())


def _renamed_all(texts: str | list[str]) -> str | list[str]:
    if isinstance(texts, str):
        return renamed_pddl(texts)
    return [*map(renamed_pddl, texts)]


def _renamed(token: str) -> str:
    lower = token.lower()
    if lower in _OF_PDDL or lower.startswith(":"):
        return lower
    return _WORD.sub(lambda word: _pseudo_word(word[0]), lower)


def _pseudo_word(word: str) -> str:
    digest = hashlib.sha256(word.encode()).digest()
    syllables = [
        _CONSONANTS[digest[2 * n] % len(_CONSONANTS)]
        + _VOWELS[digest[2 * n + 1] % len(_VOWELS)]
        for n in range(_SYLLABLES)
    ]
    return "".join(syllables)
