"""Selects the arms that a report compares, and says what they have in common.

A contrast is two arms that differ in one factor and played the same kind of games. A
group is the contrasts of one comparison. It has several contrasts if both arms played
several kinds of games.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

from pddlego_local.core.grouping import grouped_by
from pddlego_local.decoding.settings import options
from pddlego_local.report.arms import (
    BUDGET,
    RUNG,
    Arm,
    arms_of,
    differences,
    hashes,
    other_versions,
)
from pddlego_local.report.cells import CellRecord, by_number, short_name
from pddlego_local.runner.settings import ARM, Asked, Declared, choices_of

Role = Literal["primary", "secondary", "not asked"]


@dataclass(frozen=True)
class Contrast:
    """Two arms that differ in one factor; `asked` says what of them is compared."""

    factor: str
    base: Arm
    other: Arm
    asked: Asked = field(default_factory=Asked)

    @property
    def arms(self) -> tuple[Arm, Arm]:
        return self.base, self.other

    @property
    def swapped(self) -> "Contrast":
        return replace(self, base=self.other, other=self.base)

    @property
    def key(self) -> frozenset[int]:
        """Identifies the two arms regardless of which one is the base."""
        return frozenset(map(id, self.arms))

    @property
    def question(self) -> tuple[frozenset[int], Asked]:
        """Identifies the two arms and what is compared."""
        return self.key, self.asked


Group = Sequence[Contrast]


def contrasts(cells: Sequence[CellRecord]) -> list[Contrast]:
    """Returns all contrasts of these cells, in the order of the cells. Arms with names
    of their own (`conf/arm`) are also contrasted as wholes.
    """
    found = []
    for a, b in combinations(arms_of(cells), 2):
        if contrast := _contrast(a, b):
            found.append(contrast)
        if a.games == b.games and a.label and b.label and a.label != b.label:
            found.append(Contrast(ARM, a, b))
    return found


def _contrast(a: Arm, b: Arm) -> Contrast | None:
    """Returns None unless the arms differ in exactly one factor and this factor affects
    an arm.
    """
    differing = differences(a, b)
    if a.games != b.games or len(differing) != 1:
        return None
    (factor,) = differing
    arms = [a, b]
    of_decoding = factor.startswith("decoding.")
    if of_decoding and any(arm.plays_by_rules for arm in arms):
        return None
    of_answers = of_decoding or factor.startswith("model")
    if of_answers and not any(arm.calls_a_model for arm in arms):
        return None
    if order := choices_of(factor):  # without one, arms stay in the order of the cells
        arms.sort(key=lambda arm: order.index(arm.value(factor)))
    base, other = arms
    return Contrast(factor, base, other)


def matching(declared: Declared, every: Sequence[Contrast]) -> list[Contrast]:
    """Returns the contrasts that a declared comparison selects, with its base as their
    base.

    Declared values are matched with values as reports name them. If no contrast
    matches, they are matched with values as `conf` spells them.
    """
    candidates = [
        contrast
        for contrast in every
        if contrast.factor == declared.factor and _fits(declared, contrast)
    ]
    for spelled in (Arm.name, Arm.value):
        selected = []
        for contrast in candidates:
            if found := _as_declared(declared, contrast, spelled):
                selected.append(found)
        if selected:
            asked = Asked(declared.outcome, declared.margin_points)
            return [replace(contrast, asked=asked) for contrast in selected]
    return []


def _fits(declared: Declared, contrast: Contrast) -> bool:
    """Whether both arms have the values of `where`, as far as they have the options."""
    return all(
        arm.settings.get(option, value) == value
        for arm in contrast.arms
        for option, value in declared.where
    )


def _as_declared(
    declared: Declared, contrast: Contrast, spelled: Callable[[Arm, str], str]
) -> Contrast | None:
    """Returns the contrast with the declared base as its base; None if it has other
    values. `spelled` gives the value of a factor in an arm.
    """
    for candidate in (contrast, contrast.swapped):
        base = spelled(candidate.base, candidate.factor)
        other = spelled(candidate.other, candidate.factor)
        base_fits = declared.base in ("", base)
        other_fits = declared.other in ("", other)
        if base_fits and other_fits:
            return candidate
    return None


def groups(
    every: Sequence[Contrast], declared: Iterable[Declared]
) -> dict[Role, list[Group]]:
    """Returns the declared comparisons by role, and under "not asked" each other
    contrast as a group by itself, including the parts of pooled comparisons.
    """
    found: dict[Role, list[Group]] = {"primary": [], "secondary": []}
    taken = set[tuple[frozenset[int], Asked]]()
    alone = set[frozenset[int]]()
    primary_first = sorted(declared, key=lambda declaration: not declaration.primary)
    for declaration in primary_first:
        selected = matching(declaration, every)
        new = [contrast for contrast in selected if contrast.question not in taken]
        taken |= {contrast.question for contrast in new}
        role: Role = "primary" if declaration.primary else "secondary"
        for group in _pooled(new):
            found[role].append(group)
            if len(group) == 1:
                alone.add(group[0].key)
    others = [
        contrast
        for contrast in every
        if contrast.key not in alone and contrast.factor != ARM
    ]
    found["not asked"] = [[contrast] for contrast in others]
    return found


def _pooled(selected: Iterable[Contrast]) -> list[Group]:
    """Makes one group of contrasts that differ only in the kind of games. Contrasts
    with the same kind of games cannot be pooled.
    """
    found = list[Group]()
    alike = grouped_by(selected, _all_but_games)
    for group in alike.values():
        kinds_of_games = {contrast.base.games for contrast in group}
        if len(kinds_of_games) == len(group):
            found.append(group)
        else:
            found += [[contrast] for contrast in group]
    return found


def _all_but_games(contrast: Contrast) -> str:
    """A key that contrasts share if they may be pooled: all but the options of the
    games.
    """
    alike: list[Any] = [contrast.base.environment, contrast.factor]
    for arm in contrast.arms:
        alike += [arm.settings, hashes(arm.first)]
    return json.dumps(alike, sort_keys=True)


def labels(group: Group, varying: Set[str]) -> dict[str, str]:
    """Returns what both arms have in common: labels, budget, and those options that
    vary in the report but are equal in both arms.
    """
    first = group[0]
    base = first.base
    common = {**base.first.labels, "decoding": base.rung}
    if len(group) > 1:
        common["environment"] = base.environment
    name = first.factor.removeprefix("decoding.")
    if option := options().get(name):
        depends_on_rung = option.own.keys() & option.rungs
        if option.added or depends_on_rung:
            common["decoding"] = base.settings[RUNG]
    hidden = "decoding" if first.factor in (RUNG, ARM) else first.factor
    if hidden in common:
        common[hidden] = ""
    budgets = dict.fromkeys(
        arm.first.budget for contrast in group for arm in contrast.arms
    )
    return {
        **common,
        "settings": " ".join(_shared_settings(group, varying)),
        "budget": " / ".join(budgets),
    }


def _shared_settings(group: Group, varying: Set[str]) -> Iterator[str]:
    first = group[0]
    others = first.other.options
    for key, value in first.base.options.items():
        if key == first.factor or key not in varying or key.startswith(BUDGET):
            continue
        of_games = key.startswith("environment.") and len(group) == 1
        applies = of_games or key in first.base.settings
        if applies and others.get(key) == value:
            yield f"{key}={value}"


def value(factor: str, arm: Arm, against: Arm, varying: Set[str]) -> str:
    """Returns the value of the factor in this arm, with the name of its option,
    followed by those options that vary in the report and that the arm `against` does
    not have.
    """
    named = arm.name(factor)
    if factor == "model":
        if named == against.name(factor):
            return arm.settings.get("model.weights", named)
        return named
    if "." in factor and factor not in (RUNG, BUDGET):
        named = f"{short_name(factor)} {named}"  # "max_retries 5", not "5"
    only_here = arm.settings.keys() - against.settings.keys()
    for key in sorted(varying & only_here):
        named += f", {short_name(key)} {arm.value(key)}"
    return named


def layout(contrast: Contrast) -> str:
    """Returns the layout that the grammar of one arm fixes while the other arm is free,
    or "" if there is none.
    """
    if contrast.factor not in (RUNG, ARM):
        return ""
    base, other = (arm.settings.get("decoding.layout", "") for arm in contrast.arms)
    if base and other:
        return ""
    fixed = base or other
    return "" if fixed == "any" else fixed


def pooled_over(group: Group) -> str:
    """Returns what differs between the kinds of games: "rooms 3, 5, 7", or "" for one
    kind.
    """
    options = [contrast.base.options for contrast in group]
    parts = []
    for key in options[0]:
        if not key.startswith("environment.") or key.startswith(BUDGET):
            continue
        values = {of_kind.get(key, "–") for of_kind in options}
        if len(values) == 1:
            continue
        words = ", ".join(sorted(values, key=by_number))
        if len(words) >= 60:
            words = str(len(values))
        parts.append(f"{short_name(key)} {words}")
    return "; ".join(parts)


def caveats(group: Group) -> Iterator[str]:
    """Yields what else differs between the two arms, in words."""
    first = group[0]
    more_of_base = more_of_other = repeated = 0
    for contrast in group:
        base, other = contrast.arms
        if versions := other_versions(base, other, contrast.factor):
            yield f"recorded with other {', '.join(versions)}"
        more_of_base += len(base.requested - other.requested)
        more_of_other += len(other.requested - base.requested)
        repeated += base.repeated + other.repeated
    if more_of_base or more_of_other:
        base_name = first.base.name(first.factor)
        other_name = first.other.name(first.factor)
        yield (
            "different episodes were requested, and only the common ones are compared: "
            f"{base_name} has {more_of_base} more, {other_name} {more_of_other}"
        )
    if repeated:
        yield f"{repeated} episodes are in two folders, and one copy of each is used"
