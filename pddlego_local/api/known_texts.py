"""The described worlds whose texts the models of this package know, in words."""

from collections.abc import Mapping, Sequence

from pddlego_local.environments.described.generated import Family, words_of
from pddlego_local.environments.described.recognized import recognize
from pddlego_local.models.card import known_texts
from pddlego_local.models.weights import folder_named, in_the_box

KnownTexts = Mapping[Family, tuple[int, int]]
"""Worlds, each with its least and greatest number of blocks, packages or the like."""


def in_words(known: KnownTexts) -> str:
    worlds = []
    for world, (least, most) in known.items():
        worlds.append(f"{world} with {least} to {most} {words_of(world)['thing']}s")
    if worlds:
        texts = f"{', '.join(worlds)}, in the exact words of environment=described"
    else:
        texts = "no texts of whole worlds"
    return f"{texts} (docs/use/formalize.md)"


def models_that_know(texts: Sequence[str], domain: str) -> str:
    """Returns a sentence on the models of this package that know all texts, "" if none
    does. None knows a domain file.
    """
    if domain:
        return ""
    models = []
    for name in in_the_box():
        known = known_texts(folder_named(name)) or {}
        if all(recognize(text, known)[0] for text in texts):
            models.append(name)
    if not models:
        return ""
    return f"Models included here that know the text: {', '.join(models)}."
