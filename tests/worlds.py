"""Described worlds in a folder, in the published layout."""

from pathlib import Path

from pddlego_local.environments.described.generated import generate


def plant_worlds(folder: Path, count: int) -> None:
    for number in range(count):
        world = generate("blocksworld", "moderately", (3, 3), number)
        (folder / "domain.pddl").write_text(world.domain, encoding="utf-8")
        (folder / f"p0{number}_domain.txt").write_text(
            world.domain_text, encoding="utf-8"
        )
        (folder / f"p0{number}_problem.txt").write_text(
            world.problem_text, encoding="utf-8"
        )
        (folder / f"p0{number}.pddl").write_text(world.problem, encoding="utf-8")
