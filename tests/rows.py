"""Rows and events made by hand, with what a test does not care about filled in."""

from typing import Any

from pddlego_local.core.nouns import Message, Sampling
from pddlego_local.core.outcomes import outcome_named
from pddlego_local.core.record.events import Call, DrawnStage, Where
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.run_record import RunRecord, Start


def row(
    outcome: str = "success", game: int = 0, trial: int = 0, **changes: Any
) -> EpisodeRow:
    """One terminal row with zeros for counts; `changes` replace any field."""
    facts: dict[str, Any] = dict.fromkeys(
        (
            "steps",
            "actions",
            "refused",
            "pddlego_steps",
            "calls",
            "solver_errors",
            "solver_errors_fixed",
            "simulation_errors",
            "simulation_errors_fixed",
            "edit_faults",
            "prompt_tokens",
            "completion_tokens",
            "forced_tokens",
            "rollbacks",
            "model_time_s",
            "planner_time_s",
            "planner_wait_s",
            "wall_time_s",
        ),
        0,
    )
    success = outcome_named(outcome).success
    facts |= {
        "game": game,
        "trial": trial,
        "outcome": outcome,
        "success": success,
        "won": success,
    }
    facts |= {"task_type": "11 rooms", "causes": {}, "notes": {}}
    return EpisodeRow(**(facts | changes))


def call(
    step: int = 1,
    attempt: int = 1,
    retry: int = 0,
    fault: str = "",
    sample: int = 0,
    **changes: Any,
) -> Call:
    """One answer of 10 tokens, 3 of them forced, to a prompt of 100, after half a
    second.
    """
    facts: dict[str, Any] = {
        "where": Where(step=step, attempt=attempt, retry=retry, sample=sample),
        "of": 1,
        "form": "pddl",
        "messages": (Message("user", "Write."),),
        "grammar": None,
        "sampling": Sampling(),
        "text": "",
        "thought": "",
        "finish_reason": "stop",
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "forced_tokens": 3,
        "latency_s": 0.5,
        "fault": fault,
    }
    return Call(**(facts | changes))


def run_record(games: str = "0", seed: int = 0, began: str = "") -> RunRecord:
    """A cell that was begun once, for these games."""
    return RunRecord(
        labels=dict.fromkeys(("environment", "method", "model", "decoding"), "any"),
        identity={
            "environment": {"budget": {"unit": "actions", "limit": 50}},
            "seed": seed,
        },
        task_groups={},
        starts=[Start(began=began, config={"games": games, "trials": 1})],
    )


def stage(name: str = "types", text: str = "a", **changes: Any) -> DrawnStage:
    """One stage of 4 tokens after half a second; `changes` replace any field."""
    facts: dict[str, Any] = {
        "name": name,
        "grammar": "",
        "sampling": Sampling(),
        "before": "",
        "text": text,
        "finish_reason": "stop",
        "prompt_tokens": 9,
        "completion_tokens": 4,
        "latency_s": 0.5,
    }
    return DrawnStage(**(facts | changes))
