"""The arms of a report, what two of them differ in, and the games that they have in common.

An arm is all cells that differ in nothing but the seed. Options that do not apply (the layout of a
free answer, how strictly a constrained one is read, the goal below "typed") and what a rung brings
along (the goal of "grounded") make no difference of their own.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pddlego_local.core.record.counting import Also, Cluster, clusters, counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.report.cells import CellRecord

EpisodeKey = tuple[int, int, int]
"""Game, seed and trial."""

GameKey = tuple[str, Cluster]
"""What makes the games, and a game's number, or the cluster that it belongs to."""

Trials = Sequence[EpisodeRow]
"""Of one game with one seed by one arm, in order; none where the result is missing."""

RUNG, GOAL, BUDGET = "decoding.rung", "decoding.goal", "environment.budget"
READING = "decoding.reading"
RULES = ".ReferenceFormalizer"  # of a model

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

    @property
    def decodes(self) -> bool:
        """Whether a grammar can reach its answers."""
        return not self._kind("model").endswith(RULES)

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
        else:
            kept.pop(READING, None)
        if not (known and known.typed):
            kept.pop(GOAL, None)
        elif kept.get(GOAL) == known.goal:
            kept[GOAL] = "the rung's own"
        if kept.get("decoding.reason") != "draft":
            kept.pop("decoding.draft_tokens", None)
        kept.setdefault("decoding.draw", "masked")  # earlier versions could also draw "weighted"
        kept = {key: value for key, value in kept.items() if ".stage_tokens." not in key}
        return kept | {
            "decoding.stage_tokens": str(run.identity.get("decoding", {}).get("stage_tokens")),
            BUDGET: self.first.budget,
            "method": self._kind("method"),
            "model": f"{self._kind('model')} {kept.get('model.weights', '')}".strip(),
            "model.forced_tokens": str(run.model.get("forced_tokens")),
        }

    def _kind(self, group: str) -> str:
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
    together: dict[str, list[CellRecord]] = {}
    for cell in cells:
        model = {k: v for k, v in cell.run.model.items() if k != "weights"}
        hashes = [getattr(cell.run, name) for name in RECORDED]
        alike = [{**cell.run.identity, "seed": 0}, model, hashes]
        together.setdefault(json.dumps(alike, sort_keys=True), []).append(cell)
    return [Arm(tuple(alike)) for alike in together.values()]


def differences(a: Arm, b: Arm) -> set[str]:
    """The settings in which two arms differ. What one method or model has and another lacks belongs
    to it, and so do all settings of another model."""
    one, two = a.settings, b.settings
    differing = {key for key in one.keys() & two.keys() if one[key] != two[key]}
    if a.first.options.get(GOAL) == b.first.options.get(GOAL):
        differing.discard(GOAL)
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
class Pair:
    """One game with one seed, as both arms played it."""

    game: GameKey
    seed: int
    cluster: GameKey
    base: Trials
    other: Trials

    @property
    def base_won(self) -> bool:
        return solved(self.base)

    @property
    def finished(self) -> bool:
        return bool(self.base and self.other)


def solved(trials: Trials) -> bool:
    return any(row.success for row in trials)


def pairs_of(base: Arm, other: Arm, also: Also) -> Iterator[Pair]:
    """Of all games, seeds and trials that both arms were to play. A game that stands apart in one
    arm stands apart in both."""
    rows = [*base.rows.values(), *other.rows.values()]
    counting = {row.game for row in counted(rows, also=also).counted}
    apart = {row.game for row in rows} - counting
    maps = clusters(rows)
    common: dict[tuple[int, int], list[int]] = defaultdict(list)
    for game, seed, trial in sorted(base.requested & other.requested):
        common[game, seed].append(trial)
    for (game, seed), trials in common.items():
        if game not in apart:
            cluster = base.games, maps.get(game, game)
            results = (_trials(arm, game, seed, trials) for arm in (base, other))
            yield Pair((base.games, game), seed, cluster, *results)


def _trials(arm: Arm, game: int, seed: int, trials: Sequence[int]) -> Trials:
    """None as long as a trial that may yet solve the game is missing."""
    found = [arm.rows.get((game, seed, trial)) for trial in trials]
    rows = [row for row in found if row]
    return rows if len(rows) == len(trials) or solved(rows) else []
