"""docs/results/models.md: the tables of models, from the bundles beside it. The rows of
a bundle are taken as they are; `pddlego eval --check` plays them again.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.grouping import grouped
from pddlego_local.core.record.entry import Entry
from pddlego_local.report.bundle import SUFFIX, evaluation_in
from pddlego_local.report.card.numbers import Evaluated, Line, lines_of
from pddlego_local.report.statistics.rates import Rate
from pddlego_local.report.text import rate
from pddlego_local.runner.suite import BY_RULES, suite
from tools.pages import tables
from tools.pages.blocks import Page
from tools.pages.records import RESULTS, Records

BUNDLES = RESULTS / "models"


@dataclass(frozen=True)
class Bundle:
    """An evaluation in a file, and the lines of its card."""

    file: Path
    entry: Entry
    lines: list[Line]


def read(file: Path) -> Bundle:
    """Raises ConfigError for a file that is no bundle of a whole evaluation."""
    with evaluation_in(file) as run:
        evaluated = Evaluated(run)
        for cell in evaluated.cells:
            if cell.problems:
                raise ConfigError(cell.problems[0])
        lines = lines_of(evaluated, {})
    if missing := sum(line.missing for line in lines):
        raise ConfigError(
            f"{file}: {missing} episodes have no result; play the evaluation to its"
            " end."
        )
    return Bundle(file, evaluated.entry, lines)


def models(records: Records) -> str:
    """A table for each part of the suite that a model played, with the games won by
    each arm.
    """
    bundles = [read(file) for file in sorted(BUNDLES.glob(f"*{SUFFIX}"))]
    names = names_of(bundles)
    by_part = grouped(
        (line.part, (name, bundle.entry, line))
        for name, bundle in zip(names, bundles, strict=True)
        for line in bundle.lines
        if line.won is not None
    )
    blocks = list[str]()
    for part in suite().parts:
        if found := by_part.get(part):
            blocks += [f"### {suite().parts[part].about}", *_part(found)]
    return "\n\n".join(blocks)


def names_of(bundles: Sequence[Bundle]) -> list[str]:
    """Returns what each bundle is called: as its model, and by its file too if several
    have one model.
    """
    count = Counter(bundle.entry.title for bundle in bundles)
    names = []
    for bundle in bundles:
        name = f"`{bundle.entry.title}`"
        if count[bundle.entry.title] > 1:
            name += f" ({bundle.file.name})"
        names.append(name)
    return names


def _part(found: Sequence[tuple[str, Entry, Line]]) -> Iterator[str]:
    """Yields a sentence about those that play by rules, and the table of the models."""
    by_rules = [
        f"{name} {_won(line.won)}"
        for name, entry, line in found
        if line.won and entry.name in BY_RULES
    ]
    if by_rules:
        yield f"By rules: {', '.join(by_rules)}."
    of_model = grouped(
        (name, line) for name, entry, line in found if entry.name not in BY_RULES
    )
    arms = {line.arm for lines in of_model.values() for line in lines}
    in_order = [arm for arm in suite().arms if arm in arms]
    rows = []
    for name, lines in of_model.items():
        won = {line.arm: _won(line.won) for line in lines if line.won}
        cells = {f"`{arm}`": won.get(arm, "–") for arm in in_order}
        rows.append({"model": name, **cells})
    if rows:
        yield tables.table(rows).strip()


def _won(share: Rate) -> str:
    """For example "15 of 20 [53.1, 88.8]": games won, and the interval of the share."""
    interval = rate(share).partition("[")[2].partition("]")[0]
    return f"{share.k} of {share.n} [{interval}]"


PAGES = (Page("docs/results/models.md", {"models": models}),)
