"""The arms of a report, what two of them differ in, and which of them are compared.

An arm is all cells that differ in nothing but the seed. Options that do not apply (the layout of a
free answer, how strictly a constrained one is read, the goal below "typed") and what a rung brings
along (the goal of "grounded") make no difference of their own.

A contrast is two arms that differ in one factor and played games of one kind. A group is the
contrasts of one comparison: several where the same two arms played several kinds of games.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal

from pddlego_local.core.record.counting import counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.report.cells import CellRecord, by_number, grouped
from pddlego_local.runner.settings import Declared, choices_of

Role = Literal["primary", "secondary", "not asked"]

EpisodeKey = tuple[int, int, int]
"""Game, seed and trial."""

RUNG, GOAL, BUDGET = "decoding.rung", "decoding.goal", "environment.budget"
READING, REASON, REJECT = "decoding.reading", "decoding.reason", "decoding.reject"
REPAIR = "decoding.repair"

RECORDED = {
    "prompt_sha256": ("prompts", {"method"}),
    "tables_sha256": ("tables of the environment", {""}),
    "grammar_sha256": ("grammars", {"method", "decoding"}),
}
"""Hashes of run.json: of what, and which differences between arms explain another hash."""


@dataclass(frozen=True)
class Arm:
    """The cells of one arm. An episode that two cells hold is the first one's."""

    cells: tuple[CellRecord, ...]

    @property
    def first(self) -> CellRecord:
        return self.cells[0]

    @cached_property
    def rows(self) -> dict[EpisodeKey, EpisodeRow]:
        found: dict[EpisodeKey, EpisodeRow] = {}
        for cell in self.cells:
            for row in cell.rows:
                found.setdefault((row.game, cell.seed, row.trial), row)
        return found

    @cached_property
    def requested(self) -> frozenset[EpisodeKey]:
        """What a start of some cell asked for, or what was played."""
        keys = {(game, cell.seed, trial) for cell in self.cells for game, trial in cell.requested}
        return frozenset(keys | self.rows.keys())

    @cached_property
    def repeated(self) -> int:
        """Episodes that do not count, since an earlier cell holds the same."""
        return sum(len(cell.rows) for cell in self.cells) - len(self.rows)

    @property
    def calls_a_model(self) -> bool:
        """False where every episode that counts went without."""
        counting = counted(list(self.rows.values())).counted
        return not counting or any(row.calls for row in counting)

    @cached_property
    def games(self) -> str:
        """What makes the games: the environment's options, but for its budget."""
        return json.dumps({**self.first.run.identity["environment"], "budget": 0}, sort_keys=True)

    @cached_property
    def settings(self) -> dict[str, str]:
        """The options that apply, the environment's left out but for its budget. "method" and
        "model" name the kind of method, and the kind of model with its weights."""
        run, groups = self.first.run, ("decoding.", "method.", "model.", "planner.")
        kept = {key: value for key, value in self.first.options.items() if key.startswith(groups)}
        rung = kept.setdefault(RUNG, run.labels["decoding"])
        known = RUNGS.get(rung)
        if known and not known.constrained:
            kept.pop("decoding.layout", None)
            kept.setdefault(READING, "strict")  # all there was before one could choose
            tries = [kept.pop(f"{REJECT}.{name}", "") for name in ("rung", "tries")]
            kept[REJECT] = f"{', '.join(tries)} tries" if all(tries) else "none"
        else:
            kept.pop(READING, None)
        if not (known and known.typed):
            kept.pop(GOAL, None)
        elif kept.get(GOAL) == known.goal:
            kept[GOAL] = "the rung's own"
        if known and known.typed:
            kept.setdefault("decoding.rollback", "True")
        if kept.get(REASON) != "draft":
            kept.pop("decoding.draft_tokens", None)
        kept.setdefault("decoding.draw", "masked")  # earlier versions could also draw "weighted"
        kept = {key: value for key, value in kept.items() if ".stage_tokens." not in key}
        return kept | {
            "decoding.stage_tokens": str(run.identity.get("decoding", {}).get("stage_tokens")),
            BUDGET: self.first.budget,
            "method": self.kind("method"),
            "model": f"{self.kind('model')} {kept.get('model.weights', '')}".strip(),
            "model.forced_tokens": str(run.model.get("forced_tokens")),
        }

    def kind(self, group: str) -> str:
        target = self.first.run.identity.get(group, {}).get("_target_")
        return str(target or self.first.labels[group])

    @property
    def rung(self) -> str:
        """As reports name it, with the help that it has."""
        return self.settings[RUNG] + self.first.added

    @property
    def environment(self) -> str:
        """Whatever its options: coin."""
        return str(self.first.run.environment or self.first.labels["environment"])

    def value(self, factor: str) -> str:
        """Of one setting, as `conf` spells it."""
        return self.first.options[GOAL] if factor == GOAL else self.settings[factor]

    def name(self, factor: str) -> str:
        """The value as reports name it."""
        return {**self.first.labels, RUNG: self.rung}.get(factor) or self.value(factor)


def arms_of(cells: Sequence[CellRecord]) -> list[Arm]:
    """In the order of their first cells."""

    def all_but_seed(cell: CellRecord) -> str:
        model = {k: v for k, v in cell.run.model.items() if k != "weights"}
        hashes = [getattr(cell.run, name) for name in RECORDED]
        return json.dumps([{**cell.run.identity, "seed": 0}, model, hashes], sort_keys=True)

    together = grouped((all_but_seed(cell), cell) for cell in cells)
    return [Arm(tuple(alike)) for alike in together.values()]


def differences(a: Arm, b: Arm) -> set[str]:
    """The settings in which two arms differ. What one method or model has and another lacks belongs
    to it, and so do all settings of another model."""
    one, two = a.settings, b.settings
    differing = {key for key in one.keys() & two.keys() if one[key] != two[key]}
    if a.first.options.get(GOAL) == b.first.options.get(GOAL):
        differing.discard(GOAL)
    if READING in one.keys() ^ two:  # one of the two has no grammar: what mends stands for it
        differing.discard(REPAIR)
        if {one.get(REASON), two.get(REASON)} == {"none", "draft"}:  # a draft needs a grammar
            differing.discard(REASON)
    if "model" in differing:
        differing = {key for key in differing if not key.startswith("model.")}
    return differing


def other_versions(a: Arm, b: Arm, factor: str) -> list[str]:
    """What was recorded to differ although no setting says so: another version of this program was
    at work, or other weights behind the same name."""
    group = factor.split(".")[0]
    names = [
        name
        for key, (name, explained_by) in RECORDED.items()
        if getattr(a.first.run, key) != getattr(b.first.run, key) and group not in explained_by
    ]
    prints = {arm.first.run.model.get("fingerprint") for arm in (a, b)}
    return [*names, "weights"] if group != "model" and len(prints) > 1 else names


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


def _contrast(a: Arm, b: Arm) -> Contrast | None:
    """None where two arms differ in more than one factor, or where the factor reaches neither."""
    differing = differences(a, b) if a.games == b.games else set()
    if len(differing) != 1:
        return None
    (factor,) = differing
    by_rules = any(arm.kind("model").endswith(".ReferenceFormalizer") for arm in (a, b))
    if factor.startswith("decoding.") and by_rules:  # whose answers no grammar reaches
        return None
    if factor.startswith(("decoding.", "model")) and not (a.calls_a_model or b.calls_a_model):
        return None
    order = choices_of(factor)  # else that of the report's cells
    base, other = sorted((a, b), key=lambda arm: order.index(arm.value(factor)) if order else 0)
    return Contrast(factor, base, other)


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

    every = [
        contrast
        for contrast in every
        if contrast.factor == declared.factor
        and all(
            arm.settings.get(option, value) == value
            for arm in contrast.arms
            for option, value in declared.where
        )
    ]
    return list(found(Arm.name)) or list(found(Arm.value))


def groups(cells: Sequence[CellRecord], declared: Iterable[Declared]) -> dict[Role, list[Group]]:
    """Declared comparisons by their role, and each other contrast alone, those that are parts of a
    pooled comparison among them."""
    every = [one for a, b in combinations(arms_of(cells), 2) if (one := _contrast(a, b))]
    found: dict[Role, list[Group]] = {"primary": [], "secondary": [], "not asked": []}
    taken = set[frozenset[int]]()
    for declaration in sorted(declared, key=lambda one: not one.primary):
        new = [one for one in matching(declaration, every) if one.key not in taken]
        taken |= {one.key for one in new}
        for many in grouped((_all_but_games(one), one) for one in new).values():
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
    if factor in (GOAL, READING, REJECT, REPAIR):
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
