"""Compares two evaluations on the same games: `pddlego eval --compare A B`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.grouping import grouped
from pddlego_local.core.record.entry import Played
from pddlego_local.core.record.run_record import RunRecord
from pddlego_local.report.arms import Arm
from pddlego_local.report.card.numbers import Evaluated
from pddlego_local.report.card.pooled import pooled
from pddlego_local.report.card.words import WORDS
from pddlego_local.report.contrasts import Contrast
from pddlego_local.report.pages.rendering import page
from pddlego_local.report.text import rate, rendered
from pddlego_local.runner.suite import RANDOM, suite

SAME = ("suite", "sha256", "size", "thinking")
"""What two entries must have in common."""


def write_comparison(first: Path, second: Path, out: Path) -> tuple[Path, str]:
    """Writes a page and the same as Markdown into a folder, each named by both models
    and the size, and returns the path of the page and the text. Raises ConfigError for
    evaluations that cannot be compared.
    """
    a, b = Evaluated(first), Evaluated(second)
    names = _names(a, b)
    _refuse_other_settings(a, b, names)
    parts = [*_contrasts(a, b, names)]
    if not parts:
        raise ConfigError(_nothing_in_common(a, b, names))
    tested = suite().size(a.entry.size).tested
    by_arm = grouped((played.arm, pair) for played, pair in parts)
    of_arms = pooled([*by_arm.values()], tested=tested, names=names)
    titles = [f"{played.part}, {played.arm}" for played, _ in parts]
    of_parts = pooled([[pair] for _, pair in parts], tested=False, names=names)
    facts: dict[str, Any] = {
        "names": names,
        "entry": a.entry,
        "tested": tested,
        "words": WORDS,
        "arms": [*zip(by_arm, of_arms, strict=True)],
        "parts": [*zip(titles, of_parts, strict=True)],
        "rate": rate,
        "caveats": [*_caveats(a, b)],
    }
    text = rendered("compare", **facts)
    out.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]+", "_", "-".join(["compare", *names, a.entry.size]))
    (out / f"{name}.md").write_text(text, encoding="utf-8")
    path = out / f"{name}.html"
    html = page("compare.html.jinja", styles=["common.css", "card.css"], **facts)
    path.write_text(html, encoding="utf-8")
    return path, text


def _refuse_other_settings(a: Evaluated, b: Evaluated, names: tuple[str, str]) -> None:
    for name in SAME:
        ours, theirs = getattr(a.entry, name), getattr(b.entry, name)
        if ours != theirs:
            raise ConfigError(
                f"{' and '.join(names)} cannot be compared: their {name} is {ours} and"
                f" {theirs}."
            )


def _nothing_in_common(a: Evaluated, b: Evaluated, names: tuple[str, str]) -> str:
    if RANDOM in (a.entry.name, b.entry.name):
        other = b if a.entry.name == RANDOM else a
        return (
            f"{RANDOM} writes no files, so it plays none of the arms of a model, and"
            " cannot be compared with one. What it won of the same games is the floor"
            f" on the card of {other.entry.title} ({other.run.name}/card.html)."
        )
    played = "; ".join(
        f"{name} played {', '.join(_parts_of(side)) or 'nothing yet'}"
        for name, side in zip(names, (a, b), strict=True)
    )
    return (
        f"{' and '.join(names)} have no part and arm in common: {played}. Compare two"
        " that played the same part."
    )


def _parts_of(evaluated: Evaluated) -> dict[str, None]:
    """Returns the parts of which a cell has begun."""
    plays = evaluated.entry.plays
    return dict.fromkeys(played.part for played in plays if evaluated.cell(played))


def _contrasts(
    a: Evaluated, b: Evaluated, names: tuple[str, str]
) -> Iterator[tuple[Played, Contrast]]:
    """Yields the parts and arms that both played. Raises ConfigError if their cells
    have other settings, whatever eval.json says.
    """
    of_b = {(played.part, played.arm): played for played in b.entry.plays}
    for played in a.entry.plays:
        other = of_b.get((played.part, played.arm))
        cells = a.cell(played), b.cell(other) if other else None
        if not (cells[0] and cells[1]):
            continue
        identities = [{**cell.run.identity, "model": None} for cell in cells if cell]
        if identities[0] != identities[1]:
            differing = ", ".join(_differing(*identities))
            raise ConfigError(
                f"{' and '.join(names)} cannot be compared: in {played.part} by"
                f" {played.arm} they differ in {differing}."
            )
        yield played, Contrast("model", Arm((cells[0],)), Arm((cells[1],)))


def _differing(first: dict[str, Any], second: dict[str, Any]) -> Iterator[str]:
    for group in sorted(first.keys() | second.keys()):
        ours, theirs = first.get(group), second.get(group)
        if ours == theirs:
            continue
        if not (isinstance(ours, dict) and isinstance(theirs, dict)):
            yield group
            continue
        for name in sorted(ours.keys() | theirs.keys()):
            if ours.get(name) != theirs.get(name):
                yield f"{group}.{name}"


def _names(a: Evaluated, b: Evaluated) -> tuple[str, str]:
    """Returns the names of both entries; if they are the same, those of the folders."""
    first, second = a.entry.title, b.entry.title
    if first == second:
        first, second = a.run.name, b.run.name
    if first == second:
        return f"{first} (first)", f"{second} (second)"
    return first, second


def _caveats(a: Evaluated, b: Evaluated) -> Iterator[str]:
    """Yields what else differs between the two, in words."""
    for evaluated in (a, b):
        left_out = [
            (f"{evaluated.entry.title} did not play, since {played.why}", played)
            for played in evaluated.entry.plays
            if played.why
        ]
        for why, plays in grouped(left_out).items():
            names = ", ".join(f"{played.part} by {played.arm}" for played in plays)
            yield f"Not compared: {names}. {why}."
    if not (a.cells and b.cells):
        return
    ours, theirs = a.cells[0].run, b.cells[0].run
    for what, values in {
        "Backends": (_backend(ours), _backend(theirs)),
        "Versions": (_versions(ours), _versions(theirs)),
    }.items():
        if values[0] != values[1]:
            yield f"{what}: {values[0]}; {values[1]}."


def _backend(run: RunRecord) -> str:
    version = run.starts[-1].backend_version or ""
    return f"{run.model.get('backend', 'unknown')} {version}".strip()


def _versions(run: RunRecord) -> str:
    packages = run.starts[-1].packages or {}
    return ", ".join(f"{name} {version}" for name, version in packages.items())
