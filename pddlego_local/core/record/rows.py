"""The lines of episodes.jsonl and faults.jsonl: how each episode ended, in numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pydantic

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.formats import Recorded, read_as
from pddlego_local.core.outcomes import CAUSES, OUTCOMES


@dataclass(frozen=True, kw_only=True)
class Ending(Recorded):
    """How one trial of a game ended. `success` follows the papers' rule of the environment, `won`
    the game's own; `outcome` is one of `outcomes.OUTCOMES`."""

    game: int
    trial: int
    outcome: str
    success: bool
    won: bool
    wall_time_s: float


@dataclass(frozen=True, kw_only=True)
class Counts(Recorded):
    """What the events of an episode add up to; `metrics.summarize` says how each is counted."""

    task_type: str
    steps: int
    actions: int
    refused: int
    pddlego_steps: int
    calls: int
    causes: Mapping[str, int]
    solver_errors: int
    solver_errors_fixed: int
    simulation_errors: int
    simulation_errors_fixed: int
    edit_faults: int
    prompt_tokens: int
    completion_tokens: int
    forced_tokens: int
    rollbacks: int
    model_time_s: float
    planner_time_s: float
    planner_wait_s: float
    notes: Mapping[str, Any]
    map: str = ""
    map_seen: bool = False
    cut_after_answer: int = 0


@dataclass(frozen=True, kw_only=True)
class EpisodeRow(Counts, Ending):
    """One line of episodes.jsonl."""

    @property
    def sampled_tokens(self) -> int:
        return self.completion_tokens - self.forced_tokens

    @classmethod
    def of(cls, ending: Ending, counts: Counts) -> "EpisodeRow":
        return cls(**vars(ending), **vars(counts))


@dataclass(frozen=True, kw_only=True)
class FaultRow(Recorded):
    """One line of faults.jsonl: something of ours failed, and the episode is played again later."""

    game: int
    trial: int
    fault: str
    message: str
    time: str


_ROW = pydantic.TypeAdapter(EpisodeRow)
_FAULT = pydantic.TypeAdapter(FaultRow)


def row_of(line: str, place: str) -> EpisodeRow:
    """Raises ConfigError, which names `place`, if the line is no row of this format."""
    row = read_as(_ROW, line, place, "an episode's row")
    check_names(place, row.causes, row.outcome)
    return row


def check_names(place: str, causes: Iterable[str], outcome: str | None = None) -> None:
    """Raises ConfigError for one that `outcomes` does not list."""
    unknown = [name for name in causes if name not in CAUSES]
    if outcome is not None and outcome not in OUTCOMES:
        unknown.append(outcome)
    if unknown:
        raise ConfigError(
            f"{place} names {unknown[0]!r:.60}, which is no outcome or cause that this version "
            "knows; read it with the version that wrote it"
        )


def fault_of(line: str, place: str) -> FaultRow:
    """Raises as `row_of`."""
    return read_as(_FAULT, line, place, "a fault's row")
