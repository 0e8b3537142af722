"""The games that two arms have in common, also pooled over kinds of games, and what the two share
and what sets them apart."""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from pddlego_local.core.record.counting import Cluster, clusters, counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.arms import BUDGET, GOAL, READING, RUNG, Arm, other_versions
from pddlego_local.report.cells import by_number
from pddlego_local.report.couples import Couple, Group, Role

Of = tuple[str, Cluster]
"""What makes the games, and a game's number, or the cluster that it belongs to."""

Trials = Sequence[EpisodeRow]
"""Of one game with one seed by one arm, in order; none where the result is missing."""


@dataclass(frozen=True)
class Pair:
    """One game with one seed, as both arms played it: success is that after its last trial."""

    game: Of
    cluster: Of
    base: Trials
    other: Trials

    @property
    def finished(self) -> bool:
        return bool(self.base and self.other)

    def results(self, missing_favour_other: bool = False) -> tuple[Of, bool, bool]:
        """The cluster and success of both; what is missing went for the other arm, or against."""
        base = solved(self.base) if self.base else not missing_favour_other
        other = solved(self.other) if self.other else missing_favour_other
        return self.cluster, base, other


@dataclass(frozen=True)
class Match:
    """Two arms, or two of each of several kinds of games, and their common games. `base` and
    `other` are what sets them apart; the rest is as in `comparisons.Comparison`."""

    role: Role
    factor: str
    labels: dict[str, str]
    pooled: str
    base: str
    other: str
    layout: str
    caveats: tuple[str, ...]
    pairs: list[Pair]


def match(group: Group, varying: Set[str], with_trivial: bool) -> Match:
    """`varying` are the options that tell cells of the report apart. There may be no pair: then no
    game and seed that counts was asked of both arms."""
    one = group.couples[0]
    return Match(
        role=group.role,
        factor=one.factor,
        labels=_labels(group.couples, varying),
        pooled=_pooled(group.couples),
        base=_value(one.factor, one.base, one.other, varying),
        other=_value(one.factor, one.other, one.base, varying),
        layout=_layout(one),
        caveats=tuple(dict.fromkeys(_caveats(group.couples))),
        pairs=[pair for couple in group.couples for pair in _pairs(couple, with_trivial)],
    )


def solved(trials: Trials) -> bool:
    return any(row.success for row in trials)


def _pairs(couple: Couple, with_trivial: bool) -> Iterator[Pair]:
    """A game that stands apart in one arm stands apart in both."""
    base, other = couple.base, couple.other
    rows = [*base.rows.values(), *other.rows.values()]
    apart = {row.game for row in rows}
    apart -= {row.game for row in counted(rows, with_trivial=with_trivial).counted}
    maps = clusters(rows)
    common: dict[tuple[int, int], list[int]] = defaultdict(list)
    for game, seed, trial in sorted(base.asked & other.asked):
        common[game, seed].append(trial)
    for (game, seed), trials in common.items():
        if game not in apart:
            results = (_trials(arm, game, seed, trials) for arm in couple.arms)
            yield Pair((base.games, game), (base.games, maps.get(game, game)), *results)


def _trials(arm: Arm, game: int, seed: int, trials: Sequence[int]) -> Trials:
    """None as long as a trial that may yet solve the game is missing."""
    found = [arm.rows.get((game, seed, trial)) for trial in trials]
    rows = [row for row in found if row]
    return rows if len(rows) == len(trials) or solved(rows) else []


def _labels(group: Sequence[Couple], varying: Set[str]) -> dict[str, str]:
    """What both have alike: labels, the settings that vary in the report, and the budget."""
    base, other, factor = group[0].base, group[0].other, group[0].factor
    hidden = {RUNG: "decoding"}.get(factor, factor)
    labels = {**base.first.labels, "decoding": base.rung}
    if len(group) > 1:
        labels["environment"] = base.environment
    if factor in (GOAL, READING):
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


def _layout(couple: Couple) -> str:
    """The one that a grammar brings along, where the other arm is free; "" where all are open."""
    layouts = {arm.settings.get("decoding.layout", "") for arm in couple.arms} - {"any"}
    return max(layouts) if "" in layouts and couple.factor == RUNG else ""


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
