"""Reads the cells below a folder."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.grouping import grouped_by
from pddlego_local.core.record.events import Event
from pddlego_local.core.record.folder import (
    missing_end,
    read_events,
    read_rows,
    transcript_of,
)
from pddlego_local.core.record.rows import EpisodeRow, GameTrial
from pddlego_local.core.record.run_record import RunRecord, read_run
from pddlego_local.core.visible import visible
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.settings import options
from pddlego_local.runner.parts import defaults_of_later
from pddlego_local.runner.sweep import Episodes, read_sweep

LABELS = ("environment", "method", "model", "decoding")
STRICTLY = ", read strictly"
_OURS = "pddlego_local."


@dataclass(frozen=True)
class CellRecord:
    """A cell on disk. `run` is run.json, and `rows` are sorted by game and trial.
    `problems` lists the lines that could not be read so far or are ignored. `planned`
    are the episodes that sweeps requested, whether or not a start of
    the cell has.
    """

    folder: Path
    run: RunRecord
    rows: list[EpisodeRow]
    problems: list[str] = field(default_factory=list)
    planned: Collection[GameTrial] = ()

    def events(self, row: EpisodeRow) -> tuple[list[Event], str]:
        """Returns the events of an episode and "", or no events and the reason if its
        transcript cannot be read or has no end. An unreadable transcript does not
        affect the others.
        """
        path = transcript_of(self.folder, row.game, row.trial)
        try:
            events = read_events(path)
            problem = missing_end(path, events)
            if path.exists() and problem:
                raise ConfigError(*problem)
            return events, ""
        except ConfigError as error:
            if str(error) not in self.problems:
                self.problems.append(str(error))
            return [], str(error)

    @cached_property
    def requested(self) -> frozenset[GameTrial]:
        """The episodes that a sweep or a start of this cell requested."""
        episodes = set(self.planned)
        for start in self.run.starts:
            episodes |= start.episodes
        return frozenset(episodes)

    @property
    def seed(self) -> int:
        return int(self.run.identity["seed"])

    @cached_property
    def missing_episodes(self) -> set[GameTrial]:
        """The requested episodes without a result."""
        finished = {row.episode for row in self.rows}
        return set(self.requested) - finished

    @property
    def missing(self) -> int:
        """The number of requested episodes without a result."""
        return len(self.missing_episodes)

    @property
    def games_teach_each_other(self) -> bool:
        """Whether trials of one game used those of other games. Games are then not
        independent. A record that does not say so is taken to have independent games.
        """
        return any(start.games_teach_each_other for start in self.run.starts)

    @property
    def labels(self) -> dict[str, str]:
        """The labels in run.json, with `added` after the decoding's label. For answers
        that are read strictly, that label is the rung.
        """
        recorded = self.run.labels
        labels = {label: visible(recorded[label]) for label in LABELS}
        if self.added.startswith(STRICTLY):
            labels["decoding"] = self.decoding["rung"]
        labels["decoding"] += self.added
        return labels

    @property
    def decoding(self) -> Mapping[str, Any]:
        """The recorded options of decoding."""
        options: Mapping[str, Any] = self.run.identity.get("decoding", {})
        return options

    @property
    def added(self) -> str:
        """Returns the additions to the rung: the strict reader of free answers, a
        draft, or the repair or rejection of free answers.
        """
        rung = str(self.decoding.get("rung"))
        additions = [
            option.in_reports(name, rung, self.decoding[name])
            for name, option in options().items()
            if name in self.decoding
        ]
        return "".join(additions)

    @property
    def rung(self) -> int:
        """The cell's place on the ladder: that of its rung, whatever the label of the
        decoding is.
        """
        label = self.run.labels.get("decoding")
        rung = self.decoding.get("rung", label)
        ladder = [*RUNGS, rung]  # an unknown rung comes last
        return ladder.index(rung)

    @property
    def budget(self) -> str:
        """For example "50 actions". All methods of a comparison must have the same
        budget.
        """
        budget = self.run.identity["environment"]["budget"]
        return f"{budget['limit']} {budget['unit']}"

    @cached_property
    def options(self) -> dict[str, str]:
        """Every option that changes results, such as "method.variant": "simple",
        without the labels. A record lacks the default of an option that was added
        later. Of other methods than the project's own this is not known, because
        nothing that a record names is imported.
        """
        method = self.run.identity.get("method", {})
        target = str(method.get("_target_"))
        later = defaults_of_later(target) if target.startswith(_OURS) else {}
        identity = {**self.run.identity, "method": {**later, **method}}
        return dict(_flat(identity))

    def settings(self, varying: Collection[str]) -> str:
        """Returns the options in `varying` as text, for example "method.variant=simple
        seed=0".
        """
        chosen = [name for name in self.options if name in varying]
        return " ".join(f"{name}={self.options[name]}" for name in chosen)

    def group(self, task_type: str) -> str:
        """Returns the environment's group of this task type, or the type itself if it
        has no group.
        """
        for name, kinds in self.run.task_groups.items():
            if task_type in kinds:
                return visible(name)
        return visible(task_type)


class Cells(list[CellRecord]):
    """The cells that can be read; `left_out` says why others cannot."""

    def __init__(
        self, cells: Iterable[CellRecord] = (), left_out: Iterable[str] = ()
    ) -> None:
        super().__init__(cells)
        self.left_out = list(left_out)

    @property
    def problems(self) -> list[str]:
        of_cells = [problem for cell in self for problem in cell.problems]
        return [*self.left_out, *of_cells]


def unrequested(cell: CellRecord) -> list[str]:
    """Returns a sentence for each row that neither a start of the cell nor a sweep
    requested. There is none if run.json was lost, since it then does not have all
    starts.
    """
    if any(start.rows_before for start in cell.run.starts):
        return []
    name = visible(str(cell.folder))
    return [
        f"{name}: nobody requested game {row.game}, trial {row.trial}"
        for row in cell.rows
        if row.episode not in cell.requested
    ]


def without_transcript(cell: CellRecord) -> list[str]:
    """Returns a sentence for each row without a transcript. There is none if the cell
    has no transcripts at all: then it was archived without them.
    """
    transcripts = cell.folder / "transcripts"
    there = {path.stem for path in transcripts.glob("*.jsonl")}
    if not there:
        return []
    name = visible(str(cell.folder))
    return [
        f"{name}: game {row.game}, trial {row.trial}, has no transcript"
        for row in cell.rows
        if f"{row.game}-{row.trial}" not in there
    ]


def find_cells(paths: Iterable[Path]) -> Cells:
    """Returns every cell at or below the given folders. The cells of one folder are
    sorted by labels and settings. Raises ConfigError if a folder holds no cell that can
    be read.
    """
    cells = dict[Path, CellRecord]()
    left_out = list[str]()
    sweeps_of = cache(read_sweep)
    for path in paths:
        found = list[CellRecord]()
        wrong = list[str]()
        files = [*path.rglob("run.json"), *path.rglob("episodes.jsonl")]
        for folder in sorted({file.parent for file in files}):
            try:
                found.append(_read(folder, sweeps_of))
            except ConfigError as error:
                wrong.append(str(error))
        if not found:
            no_cells = f"{path}: no run.json in it or below it"
            raise ConfigError("; ".join(wrong) or no_cells)
        left_out += wrong
        for cell in sorted(found, key=_order):
            cells[cell.folder.resolve()] = cell
    return Cells(cells.values(), dict.fromkeys(left_out))


def _read(
    folder: Path, sweeps_of: Callable[[Path], dict[Path, Episodes]]
) -> CellRecord:
    """`sweeps_of` reads the sweeps of a folder of cells."""
    problems = list[str]()
    if not (folder / "run.json").exists():
        raise ConfigError(
            f"{folder} holds episodes but no run.json; put run.json back, or play the"
            " episodes again with the same command"
        )
    rows = read_rows(folder / "episodes.jsonl", problems)
    rows.sort(key=lambda row: row.episode)
    here = folder.resolve()
    planned = sweeps_of(here.parent).get(here, set())
    return CellRecord(folder, read_run(folder), rows, problems, planned)


def _order(cell: CellRecord) -> tuple[object, ...]:
    """A key to sort by: labels with rungs in the order of the ladder, then settings."""
    labels = cell.run.labels
    who = [labels[label] for label in labels if label != "decoding"]
    settings = [by_number(value) for value in cell.options.values()]
    return (*who, cell.rung, settings)


def varying_options(cells: Sequence[CellRecord]) -> set[str]:
    """Returns the options that differ between cells with the same labels or that only
    some of them have. The seed is always included.
    """
    same_labels = grouped_by(cells, lambda cell: tuple(cell.labels.values()))
    varying = {"seed"}
    for alike in same_labels.values():
        names = {name for cell in alike for name in cell.options}
        for name in names:
            values = {cell.options.get(name) for cell in alike}
            if len(values) > 1:
                varying.add(name)
    return varying


def short_name(option: str) -> str:
    """Returns an option's name without its config group: "layout" for
    "decoding.layout".
    """
    return option.rpartition(".")[2]


def by_number(text: str) -> list[str | int]:
    """A key to sort by: "3 rooms" comes before "11 rooms", and texts with a leading
    number first.
    """
    parts = re.split(r"(\d+)", text)  # every second part is a number
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif key != "_target_":
            name = f"{prefix}{key}"
            yield visible(name), visible(str(value))
