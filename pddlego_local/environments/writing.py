"""Problem files, as the references of the environments write them."""

from collections.abc import Callable, Iterable

Fact = tuple[str, ...]
"""("have", "red onion"): a predicate and the game's names of its arguments."""


def atoms(facts: Iterable[Fact], spell: Callable[[str], str]) -> list[str]:
    """The facts as PDDL, their names spelled so: "(have red_onion)"."""
    return [f"({' '.join(map(spell, fact))})" for fact in facts]


def problem_file(
    name: str, domain: str, objects: Iterable[str], facts: Iterable[str], goal: str
) -> str:
    """Each of the `objects`, "mug1 mug2 - mug", and of the `facts` on a line of its own."""
    return (
        f"(define (problem {name})\n"
        f"  (:domain {domain})\n"
        f"  (:objects{_lines(objects)})\n"
        f"  (:init{_lines(facts)})\n"
        f"  (:goal {goal}))\n"
    )


def _lines(items: Iterable[str]) -> str:
    return "".join(f"\n    {item}" for item in items)
