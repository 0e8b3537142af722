"""The arms of a report, the factors in which two arms differ, and the arms that are
compared.

An arm is all cells that differ only in the seed. Options that do not apply (the layout
of a free answer, the strictness with which a constrained answer is read, the goal below
"typed") and options that a rung sets (the goal of "grounded") do not count as
differences.

A contrast is two arms that differ in one factor and played the same kind of games. A
group is the contrasts of one comparison. It has several contrasts if both arms played
several kinds of games.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

from pddlego_local.core.grouping import grouped
from pddlego_local.core.record.counting import counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import Option, default_of, options
from pddlego_local.report.cells import CellRecord, by_number
from pddlego_local.runner.settings import Declared, choices_of

Role = Literal["primary", "secondary", "not asked"]

EpisodeKey = tuple[int, int, int]
"""Game, seed and trial."""

RUNG, BUDGET = "decoding.rung", "environment.budget"

RECORDED = {
    "prompt_sha256": ("prompts", {"method"}),
    "tables_sha256": ("tables of the environment", {""}),
    "grammar_sha256": ("grammars", {"method", "decoding"}),
}
"""Hashes in run.json: what was hashed, and the config groups whose options explain
different hashes of two arms ("" is no group).
"""


@dataclass(frozen=True)
class Arm:
    """The cells of one arm. If two cells hold the same episode, the first cell's row is
    used.
    """

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
        """The episodes that some start of a cell requested, and all that were
        played.
        """
        keys = {
            (game, cell.seed, trial)
            for cell in self.cells
            for game, trial in cell.requested
        }
        return frozenset(keys | self.rows.keys())

    @cached_property
    def repeated(self) -> int:
        """The number of rows that are ignored because an earlier cell holds the same
        episode.
        """
        return sum(len(cell.rows) for cell in self.cells) - len(self.rows)

    @property
    def calls_a_model(self) -> bool:
        """False if no scored episode made a model call, and there are scored
        episodes.
        """
        scored = counted(list(self.rows.values())).counted
        return not scored or any(row.calls for row in scored)

    @property
    def plays_by_rules(self) -> bool:
        """Whether the reference answers, which no grammar constrains."""
        return self.kind("model").endswith(".ReferenceFormalizer")

    @cached_property
    def games(self) -> str:
        """The options that determine the games, as JSON: the environment's, without its
        budget.
        """
        options = {**self.first.run.identity["environment"], "budget": 0}
        return json.dumps(options, sort_keys=True)

    @cached_property
    def settings(self) -> dict[str, str]:
        """The options that apply, without the environment's except for its budget.
        "method" is the class of the method, and "model" the class of the model with its
        weights.
        """
        run, groups = self.first.run, ("method.", "model.", "planner.")
        kept = {
            key: value
            for key, value in self.first.options.items()
            if key.startswith(groups)
        }
        return {
            **self._decoding,
            **kept,
            BUDGET: self.first.budget,
            "method": self.kind("method"),
            "model": f"{self.kind('model')} {kept.get('model.weights', '')}".strip(),
            "model.forced_tokens": str(run.model.get("forced_tokens")),
        }

    @cached_property
    def _decoding(self) -> dict[str, str]:
        """The options of decoding that apply. One that this version does not know is
        shown as it is.
        """
        values = dict(self.first.run.identity.get("decoding", {}))
        values.pop("_target_", None)
        rung = values.setdefault("rung", self.first.run.labels["decoding"])
        for name, option in options().items():
            values.setdefault(name, default_of(name, rung))  # a record may lack it
            needed = option.with_value
            applies = rung in option.rungs or option.anywhere
            if not applies or (needed and values.get(needed[0]) != needed[1]):
                del values[name]
            elif option.own.keys() & option.rungs and values[name] == default_of(
                name, rung
            ):
                values[name] = "the rung's own"
            else:
                values[name] = option.text(values[name])
        return {f"decoding.{name}": str(value) for name, value in values.items()}

    def kind(self, group: str) -> str:
        target = self.first.run.identity.get(group, {}).get("_target_")
        return str(target or self.first.labels[group])

    @property
    def rung(self) -> str:
        """The rung as reports name it, with what `CellRecord.added` adds."""
        return self.settings[RUNG] + self.first.added

    @property
    def environment(self) -> str:
        """The name of the environment without its options, such as "coin"."""
        return str(self.first.run.environment or self.first.labels["environment"])

    def value(self, factor: str) -> str:
        """The value of one setting, as `conf` spells it."""
        return self.first.options.get(factor) or self.settings[factor]

    def name(self, factor: str) -> str:
        """The value of one setting, as reports name it."""
        return {**self.first.labels, RUNG: self.rung}.get(factor) or self.value(factor)


def arms_of(cells: Sequence[CellRecord]) -> list[Arm]:
    """Returns the arms of these cells, in the order of their first cells."""

    def all_but_seed(cell: CellRecord) -> str:
        options = {**cell.run.identity, "seed": 0}
        model = {**cell.run.model, "weights": ""}
        hashes = [getattr(cell.run, name) for name in RECORDED]
        return json.dumps([options, model, hashes], sort_keys=True)

    together = grouped((all_but_seed(cell), cell) for cell in cells)
    return [Arm(tuple(alike)) for alike in together.values()]


def differences(a: Arm, b: Arm) -> set[str]:
    """Returns the settings in which two arms differ.

    A setting that only one of the arms has belongs to its method or model and is no
    difference. Neither are the settings of a model if the models differ.
    """
    one, two = a.settings, b.settings
    differing = {key for key in one.keys() & two.keys() if one[key] != two[key]}
    for name, option in options().items():
        if f"decoding.{name}" in differing and _are_alike(name, option, a, b):
            differing.discard(f"decoding.{name}")
    if "model" in differing:
        differing = {key for key in differing if not key.startswith("model.")}
    return differing


def _are_alike(name: str, option: Option, a: Arm, b: Arm) -> bool:
    """Returns whether the values of an option do not set two arms apart: both are the
    same value, one of them stands in for the other arm's grammar, or the other arm's
    rung cannot have it.
    """
    key = f"decoding.{name}"
    if key in a.first.options and a.first.options[key] == b.first.options.get(key):
        return True
    rungs = [arm.settings[RUNG] for arm in (a, b)]
    grammars = {rung in RUNGS and RUNGS[rung].constrained for rung in rungs}
    if option.instead and len(grammars) == 2:
        return True
    values = [arm.settings[key] for arm in (a, b)]
    return any(
        rung not in option.rungs
        and own == str(default_of(name, rung))
        and other not in option.anywhere
        for rung, own, other in zip(rungs, values, reversed(values), strict=True)
    )


def other_versions(a: Arm, b: Arm, factor: str) -> list[str]:
    """Returns the names of recorded differences that no setting explains. They come
    from another version of this program, or from other weights with the same name.
    """
    group = factor.split(".")[0]
    names = []
    for key, (name, explained_by) in RECORDED.items():
        differ = getattr(a.first.run, key) != getattr(b.first.run, key)
        if differ and group not in explained_by:
            names.append(name)
    fingerprints = {arm.first.run.model.get("fingerprint") for arm in (a, b)}
    if group != "model" and len(fingerprints) > 1:
        names.append("weights")
    return names


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
        """Identifies the two arms regardless of which one is the base."""
        return frozenset(map(id, self.arms))


Group = Sequence[Contrast]


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
    return Contrast(factor, *arms)


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
    return _matching(declared, candidates, Arm.name) or _matching(
        declared, candidates, Arm.value
    )


def _fits(declared: Declared, contrast: Contrast) -> bool:
    """Whether both arms have the values of `where`, as far as they have the options."""
    return all(
        arm.settings.get(option, value) == value
        for arm in contrast.arms
        for option, value in declared.where
    )


def _matching(
    declared: Declared,
    candidates: Iterable[Contrast],
    spelled: Callable[[Arm, str], str],
) -> list[Contrast]:
    found = []
    for contrast in candidates:
        for base, other in (contrast.arms, contrast.arms[::-1]):
            base_fits = declared.base in ("", spelled(base, contrast.factor))
            other_fits = declared.other in ("", spelled(other, contrast.factor))
            if base_fits and other_fits:
                found.append(Contrast(contrast.factor, base, other))
                break
    return found


def contrasts(cells: Sequence[CellRecord]) -> list[Contrast]:
    """Returns all contrasts of these cells, in the order of the cells."""
    pairs = combinations(arms_of(cells), 2)
    return [found for a, b in pairs if (found := _contrast(a, b))]


def groups(
    every: Sequence[Contrast], declared: Iterable[Declared]
) -> dict[Role, list[Group]]:
    """Returns the declared comparisons by role, and under "not asked" each other
    contrast as a group by itself, including the parts of pooled comparisons.
    """
    found: dict[Role, list[Group]] = {"primary": [], "secondary": [], "not asked": []}
    taken = set[frozenset[int]]()
    alone = set[frozenset[int]]()
    primary_first = sorted(declared, key=lambda declaration: not declaration.primary)
    for declaration in primary_first:
        role: Role = "primary" if declaration.primary else "secondary"
        selected = matching(declaration, every)
        new = [contrast for contrast in selected if contrast.key not in taken]
        taken |= {contrast.key for contrast in new}
        alike = grouped((_all_but_games(contrast), contrast) for contrast in new)
        for group in alike.values():
            kinds_of_games = {contrast.base.games for contrast in group}
            if len(group) == 1 or len(group) > len(kinds_of_games):
                found[role] += [[contrast] for contrast in group]
                alone |= {contrast.key for contrast in group}
            else:
                found[role].append(group)
    found["not asked"] = [[contrast] for contrast in every if contrast.key not in alone]
    return found


def _all_but_games(contrast: Contrast) -> str:
    """A key that contrasts share if they may be pooled: all but the options of the
    games.
    """
    alike: list[Any] = [contrast.base.environment, contrast.factor]
    for arm in contrast.arms:
        hashes = [getattr(arm.first.run, name) for name in RECORDED]
        alike += [arm.settings, hashes]
    return json.dumps(alike, sort_keys=True)


def labels(group: Group, varying: Set[str]) -> dict[str, str]:
    """Returns what both arms have in common: labels, budget, and those options that
    vary in the report but are equal in both arms.
    """
    first = group[0]
    base, other, factor = first.base, first.other, first.factor
    hidden = {RUNG: "decoding"}.get(factor, factor)
    common = {**base.first.labels, "decoding": base.rung}
    if len(group) > 1:
        common["environment"] = base.environment
    option = options().get(factor.removeprefix("decoding."))
    if option and (option.added or option.own.keys() & option.rungs):
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
    """Returns the value of the factor in this arm, with the name of its option,
    followed by those options that vary in the report and that the arm `against` does
    not have.
    """
    named = arm.name(factor)
    if factor == "model" and named == against.name(factor):
        named = arm.settings.get("model.weights", named)
    elif "." in factor and factor not in (RUNG, BUDGET):
        named = f"{factor.split('.')[-1]} {named}"  # "max_retries 5", not "5"
    own = [
        f"{key.split('.')[-1]} {arm.value(key)}"
        for key in sorted(varying & arm.settings.keys() - against.settings.keys())
        if factor != "model"
    ]
    return ", ".join([named, *own])


def layout(contrast: Contrast) -> str:
    """Returns the layout that the grammar of one arm fixes while the other arm is free,
    or "" if there is none.
    """
    layouts = {arm.settings.get("decoding.layout", "") for arm in contrast.arms} - {
        "any"
    }
    return max(layouts) if "" in layouts and contrast.factor == RUNG else ""


def pooled_over(group: Group) -> str:
    """Returns what differs between the kinds of games: "rooms 3, 5, 7", or "" for one
    kind.
    """
    options = [contrast.base.first.options for contrast in group]
    parts = []
    for key in options[0]:
        of_games = key.startswith("environment.") and not key.startswith(BUDGET)
        values = {of_kind.get(key, "–") for of_kind in options}
        if of_games and len(values) > 1:
            listed = ", ".join(sorted(values, key=by_number))
            short = listed if len(listed) < 60 else str(len(values))
            parts.append(f"{key.split('.')[-1]} {short}")
    return "; ".join(parts)


def caveats(group: Group) -> Iterator[str]:
    """Yields what else differs between the two arms, in words."""
    first = group[0]
    more_of_base = more_of_other = 0
    for contrast in group:
        if versions := other_versions(contrast.base, contrast.other, first.factor):
            yield f"recorded with other {', '.join(versions)}"
        asked_of_base, asked_of_other = (arm.requested for arm in contrast.arms)
        more_of_base += len(asked_of_base - asked_of_other)
        more_of_other += len(asked_of_other - asked_of_base)
    if more_of_base or more_of_other:
        base, other = (arm.name(first.factor) for arm in first.arms)
        yield (
            "different episodes were requested, and only the common ones are compared: "
            f"{base} has {more_of_base} more, {other} {more_of_other}"
        )
    if repeated := sum(arm.repeated for contrast in group for arm in contrast.arms):
        yield f"{repeated} episodes are in two folders, and one copy of each is used"
