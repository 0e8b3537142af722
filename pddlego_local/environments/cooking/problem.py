"""Problem files for CookingWorld, written from what a memory tells.

The same objects and facts serve the hand-written domain and the reference's own.
"""

from collections.abc import Iterable, Sequence

from pddlego_local.environments.cooking.text import KNIFE, Kitchen
from pddlego_local.environments.textworld_express.house_map import pddl_name

Fact = tuple[str, ...]
"""("have", "red onion"): a predicate and the game's names of its arguments."""


def write(kitchen: Kitchen, domain: str, facts: Iterable[Fact], goal: Sequence[Fact]) -> str:
    """A problem file with all objects that are known; `facts` and `goal` are in the game's names.

    The recipe's ingredients are objects before they are found, and so is a knife that is needed.
    """
    objects = "\n    ".join(
        f"{' '.join(map(pddl_name, names))} - {kind}"
        for kind, names in _objects(kitchen).items()
        if names
    )
    return (
        f"(define (problem {domain}_now)\n"
        f"  (:domain {domain})\n"
        f"  (:objects\n    {objects})\n"
        f"  (:init\n    {_lines(facts)})\n"
        f"  (:goal (and\n    {_lines(goal)})))\n"
    )


def world(kitchen: Kitchen) -> list[Fact]:
    """Where everything is, what is held and what is processed."""
    passages = [
        ("closed-door" if closed else "connected", start, to, direction)
        for start, to, direction, closed in kitchen.house.passages()
    ]
    return [
        ("at", kitchen.house.here),
        *passages,
        *(("obj-at", name, room) for name, room in kitchen.appliances),
        *(("obj-at", name, room) for name, room in kitchen.items.items() if name != "cookbook"),
        *(("have", name) for name in kitchen.held if name != "cookbook"),
        *sorted(kitchen.done),
    ]


def chores(kitchen: Kitchen) -> list[Fact]:
    """What the hand-written domain leaves to the method: containers, the kitchen, the meal."""
    return [
        *(("closed", name, room) for name, room in kitchen.closed),
        *(("opened", name, room) for name, room in kitchen.opened),
        ("is-kitchen", "kitchen"),
        *([("prepared",)] if kitchen.prepared else []),
        *([("eaten",)] if kitchen.eaten else []),
    ]


def _objects(kitchen: Kitchen) -> dict[str, dict[str, None]]:
    """The objects of each type, each once."""
    passages = list(kitchen.house.passages())
    things = [*kitchen.recipe.ingredients, *kitchen.held, *kitchen.items]
    kinds = {
        "location": [*kitchen.house.exits, *(to for _, to, _, _ in passages), "kitchen"],
        "direction": [direction for _, _, direction, _ in passages],
        "container": [name for name, _ in (*kitchen.closed, *kitchen.opened)],
        "ingredient": [name for name in things if name not in (KNIFE, "cookbook")],
        "knife": [KNIFE] if kitchen.recipe.cuts or KNIFE in things else [],
        **{name: [name] for name, _ in kitchen.appliances},
    }
    return {kind: dict.fromkeys(names) for kind, names in kinds.items()}


def _lines(facts: Iterable[Fact]) -> str:
    return "\n    ".join(f"({' '.join(map(pddl_name, fact))})" for fact in facts)
