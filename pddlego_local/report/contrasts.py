"""Which arms are compared, which of these comparisons were declared, and how they are described.

A contrast is two arms that differ in one factor and played games of one kind. A group is the
contrasts of one comparison: several where the same two arms played several kinds of games.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from pddlego_local.report.arms import (
    BUDGET,
    GOAL,
    READING,
    RECORDED,
    RUNG,
    Arm,
    arms_of,
    differences,
    other_versions,
)
from pddlego_local.report.cells import CellRecord, by_number
from pddlego_local.runner.clear_errors import clear_errors
from pddlego_local.runner.settings import BY_DEFAULT, COMPARE, Declared, choices_of
from pddlego_local.runner.sweep import read_compare

Role = Literal["primary", "secondary", "not asked"]


@dataclass(frozen=True)
class Contrast:
    factor: str
    base: Arm
    other: Arm

    @property
    def arms(self) -> tuple[Arm, Arm]:
        return self.base, self.other

    @property
    def key(self) -> frozenset[int]:
        """The two arms, whichever is the base."""
        return frozenset(map(id, self.arms))


Group = Sequence[Contrast]


def contrasts(arms: Sequence[Arm]) -> list[Contrast]:
    """Of every two arms that can be compared."""
    return [one for a, b in combinations(arms, 2) if (one := _contrast(a, b))]


def _contrast(a: Arm, b: Arm) -> Contrast | None:
    """None where two arms differ in more than one factor, or where the factor reaches neither."""
    differing = differences(a, b) if a.games == b.games else set()
    if len(differing) != 1:
        return None
    (factor,) = differing
    if factor.startswith("decoding.") and not (a.decodes and b.decodes):
        return None
    if factor.startswith(("decoding.", "model")) and not (a.calls_a_model or b.calls_a_model):
        return None
    order = choices_of(factor)  # else that of the report's cells
    base, other = sorted((a, b), key=lambda arm: order.index(arm.value(factor)) if order else 0)
    return Contrast(factor, base, other)


def declarations(cells: Sequence[CellRecord]) -> tuple[tuple[Declared, ...], str]:
    """The comparisons that shall be tested, each once, those of the experiments that the cells
    belong to; and in words who declared them. Raises ConfigError for a record that names none."""
    declared = []
    for folder in dict.fromkeys(cell.folder.parent for cell in cells):
        with clear_errors(f"{folder}: compare"):
            declared.append(COMPARE.validate_python(_last_declared(folder, cells)))
    every = [one for of in declared for one in (BY_DEFAULT if of is None else of)]
    origins = ["declared by the experiment"] if any(of is not None for of in declared) else []
    origins += ["the default, where nothing is declared"] if None in declared else []
    return tuple(dict.fromkeys(every)), "; ".join(origins)


def _last_declared(experiment: Path, cells: Sequence[CellRecord]) -> Any:
    """The last `compare` that a start of these cells, or of their sweep, has recorded."""
    starts = [s for cell in cells if cell.folder.parent == experiment for s in cell.run.starts]
    recorded = [(start.began, start.config.get("compare")) for start in starts]
    recorded.append(read_compare(experiment))
    given = [(began, compare) for began, compare in recorded if compare is not None]
    # In one second the last one counts: a sweep is written before its cells begin.
    return sorted(given, key=lambda one: one[0])[-1][1] if given else None


def matching(declared: Declared, every: Sequence[Contrast]) -> list[Contrast]:
    """The contrasts that a declared comparison means, its base first. A value is one that reports
    name; if they name none such, one of the option itself."""

    def found(spelled: Callable[[Arm, str], str]) -> Iterator[Contrast]:
        factor = declared.factor
        for contrast in every:
            for base, other in (contrast.arms, contrast.arms[::-1]):
                values = spelled(base, factor), spelled(other, factor)
                if declared.base in ("", values[0]) and declared.other in ("", values[1]):
                    yield Contrast(factor, base, other)
                    break

    every = [contrast for contrast in every if contrast.factor == declared.factor]
    return list(found(Arm.name)) or list(found(Arm.value))


def groups(cells: Sequence[CellRecord], declared: Iterable[Declared]) -> dict[Role, list[Group]]:
    """Declared comparisons by their role, and each other contrast alone, those that are parts of a
    pooled comparison among them."""
    every = contrasts(arms_of(cells))
    found: dict[Role, list[Group]] = {"primary": [], "secondary": [], "not asked": []}
    grouped = set[frozenset[int]]()
    for declaration in sorted(declared, key=lambda one: not one.primary):
        alike: dict[str, list[Contrast]] = defaultdict(list)
        for contrast in matching(declaration, every):
            if contrast.key not in grouped:
                grouped.add(contrast.key)
                alike[_all_but_games(contrast)].append(contrast)
        for many in alike.values():
            pooled = len(many) == len({contrast.base.games for contrast in many})
            role: Role = "primary" if declaration.primary else "secondary"
            found[role] += [many] if pooled else [[one] for one in many]
    alone = {group[0].key for of in found.values() for group in of if len(group) == 1}
    found["not asked"] = [[one] for one in every if one.key not in alone]
    return found


def _all_but_games(contrast: Contrast) -> str:
    """What contrasts have in common that are pooled."""
    recorded = [[getattr(arm.first.run, name) for name in RECORDED] for arm in contrast.arms]
    settings = [arm.settings for arm in contrast.arms]
    alike = [contrast.base.environment, contrast.factor, settings, recorded]
    return json.dumps(alike, sort_keys=True)


def labels(group: Group, varying: Set[str]) -> dict[str, str]:
    """What both arms have in common: labels, budget, and of the options that vary in the report
    those that are the same in both."""
    first = group[0]
    base, other, factor = first.base, first.other, first.factor
    hidden = {RUNG: "decoding"}.get(factor, factor)
    common = {**base.first.labels, "decoding": base.rung}
    if len(group) > 1:
        common["environment"] = base.environment
    if factor in (GOAL, READING):
        common["decoding"] = base.settings[RUNG]
    mine, theirs = base.first.options, other.first.options
    shared = [
        f"{key}={mine[key]}"
        for key in mine
        if key in varying and mine[key] == theirs.get(key) and key != factor
        if key in base.settings or (key.startswith("environment.") and len(group) == 1)
        if not key.startswith(BUDGET)
    ]
    budgets = dict.fromkeys(arm.first.budget for one in group for arm in one.arms)
    common = {name: "" if name == hidden else text for name, text in common.items()}
    return common | {"settings": " ".join(shared), "budget": " / ".join(budgets)}


def value(factor: str, arm: Arm, against: Arm, varying: Set[str]) -> str:
    """What sets an arm apart from the other one, and what varies in the report and only it has."""
    named = arm.name(factor)
    if factor == "model" and named == against.name(factor):
        named = arm.settings.get("model.weights", named)
    own = [
        f"{key.split('.')[-1]} {arm.value(key)}"
        for key in sorted(varying & arm.settings.keys() - against.settings.keys())
        if factor != "model"
    ]
    return ", ".join([named, *own])


def layout(contrast: Contrast) -> str:
    """The one that a grammar brings along, where the other arm is free; "" where all are open."""
    layouts = {arm.settings.get("decoding.layout", "") for arm in contrast.arms} - {"any"}
    return max(layouts) if "" in layouts and contrast.factor == RUNG else ""


def pooled_over(group: Group) -> str:
    """What differs between the kinds of games: "rooms 3, 5, 7"; "" of one kind."""
    options = [one.base.first.options for one in group]
    parts = []
    for key in options[0]:
        values = list(dict.fromkeys(option.get(key, "–") for option in options))
        if key.startswith("environment.") and not key.startswith(BUDGET) and len(values) > 1:
            listed = ", ".join(sorted(values, key=by_number))
            parts.append(f"{key.split('.')[-1]} {listed if len(listed) < 60 else len(values)}")
    return "; ".join(parts)


def caveats(group: Group) -> Iterator[str]:
    """What else differs between the two arms, in words."""
    factor, names = group[0].factor, [arm.name(group[0].factor) for arm in group[0].arms]
    for base, other in (one.arms for one in group):
        if versions := other_versions(base, other, factor):
            yield f"recorded with other {', '.join(versions)}"
    alone = [
        sum(len(one.arms[i].requested - one.arms[1 - i].requested) for one in group) for i in (0, 1)
    ]
    if any(alone):
        yield (
            "other episodes were asked for, and only the common ones are compared: "
            f"{names[0]} has {alone[0]} more, {names[1]} {alone[1]}"
        )
    if repeated := sum(arm.repeated for one in group for arm in one.arms):
        yield f"{repeated} episodes lie in two folders; one of each counts"
