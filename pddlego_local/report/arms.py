"""The arms of a report, and the factors in which two arms differ.

An arm is all cells that differ only in the seed. Options that do not apply (the layout
of a free answer, the strictness with which a constrained answer is read, the goal below
"typed") and options that a rung sets (the goal of "grounded") do not count as
differences.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from pddlego_local.core.grouping import grouped_by
from pddlego_local.core.record.counting import counted
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.run_record import RunRecord
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import Option, default_of, options
from pddlego_local.report.cells import CellRecord
from pddlego_local.runner.settings import ARM

EpisodeKey = tuple[int, int, int]
"""Game, seed and trial."""

RUNG, BUDGET = "decoding.rung", "environment.budget"


class Hashed(NamedTuple):
    """What was hashed, and the config groups whose options explain different hashes of
    two arms.
    """

    name: str
    explained_by: tuple[str, ...]


RECORDED = {
    "prompt_sha256": Hashed("prompts", ("method",)),
    "tables_sha256": Hashed("tables of the environment", ()),
    "grammar_sha256": Hashed("grammars", ("method", "decoding")),
}
"""Hashes in run.json, by their names there."""


@dataclass(frozen=True)
class Arm:
    """The cells of one arm. If two cells hold the same episode, the first cell's row is
    used.
    """

    cells: tuple[CellRecord, ...]

    @property
    def first(self) -> CellRecord:
        return self.cells[0]

    @property
    def run(self) -> RunRecord:
        return self.first.run

    @property
    def options(self) -> dict[str, str]:
        return self.first.options

    @cached_property
    def rows(self) -> dict[EpisodeKey, EpisodeRow]:
        found: dict[EpisodeKey, EpisodeRow] = {}
        for cell in self.cells:
            for row in cell.rows:
                key = row.game, cell.seed, row.trial
                found.setdefault(key, row)
        return found

    @cached_property
    def requested(self) -> frozenset[EpisodeKey]:
        """The episodes that some start of a cell requested, and all that were
        played.
        """
        keys = set(self.rows)
        for cell in self.cells:
            keys |= {(game, cell.seed, trial) for game, trial in cell.requested}
        return frozenset(keys)

    @cached_property
    def repeated(self) -> int:
        """The number of rows that are ignored because an earlier cell holds the same
        episode.
        """
        all_rows = sum(len(cell.rows) for cell in self.cells)
        return all_rows - len(self.rows)

    @property
    def label(self) -> str:
        """The name of the arm's file, without its folder in conf/arm; "" if there is
        none.
        """
        named = [start.arm for start in self.run.starts if start.arm]
        return named[-1].rpartition("/")[2] if named else ""

    @property
    def calls_a_model(self) -> bool:
        """False if no scored episode made a model call, and there are scored
        episodes.
        """
        found = counted([*self.rows.values()])
        if not found.counted:
            return True
        return any(row.calls for row in found.counted)

    @property
    def plays_by_rules(self) -> bool:
        """Whether the reference answers, which no grammar constrains."""
        return self.kind("model").endswith(".ReferenceFormalizer")

    @cached_property
    def games(self) -> str:
        """The options that determine the games, as JSON: the environment's, without its
        budget.
        """
        environment = self.run.identity["environment"]
        return json.dumps({**environment, "budget": 0}, sort_keys=True)

    @cached_property
    def settings(self) -> dict[str, str]:
        """The options that apply, without the environment's except for its budget.
        "method" is the class of the method, and "model" the class of the model with its
        weights.
        """
        groups = ("method.", "model.", "planner.")
        kept = {
            key: value for key, value in self.options.items() if key.startswith(groups)
        }
        weights = kept.get("model.weights", "")
        return {
            **self._decoding,
            **kept,
            BUDGET: self.first.budget,
            "method": self.kind("method"),
            "model": f"{self.kind('model')} {weights}".strip(),
            # Earlier records say so of a vLLM server; on CUDA it changed answers.
            "model.forced_tokens": str(self.run.model.get("forced_tokens")),
        }

    @cached_property
    def _decoding(self) -> dict[str, str]:
        """The options of decoding that apply. One that this version does not know is
        shown as it is.
        """
        values = dict(self.first.decoding)
        values.pop("_target_", None)
        rung = values.setdefault("rung", self.run.labels["decoding"])
        for name, option in options().items():
            default = default_of(name, rung)
            value = values.setdefault(name, default)  # a record may lack it
            of_rung = option.own.keys() & option.rungs
            if not _applies(option, values):
                del values[name]
            elif of_rung and value == default:
                values[name] = "the rung's own"
            else:
                values[name] = option.text(value)
        return {f"decoding.{name}": str(value) for name, value in values.items()}

    def kind(self, group: str) -> str:
        options = self.run.identity.get(group, {})
        return str(options.get("_target_") or self.first.labels[group])

    @property
    def rung(self) -> str:
        """The rung as reports name it, with what `CellRecord.added` adds."""
        return self.settings[RUNG] + self.first.added

    @property
    def constrained(self) -> bool:
        """Whether a grammar constrains the answers."""
        rung = RUNGS.get(self.settings[RUNG])
        return rung is not None and rung.constrained

    @property
    def environment(self) -> str:
        """The name of the environment without its options, such as "coin"."""
        return str(self.run.environment or self.first.labels["environment"])

    def value(self, factor: str) -> str:
        """The value of one setting, as `conf` spells it."""
        if factor == ARM:
            return self.label
        return self.options.get(factor) or self.settings[factor]

    def name(self, factor: str) -> str:
        """The value of one setting, as reports name it."""
        names = {**self.first.labels, RUNG: self.rung, ARM: self.label}
        return names.get(factor) or self.value(factor)


def _applies(option: Option, values: Mapping[str, Any]) -> bool:
    """Whether an option applies, with these values of all options."""
    if option.with_value:
        needed, value = option.with_value
        if values.get(needed) != value:
            return False
    return values["rung"] in option.rungs or bool(option.anywhere)


def hashes(cell: CellRecord) -> list[object]:
    """Returns the hashes in run.json."""
    return [getattr(cell.run, name) for name in RECORDED]


def arms_of(cells: Sequence[CellRecord]) -> list[Arm]:
    """Returns the arms of these cells, in the order of their first cells."""

    def all_but_seed(cell: CellRecord) -> str:
        run = cell.run
        options = {**run.identity, "seed": 0}
        model = {**run.model, "weights": ""}
        return json.dumps([options, model, hashes(cell)], sort_keys=True)

    together = grouped_by(cells, all_but_seed)
    return [Arm(tuple(alike)) for alike in together.values()]


def differences(a: Arm, b: Arm) -> set[str]:
    """Returns the settings in which two arms differ.

    A setting that only one of the arms has belongs to its method or model and is no
    difference. Neither are the settings of a model if the models differ.
    """
    of_decoding = {f"decoding.{name}": name for name in options()}
    models_differ = a.settings["model"] != b.settings["model"]
    differing = set()
    for key in a.settings.keys() & b.settings.keys():
        if a.settings[key] == b.settings[key]:
            continue
        if models_differ and key.startswith("model."):
            continue
        if key in of_decoding and _are_alike(of_decoding[key], a, b):
            continue
        differing.add(key)
    return differing


def _are_alike(name: str, a: Arm, b: Arm) -> bool:
    """Returns whether the values of an option do not set two arms apart: both are the
    same value, one of them stands in for the other arm's grammar, or the other arm's
    rung cannot have it.
    """
    recorded = a.options.get(f"decoding.{name}")
    if recorded is not None and recorded == b.options.get(f"decoding.{name}"):
        return True
    if options()[name].instead and a.constrained != b.constrained:
        return True
    return _cannot_have(name, a, b) or _cannot_have(name, b, a)


def _cannot_have(name: str, arm: Arm, other: Arm) -> bool:
    """Whether the rung of `arm`, which has its default, excludes the value of
    `other`.
    """
    option = options()[name]
    rung = arm.settings[RUNG]
    if rung in option.rungs:
        return False
    key = f"decoding.{name}"
    has_default = arm.settings[key] == str(default_of(name, rung))
    return has_default and other.settings[key] not in option.anywhere


def other_versions(a: Arm, b: Arm, factor: str) -> list[str]:
    """Returns the names of recorded differences that no setting explains. They come
    from another version of this program, or from other weights with the same name.
    """
    groups = ("method", "decoding") if factor == ARM else (factor.split(".")[0],)
    names = []
    for recorded, ours, theirs in zip(
        RECORDED.values(), hashes(a.first), hashes(b.first), strict=True
    ):
        is_explained = any(group in recorded.explained_by for group in groups)
        if ours != theirs and not is_explained:
            names.append(recorded.name)
    ours = a.run.model.get("fingerprint")
    theirs = b.run.model.get("fingerprint")
    if "model" not in groups and ours != theirs:
        names.append("weights")
    return names
