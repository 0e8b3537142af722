"""docs/results/models.md: the table of models, from the bundles beside it."""

from collections.abc import Iterator
from pathlib import Path

from pddlego_local.report.bundle import unpacked
from pddlego_local.report.card.numbers import Evaluated, Line, by_rules, lines_of
from pddlego_local.report.text import rate
from tools.pages import tables
from tools.pages.blocks import Page
from tools.pages.records import RESULTS, Records

BUNDLES = RESULTS / "models"


def evaluations(bundle: Path) -> Iterator[tuple[Evaluated, list[Line]]]:
    """Yields the evaluation in a bundle with the lines of its card."""
    with unpacked(bundle) as folder:
        (run,) = folder.iterdir()
        evaluated = Evaluated(run)
        yield evaluated, lines_of(evaluated, by_rules(evaluated.entry, run.parent))


def models(records: Records) -> str:
    """Games won of each part of the suite, by each arm. Parts that no model played are
    left out.
    """
    rows = []
    for bundle in sorted(BUNDLES.glob("*.tar.xz")):
        for evaluated, lines in evaluations(bundle):
            entry = evaluated.entry
            name = f"{entry.name}, thinking" if entry.thinking else entry.name
            for line in lines:
                if line.won is None:
                    continue
                row = {
                    "part": line.about,
                    "model": f"`{name}`",
                    "arm": f"`{line.arm}`",
                    "games won": f"{line.won.k} of {line.won.n}",
                    "share, 95 % interval": rate(line.won).partition(" of ")[0],
                }
                rows.append(row)
    in_order = sorted(rows, key=lambda row: row["part"])
    return tables.table(in_order)


PAGES = (Page("docs/results/models.md", {"models": models}),)
