"""The episodes that couples of arms have in common, also pooled over kinds of games, and what the
two share and what sets them apart."""

import json
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass

from pddlego_local.metrics.counting import counted
from pddlego_local.report.arms import (
    BUDGET,
    BUDGETS,
    GOAL,
    RECORDED,
    RUNG,
    Arm,
    arms_of,
    other_versions,
    place,
)
from pddlego_local.report.cells import LABELS, CellRecord, by_number, varying_options
from pddlego_local.report.couples import Couple, couples
from pddlego_local.rows import EpisodeRow

Game = tuple[str, int]
"""What makes the games, and a game's number."""

FIRST = (RUNG, "decoding.layout", "decoding.reason", GOAL, "decoding.repair", "decoding.feedback")
"""In this order; then the other options, methods, models, and budgets last."""


@dataclass(frozen=True)
class Pair:
    """One episode that both arms were asked for; None is a result that is missing."""

    game: Game
    base: EpisodeRow | None
    other: EpisodeRow | None

    @property
    def rows(self) -> tuple[EpisodeRow, EpisodeRow] | None:
        """None if a result is missing."""
        return (self.base, self.other) if self.base and self.other else None

    def results_if(self, missing_favour_other: bool) -> tuple[Game, bool, bool]:
        """Success of both, with what is missing gone for the other arm, or all against it."""
        base = self.base.success if self.base else not missing_favour_other
        other = self.other.success if self.other else missing_favour_other
        return self.game, base, other


@dataclass(frozen=True)
class Match:
    """Two arms, or two of each of several kinds of games, and their common episodes. `base` and
    `other` are what sets them apart; the rest is as in `comparisons.Comparison`."""

    factor: str
    labels: dict[str, str]
    pooled: str
    base: str
    other: str
    caveats: tuple[str, ...]
    pairs: list[Pair]


def matches(
    cells: Sequence[CellRecord], factors: Collection[str] = (), *, with_trivial: bool = False
) -> list[Match]:
    """Sorted: constrained against free first, and what is pooled before its parts.

    `factors` are options, or options with a value that one of the two must have,
    "decoding.rung=free"; none stands for all. A match may have no pair: then no game, seed and
    trial that counts was asked of both arms.
    """
    chosen = [one for one in couples(arms_of(cells)) if not factors or one.asked & set(factors)]
    varying = varying_options(cells) - {"seed"}
    alike: dict[str, list[Couple]] = {}
    for one in chosen:
        alike.setdefault(_but_for_games(one), []).append(one)
    pools = [many for many in alike.values() if 1 < len(many) == len({m.base.games for m in many})]
    groups = [*([one] for one in chosen), *pools]
    groups.sort(key=lambda group: (_rank(group), _words(group, varying)))
    return [_match(group, varying, with_trivial) for group in groups]


def _but_for_games(couple: Couple) -> str:
    """What couples have in common that are pooled: all but the kind of games."""
    recorded = [[arm.first.run.get(name) for name in RECORDED] for arm in couple.arms]
    settings = [arm.settings for arm in couple.arms]
    return json.dumps([couple.base.environment, couple.factor, settings, recorded], sort_keys=True)


def _rank(group: Sequence[Couple]) -> tuple[object, ...]:
    one = group[0]
    factor = one.factor
    against_free = factor == RUNG and one.base.settings[RUNG] == "free"
    ranks = [*FIRST, "", "method", "model", *sorted(BUDGETS)]
    return (
        not against_free,
        ranks.index(factor if factor in ranks else ""),
        factor,
        len(group) == 1,
        *(one.base.first.labels[label] for label in LABELS[:3]),
    )


def _words(group: Sequence[Couple], varying: Set[str]) -> tuple[object, ...]:
    one = group[0]
    labels = _labels(group, varying)
    return (
        by_number(labels["settings"]),
        place(one.factor, one.base),
        place(one.factor, one.other),
    )


def _match(group: Sequence[Couple], varying: Set[str], with_trivial: bool) -> Match:
    one = group[0]
    return Match(
        factor=one.factor,
        labels=_labels(group, varying),
        pooled=_pooled(group),
        base=_value(one.factor, one.base, one.other, varying),
        other=_value(one.factor, one.other, one.base, varying),
        caveats=tuple(dict.fromkeys(_caveats(group))),
        pairs=[pair for couple in group for pair in _pairs(couple, with_trivial)],
    )


def _pairs(couple: Couple, with_trivial: bool) -> list[Pair]:
    """A game that stands apart in one arm stands apart in both."""
    base, other = couple.base, couple.other
    rows = [*base.rows.values(), *other.rows.values()]
    kept = {row.game for row in counted(rows, with_trivial=with_trivial).counted}
    apart = {row.game for row in rows} - kept
    return [
        Pair((base.games, key[0]), base.rows.get(key), other.rows.get(key))
        for key in sorted(base.asked & other.asked)
        if key[0] not in apart
    ]


def _labels(group: Sequence[Couple], varying: Set[str]) -> dict[str, str]:
    """What both have alike: labels, the settings that vary in the report, and the budget."""
    base, other, factor = group[0].base, group[0].other, group[0].factor
    hidden = {RUNG: "decoding"}.get(factor, factor)
    labels = {**base.first.labels, "decoding": base.rung}
    if len(group) > 1:
        labels["environment"] = base.environment
    if factor == GOAL:
        labels["decoding"] = base.settings[RUNG]
    mine, theirs = base.first.options, other.first.options
    shared = [
        f"{key}={mine[key]}"
        for key in mine
        if key in varying and mine[key] == theirs.get(key) and key != factor
        if key in base.settings or (key.startswith("environment.") and len(group) == 1)
        if not key.startswith(BUDGET)
    ]
    budgets = dict.fromkeys(arm.first.budget for one in group for arm in one.arms)
    apart = {"settings": " ".join(shared), "budget": " / ".join(budgets)}
    return {name: "" if name == hidden else text for name, text in labels.items()} | apart


def _value(factor: str, arm: Arm, against: Arm, varying: Set[str]) -> str:
    """What sets an arm apart, and what varies in the report and only it has."""
    named = arm.name(factor)
    if factor == "model" and named == against.name(factor):
        named = arm.settings.get("model.weights", named)
    own = [
        f"{key.split('.')[-1]} {arm.value(key)}"
        for key in sorted(varying & arm.settings.keys() - against.settings.keys())
        if factor != "model" and not (key == GOAL and arm.helped)
    ]
    return ", ".join([named, *own])


def _pooled(group: Sequence[Couple]) -> str:
    """What differs between the kinds of games: "rooms 3, 5, 7"."""
    if len(group) == 1:
        return ""
    options = [one.base.first.options for one in group]
    parts = []
    for key in options[0]:
        values = list(dict.fromkeys(option.get(key, "–") for option in options))
        if key.startswith("environment.") and not key.startswith(BUDGET) and len(values) > 1:
            told = ", ".join(sorted(values, key=by_number))
            parts.append(f"{key.split('.')[-1]} {told if len(told) < 60 else len(values)}")
    return "; ".join(parts)


def _caveats(group: Sequence[Couple]) -> Iterator[str]:
    factor, names = group[0].factor, [arm.name(group[0].factor) for arm in group[0].arms]
    for one in group:
        base, other = one.arms
        for budget in sorted(one.budgets):
            name = budget.split(".")[-1]
            yield f"{name} differs: {base.value(budget)} and {other.value(budget)}"
        if base.helped != other.helped:
            yield f"{names[other.helped]} has help from outside: a tracker of the state"
        if versions := other_versions(base, other, factor):
            yield f"recorded with other {', '.join(versions)}"
    alone = [sum(len(one.arms[i].asked - one.arms[1 - i].asked) for one in group) for i in (0, 1)]
    if any(alone):
        yield (
            "other episodes were asked for, and only the common ones are compared: "
            f"{names[0]} has {alone[0]} more, {names[1]} {alone[1]}"
        )
    if repeated := sum(arm.repeated for one in group for arm in one.arms):
        yield f"{repeated} episodes lie in two folders; one of each counts"
