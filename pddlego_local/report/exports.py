"""What was recorded as flat tables, for statistics of one's own: a line for each model call, or for
each episode. Texts are whole: prompts, thoughts, answers."""

import dataclasses
import json
from collections.abc import Iterator, Sequence

from pddlego_local.core.record.counting import reasons
from pddlego_local.core.record.events import ActionTaken, Call, Event, Plan, Start, Where
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.summary import cause_of, requests_of
from pddlego_local.report.cells import LABELS, CellRecord, varying_options
from pddlego_local.report.table_file import Cell, Row

_OF_CELL = ("cell", *LABELS, "settings")
_OF_EPISODE = ("game", "trial", "map", "task_type", "outcome", "success", "counts")
CALL_COLUMNS = (
    *_OF_CELL, *_OF_EPISODE, "call", "step", "attempt", "retry", "sample", "of", "form", "cause",
    "finish_reason", "grammar", "prompt_tokens", "completion_tokens", "sampled_tokens",
    "forced_tokens", "rollbacks", "stages", "thought_characters", "answer_characters", "latency_s",
    "temperature", "top_p", "max_tokens", "seed", "plan_actions", "planner_time_s", "prompt",
    "draft", "thought", "answer",
)  # fmt: skip
"""`outcome`, `success` and `counts` (whether it is in the rates) are the episode's; `cause` is what
came of the call (`outcomes.CAUSES`). `call` counts requests, from 1 in each episode; the tokens of
the prompt and the time, which the samples of one have in common, stand with the first. Of several
plans for one answer the last counts. `prompt` is a JSON list of {"role", "content"}."""

_AS_JSON = ("causes", "notes")
_OF_ROW = tuple(
    field.name for field in dataclasses.fields(EpisodeRow) if field.name not in _OF_EPISODE
)
EPISODE_COLUMNS = (
    *_OF_CELL, *_OF_EPISODE, *_OF_ROW, "sampled_tokens", "observation", "commands",
)  # fmt: skip
"""A row of episodes.jsonl, `causes` and `notes` as JSON objects. `observation` is what the game
said first, `commands` a JSON list of those that it carried out or refused."""


def call_rows(cells: Sequence[CellRecord]) -> Iterator[Row]:
    """Of all episodes. Raises ConfigError for a transcript that cannot be read."""
    for of_cell, row, events in _episodes(cells):
        for line in calls(row, events):
            yield {**of_cell, **line}


def episode_rows(cells: Sequence[CellRecord]) -> Iterator[Row]:
    """Raises as `call_rows`."""
    for of_cell, row, events in _episodes(cells):
        texts = {name: json.dumps(getattr(row, name), ensure_ascii=False) for name in _AS_JSON}
        first = next((event.observation for event in events if isinstance(event, Start)), "")
        taken = [event.command for event in events if isinstance(event, ActionTaken)]
        commands = json.dumps([command for command in taken if command], ensure_ascii=False)
        yield {
            **of_cell, **vars(row), **texts, "sampled_tokens": row.sampled_tokens,
            "observation": first, "commands": commands,
        }  # fmt: skip


def _episodes(
    cells: Sequence[CellRecord],
) -> Iterator[tuple[dict[str, Cell], EpisodeRow, Sequence[Event]]]:
    """Each with what it shares with others of its cell, and whether it counts."""
    varying = varying_options(cells)
    for cell in cells:
        of_cell = {"cell": cell.folder.name, **cell.labels, "settings": cell.settings(varying)}
        apart = reasons(cell.rows)
        for row in cell.rows:
            events, _ = cell.events(row)
            yield {**of_cell, "counts": not apart[row.game]}, row, events


def calls(row: EpisodeRow, events: Sequence[Event]) -> Iterator[dict[str, Cell]]:
    """Those of one episode, in order; without the cell's columns."""
    plans: dict[int, list[Plan]] = {}  # by the identity of the call
    latest: dict[Where, list[Plan]] = {}
    for event in events:
        if isinstance(event, Call):
            plans[id(event)] = latest[event.where] = []
        elif isinstance(event, Plan) and event.where in latest:
            latest[event.where].append(event)
    names = ("game", "trial", "map", "task_type", "outcome", "success")
    of_episode = {name: getattr(row, name) for name in names}
    for number, request in enumerate(requests_of(events), start=1):
        of_request: dict[str, Cell] = {
            "prompt_tokens": request.prompt_tokens, "latency_s": request.latency_s
        }  # fmt: skip
        for call in request.calls:
            yield {"call": number, **of_episode, **_of_call(call, plans[id(call)]), **of_request}
            of_request = dict.fromkeys(of_request)


def _of_call(call: Call, plans: Sequence[Plan]) -> dict[str, Cell]:
    plan = plans[-1] if plans else None
    of_call = (
        "of", "form", "finish_reason", "grammar", "completion_tokens", "sampled_tokens",
        "forced_tokens", "rollbacks", "thought",
    )  # fmt: skip
    messages = [dataclasses.asdict(message) for message in call.messages]
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
        "prompt": json.dumps(messages, ensure_ascii=False),
        "draft": call.draft.text if call.draft else "",
        "answer": call.text,
    }
