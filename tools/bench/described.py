"""How described worlds of ours differ from other people's: lengths, words, objects, plans.

python -m tools.bench.described [FOLDER ...]     ours, and folders in the published layout
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from pddlego_local.environments.described.generated import generate
from pddlego_local.environments.described.gold import objects_in
from pddlego_local.environments.described.world import World, names_in, read_world
from pddlego_local.planner import FastDownward
from pddlego_local.report.text import markdown

OURS = 50  # worlds of each kind


def row(name: str, worlds: Iterable[World], planner: FastDownward) -> dict[str, str]:
    """Medians, and the least and most of objects and plan lengths."""
    domains, problems, objects, lengths = [], [], [], []
    words: set[str] = set()
    for world in worlds:
        told = [re.findall(r"[a-z]+", t.lower()) for t in (world.domain_text, world.problem_text)]
        domains.append(len(world.domain_text.split()))
        problems.append(len(world.problem_text.split()))
        words.update(*told)
        objects.append(len(objects_in(world.problem)))
        lengths.append(len(planner.plan(world.domain, world.problem).plan))
    return {
        "set": name,
        "worlds": str(len(domains)),
        "words of the domain": f"{median(domains):.0f}",
        "of the problem": f"{median(problems):.0f}",
        "different words in all": str(len(words)),
        "objects": f"{min(objects)} to {max(objects)}",
        "actions of a plan": f"{median(lengths):.0f} ({min(lengths)} to {max(lengths)})",
    }


def main(folders: list[str]) -> None:
    rows = []
    with FastDownward(search="lama_first") as planner:
        for family in ("blocksworld", "logistics", "mystery"):
            for degree in ("moderately", "heavily"):
                worlds = [generate(family, degree, (3, 8), seed) for seed in range(OURS)]
                rows.append(row(f"ours: {family}, {degree}", worlds, planner))
        for folder in map(Path, folders):
            theirs = (read_world(folder, name) for name in names_in(folder))
            rows.append(row(folder.name, theirs, planner))
    print(markdown(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
