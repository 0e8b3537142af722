"""All model calls as one flat table, a line each: for statistics of one's own."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from pddlego_local.events import Call, Event, Plan, Where
from pddlego_local.metrics.episode import cause_of
from pddlego_local.record import read_events, transcript_of
from pddlego_local.report.cells import LABELS, CellRecord, varying_options
from pddlego_local.rows import EpisodeRow

Cell = str | int | float | bool | None

COLUMNS = (
    "cell", *LABELS, "settings", "game", "trial", "task_type", "outcome", "success", "call",
    "step", "attempt", "retry", "sample", "of", "form", "cause", "finish_reason", "grammar",
    "prompt_tokens", "completion_tokens", "sampled_tokens", "forced_tokens", "rollbacks", "stages",
    "thought_characters", "answer_characters", "latency_s", "temperature", "top_p", "max_tokens",
    "seed", "plan_actions", "planner_time_s",
)  # fmt: skip
"""`outcome` and `success` are the episode's; `cause` is what came of the call (`outcomes.CAUSES`).
`call` counts from 1 in each episode. Of several plans for one answer the last counts."""


def write_calls(cells: Sequence[CellRecord], path: Path) -> int:
    """Writes a CSV and returns the number of its lines. Raises OSError, and ConfigError for a
    transcript that cannot be read."""
    varying = varying_options(cells)
    count = 0
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for cell in cells:
            of_cell = {"cell": cell.folder.name, **cell.labels, "settings": cell.settings(varying)}
            for row in cell.rows:
                events = read_events(transcript_of(cell.folder, row.game, row.trial))
                for line in calls(row, events):
                    writer.writerow({**of_cell, **line})
                    count += 1
    return count


def calls(row: EpisodeRow, events: Sequence[Event]) -> Iterator[dict[str, Cell]]:
    """Those of one episode, in order; without the cell's columns."""
    asked: list[tuple[Call, list[Plan]]] = []
    latest: dict[Where, list[Plan]] = {}
    for event in events:
        if isinstance(event, Call):
            latest[event.where] = []
            asked.append((event, latest[event.where]))
        elif isinstance(event, Plan) and event.where in latest:
            latest[event.where].append(event)
    for number, (call, plans) in enumerate(asked, start=1):
        yield {"call": number, **_of_episode(row), **_of_call(call, plans)}


def _of_episode(row: EpisodeRow) -> dict[str, Cell]:
    names = ("game", "trial", "task_type", "outcome", "success")
    return {name: getattr(row, name) for name in names}


def _of_call(call: Call, plans: Sequence[Plan]) -> dict[str, Cell]:
    plan = plans[-1] if plans else None
    of_call = (
        "of", "form", "finish_reason", "grammar", "prompt_tokens", "completion_tokens",
        "sampled_tokens", "forced_tokens", "rollbacks", "latency_s",
    )  # fmt: skip
    return {
        **{name: getattr(call.where, name) for name in ("step", "attempt", "retry", "sample")},
        **{name: getattr(call, name) for name in of_call},
        **{n: getattr(call.sampling, n) for n in ("temperature", "top_p", "max_tokens", "seed")},
        "cause": cause_of(call, plan),
        "stages": len(call.stages),
        "thought_characters": len(call.thought),
        "answer_characters": len(call.text),
        "plan_actions": len(plan.plan) if plan else None,
        "planner_time_s": round(sum(plan.wall_time_s for plan in plans), 6) if plans else None,
    }
