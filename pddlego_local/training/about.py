"""What a card says of the environments that a model was trained on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.training.examples import Kind


@dataclass(frozen=True)
class About:
    """`learned` are the settings that all questions had; `pddlego run` warns of others. `maps` says
    what counts as a map: games on one of its training's are not unseen."""

    writes: str
    learned: Mapping[str, str]
    games: str
    maps: str


_PDDLEGO_PLUS = {"method.prompts": "pddlego_plus", "method.variant": "compact"}
ABOUT: Mapping[Kind, About] = {
    "coin": About(
        "for CoinCollector: the answers of PDDLego+ to its questions in `method.variant=compact`",
        {"environment": "coin"} | _PDDLEGO_PLUS,
        "Games of 3 to 11 rooms, with and without doors, played by the reference with planted "
        "slips (a wrong direction, a missing fact, a broken bracket, …), so that it also sees what "
        "the planner and the game say of mistakes.",
        "Houses repeat, small ones above all: rooms by their names, ways, doors, the start and the "
        "coin make a map.",
    ),
    "alfworld": About(
        "for ALFWorld: the answers of PDDLego+ to its questions in `method.variant=compact`",
        {"environment": "alfworld"} | _PDDLEGO_PLUS,
        "Games of our own in the rooms of ALFRED's training split (no game of its data set), "
        "played by the reference with planted slips.",
        "A map is a floor plan.",
    ),
    "described": About(
        "for worlds that two texts describe (Blocksworld, Logistics, Mystery Blocksworld, "
        "moderately and heavily templated): the answers to the questions of `method=formalizer` "
        "and `method=formalizer_two_step`",
        {"environment": "described", "method.prompts": "formalizer"},
        "Worlds of 2 to 9 blocks or packages, asked for in one step and in two, briefly and after "
        "a page on PDDL. No repair: `rounds` above 0 are not known to it.",
        "Worlds with the same objects, start and goal are one map.",
    ),
}


def learned(kinds: Sequence[Kind]) -> dict[str, str]:
    """The settings that all its training's questions had."""
    shared = set.intersection(*(set(ABOUT[kind].learned.items()) for kind in kinds))
    return {key: value for key, value in ABOUT[kinds[0]].learned.items() if (key, value) in shared}
