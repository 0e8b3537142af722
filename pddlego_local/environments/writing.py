"""Writes problem files for the references of the environments."""

from collections.abc import Callable, Iterable, Sequence

Fact = tuple[str, ...]
"""A predicate and its arguments by the game's names: ("have", "red onion")."""


def of_each(predicate: str, things: Iterable[str]) -> list[Fact]:
    """Returns the fact of every thing: ("loose", "nut 1"), ("loose", "nut 2")."""
    return [(predicate, thing) for thing in things]


def of_pairs(predicate: str, pairs: Iterable[Sequence[str]]) -> list[Fact]:
    """Returns the fact of every pair (or longer sequence) of things: ("at", "truck 1",
    "depot 2").
    """
    return [(predicate, *pair) for pair in pairs]


def atoms(facts: Iterable[Fact], spell: Callable[[str], str]) -> list[str]:
    """Returns the facts in PDDL, with each word spelled by `spell`: "(have
    red_onion)".
    """
    written = []
    for fact in facts:
        words = " ".join(map(spell, fact))
        written.append(f"({words})")
    return written


def problem_file(
    name: str, domain: str, objects: Iterable[str], facts: Iterable[str], goal: str
) -> str:
    """Returns a problem file with a line for each of the `objects`, such as "mug1 mug2
    - mug", and for each of the `facts`.
    """
    return (
        f"(define (problem {name})\n"
        f"  (:domain {domain})\n"
        f"  (:objects{_lines(objects)})\n"
        f"  (:init{_lines(facts)})\n"
        f"  (:goal {goal}))\n"
    )


def _lines(items: Iterable[str]) -> str:
    return "".join(f"\n    {item}" for item in items)
