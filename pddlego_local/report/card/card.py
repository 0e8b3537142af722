"""Puts a card together, and writes it as a page, as Markdown and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic

from pddlego_local.report.arms import Arm
from pddlego_local.report.card.faults import Fault, write_faults
from pddlego_local.report.card.numbers import (
    STAGES,
    Evaluated,
    Line,
    Renamed,
    by_rules,
    lines_of,
    published_beside,
    renamed_of,
)
from pddlego_local.report.card.pooled import Pooled, pooled
from pddlego_local.report.contrasts import Contrast
from pddlego_local.report.pages.rendering import page
from pddlego_local.report.papers import Row
from pddlego_local.report.text import number, percent, rate, rendered
from pddlego_local.runner.settings import ARM
from pddlego_local.runner.suite import BY_RULES, suite

UNTESTED = (
    "This size tests nothing: its games are too few. The differences are shown with"
    " their intervals at 95 %, one by one, without a verdict."
)
UNPROVEN = (
    "Nothing here proves that the named weights wrote these answers: records show what"
    " was asked, what was answered, and what came of it in the game."
)


@dataclass(frozen=True, kw_only=True)
class Card:
    """The content of a card. `model` says who played, where and with which versions.
    `published` has results of others on the same games with the same method, by part.
    """

    suite: int
    sha256: str
    size: str
    title: str
    thinking: bool
    model: Mapping[str, str]
    lines: Sequence[Line]
    renamed: Sequence[Renamed]
    tested: bool
    comparisons: Sequence[Pooled]
    faults: Sequence[Fault]
    published: Mapping[str, Sequence[Row]]
    problems: Sequence[str]

    @property
    def missing(self) -> int:
        return sum(line.missing for line in self.lines)


_CARD = pydantic.TypeAdapter(Card)


def write_card(run: Path) -> Path:
    """Writes the card of the evaluation in a folder, with pages of ten lost games, and
    returns the path of card.html. Raises ConfigError if it holds no evaluation.
    """
    card = card_of(run)
    text = _CARD.dump_json(card, indent=2)
    (run / "card.json").write_bytes(text + b"\n")
    words = {"number": number, "percent": percent, "rate": rate, "STAGES": STAGES}
    facts: dict[str, Any] = {
        "card": card,
        "UNTESTED": UNTESTED,
        "UNPROVEN": UNPROVEN,
        **words,
    }
    markdown = rendered("card", **facts)
    (run / "card.md").write_text(markdown, encoding="utf-8")
    html = page("card.html.jinja", styles=["common.css", "card.css"], **facts)
    path = run / "card.html"
    path.write_text(html, encoding="utf-8")
    return path


def card_of(run: Path) -> Card:
    evaluated = Evaluated(run)
    entry = evaluated.entry
    lines = lines_of(evaluated, by_rules(entry, run.parent))
    tested = suite().size(entry.size).tested
    return Card(
        suite=entry.suite,
        sha256=entry.sha256,
        size=entry.size,
        title=entry.title,
        thinking=entry.thinking,
        model=dict(_facts(evaluated)),
        lines=lines,
        renamed=renamed_of(lines),
        tested=tested,
        comparisons=_comparisons(evaluated, tested=tested),
        faults=write_faults(evaluated),
        published=published_beside(entry),
        problems=[problem for cell in evaluated.cells for problem in cell.problems],
    )


def _comparisons(evaluated: Evaluated, *, tested: bool) -> list[Pooled]:
    """Compares the pairs of arms that the suite declares."""
    arms = dict[tuple[str, str], Arm]()
    for played in evaluated.entry.plays:
        if cell := evaluated.cell(played):
            arms[played.part, played.arm] = Arm((cell,))
    groups = []
    for pair in suite().compare:
        group = []
        for part in dict.fromkeys(part for part, _ in arms):
            base = arms.get((part, pair["base"]))
            other = arms.get((part, pair["other"]))
            if base and other:
                group.append(Contrast(ARM, base, other))
        if group:
            groups.append(group)
    return pooled(groups, tested=tested)


def _facts(evaluated: Evaluated) -> Iterator[tuple[str, str]]:
    """Yields who played, where, and with which versions."""
    entry = evaluated.entry
    yield "name", entry.name
    if entry.name in BY_RULES:
        yield "plays", "by rules; it is no language model"
    yield "thinks before it answers", "yes" if entry.thinking else "no"
    if not evaluated.cells:
        return
    run = evaluated.cells[0].run
    for key, value in run.model.items():
        yield key.replace("_", " "), str(value)
    if entry.quantization:
        yield "quantization", entry.quantization
    if dtype := entry.model.get("dtype"):
        yield "dtype", str(dtype)
    if entry.canary:
        yield "the server obeys", "; ".join(entry.canary)
    start = run.starts[-1]
    if start.backend_version:
        yield "version of the backend", start.backend_version
    machine = start.machine or {}
    if "gpus" in machine:  # earlier records do not say
        yield "GPUs", ", ".join(machine["gpus"]) or "none"
    yield "cores", str(machine.get("cores", "unknown"))
    packages = start.packages or {}
    versions = [f"{name} {version}" for name, version in packages.items() if version]
    yield "packages", ", ".join(versions)
