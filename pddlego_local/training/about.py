"""What a card says of the environments that a model was trained on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pddlego_local.training.examples import Kind, PlayedBy


@dataclass(frozen=True)
class About:
    """`learned` are the settings that all questions had; `pddlego run` warns of others. `maps` says
    what counts as a map: games on one of its training's are not unseen."""

    writes: str
    learned: Mapping[str, str]
    games: str
    maps: str


_METHODS: Mapping[PlayedBy, tuple[str, Mapping[str, str]]] = {
    "compact": (
        "PDDLego+ to its questions in `method.variant=compact`",
        {"method.prompts": "pddlego_plus", "method.variant": "compact"},
    ),
    "pddl_edit": ("PDDL-edit (`method=pddl_edit`)", {"method.prompts": "pddlego"}),
}
_SLIPS = "played by the reference with planted slips"
ABOUT: Mapping[Kind, About] = {
    "coin": About(
        "for CoinCollector: the answers of {methods}",
        {"environment": "coin"},
        f"Games of 3 to 11 rooms, with and without doors, {_SLIPS} "
        "(a wrong direction, a missing fact, a broken bracket, …), so that it also sees what "
        "the planner and the game say of mistakes.",
        "Houses repeat, small ones above all: rooms by their names, ways, doors, the start and the "
        "coin make a map.",
    ),
    "cooking": About(
        "for CookingWorld: the answers of {methods}",
        {"environment": "cooking"},
        f"Games of 2 to 6 rooms and 1 to 5 ingredients, {_SLIPS}.",
        "A house with what lies in it and the recipe make a map.",
    ),
    "alfworld": About(
        "for ALFWorld: the answers of {methods}",
        {"environment": "alfworld"},
        "Games of our own in the rooms of ALFRED's training split (no game of its data set), "
        f"{_SLIPS}.",
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


def writes(kinds: Sequence[Kind], methods: Sequence[PlayedBy]) -> str:
    asked = " and of ".join(_METHODS[method][0] for method in dict.fromkeys(methods))
    return "; and ".join(ABOUT[kind].writes.format(methods=asked) for kind in kinds)


def learned(kinds: Sequence[Kind], methods: Sequence[PlayedBy]) -> dict[str, str]:
    """The settings that all its training's questions had."""
    each = [
        dict(ABOUT[kind].learned) | ({} if kind == "described" else dict(_METHODS[method][1]))
        for kind in kinds
        for method in methods
    ]
    shared = set.intersection(*(set(one.items()) for one in each))
    return {key: value for key, value in each[0].items() if (key, value) in shared}
