"""Puts a card together, and writes it as a page, as Markdown and as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic

from pddlego_local.report.arms import Arm
from pddlego_local.report.card.faults import Fault, write_faults
from pddlego_local.report.card.left_out import LeftOut, left_out
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
from pddlego_local.report.card.player import details_of, player_of
from pddlego_local.report.card.pooled import Pooled, pooled
from pddlego_local.report.card.words import WORDS
from pddlego_local.report.contrasts import Contrast
from pddlego_local.report.pages.rendering import page
from pddlego_local.report.papers import Row
from pddlego_local.report.text import number, percent, rate, rendered
from pddlego_local.runner.settings import ARM
from pddlego_local.runner.suite import suite


@dataclass(frozen=True, kw_only=True)
class Card:
    """The content of a card. `model` says who played and where, and `details` has
    hashes and versions. `arms` says in words what each arm of its lines is.
    `not_compared` are the suite's comparisons that this evaluation cannot make.
    `published` has results of others on the same games with the same method, by part.
    """

    suite: int
    sha256: str
    size: str
    title: str
    thinking: bool
    model: Mapping[str, str]
    details: Mapping[str, str]
    arms: Mapping[str, str]
    lines: Sequence[Line]
    renamed: Sequence[Renamed]
    tested: bool
    comparisons: Sequence[Pooled]
    not_compared: Sequence[LeftOut]
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
    facts: dict[str, Any] = {
        "card": card,
        "number": number,
        "percent": percent,
        "rate": rate,
        "whole": whole,
        "STAGES": STAGES,
        "words": WORDS,
    }
    markdown = rendered("card", **facts)
    (run / "card.md").write_text(markdown, encoding="utf-8")
    html = page("card.html.jinja", styles=["common.css", "card.css"], **facts)
    path = run / "card.html"
    path.write_text(html, encoding="utf-8")
    return path


def whole(value: float | None) -> str:
    """For example "4,695"."""
    return "–" if value is None else f"{value:,.0f}"


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
        model=dict(player_of(evaluated)),
        details=dict(details_of(evaluated)),
        arms=_arms(lines),
        lines=lines,
        renamed=renamed_of(lines),
        tested=tested,
        comparisons=_comparisons(evaluated, tested=tested),
        not_compared=[*left_out(evaluated)],
        faults=write_faults(evaluated),
        published=published_beside(entry),
        problems=[problem for cell in evaluated.cells for problem in cell.problems],
    )


def _arms(lines: Sequence[Line]) -> dict[str, str]:
    """Says what each arm is that was played."""
    return {line.arm: WORDS["arms"][line.arm] for line in lines if not line.why}


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
