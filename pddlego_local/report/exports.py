"""Writes CSV tables: a report's numbers, and a line for each model call or each episode
for further statistics. Prompts, thoughts and answers are not shortened.
"""

import csv
import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pddlego_local.core.outcomes import CAUSES, OUTCOMES
from pddlego_local.core.record.counting import reasons
from pddlego_local.core.record.events import (
    ActionTaken,
    Call,
    Event,
    Plan,
    Start,
    Where,
)
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.summary import cause_of, requests_of
from pddlego_local.report.cells import LABELS, CellRecord, varying_options
from pddlego_local.report.comparisons import Side
from pddlego_local.report.statistics.rates import Interval, Mean, Range, Rate

Cell = str | int | float | bool | None
Row = Mapping[str, Cell]

_OF_CELL = ("cell", *LABELS, "settings")
_OF_EPISODE = ("game", "trial", "map", "task_type", "outcome", "success", "counts")
CALL_COLUMNS = (
    *_OF_CELL,
    *_OF_EPISODE,
    "call",
    "step",
    "attempt",
    "retry",
    "sample",
    "of",
    "form",
    "cause",
    "finish_reason",
    "grammar",
    "prompt_tokens",
    "completion_tokens",
    "sampled_tokens",
    "forced_tokens",
    "rollbacks",
    "stages",
    "thought_characters",
    "answer_characters",
    "latency_s",
    "temperature",
    "top_p",
    "max_tokens",
    "seed",
    "plan_actions",
    "planner_time_s",
    "prompt",
    "draft",
    "thought",
    "answer",
)
"""The columns of calls.

`outcome`, `success` and `counts` (whether the episode is scored) belong to the episode.
`cause` is the result of the call (`outcomes.CAUSES`). `call` numbers the requests from
1 in each episode. The samples of one request share its prompt tokens and its latency,
which are given for the first sample only. If there are several plans for one answer,
the last one is used. `prompt` is a JSON list of {"role", "content"}.
"""

_OF_ROW = [field.name for field in dataclasses.fields(EpisodeRow)]
EPISODE_COLUMNS = (
    *_OF_CELL,
    *dict.fromkeys([*_OF_EPISODE, *_OF_ROW]),
    "sampled_tokens",
    "observation",
    "commands",
)
"""The columns of episodes: a row of episodes.jsonl, with `causes` and `notes` as JSON
objects. `observation` is the first observation, and `commands` is a JSON list of the
commands that the game carried out or refused.
"""


def call_rows(cells: Sequence[CellRecord]) -> Iterator[Row]:
    """Yields a row for each call of all episodes, without those of transcripts that
    cannot be read.
    """
    for of_cell, row, events in _episodes(cells):
        for of_call in calls(events):
            known = {**vars(row), **of_cell, **of_call}
            yield {name: known[name] for name in CALL_COLUMNS}


def episode_rows(cells: Sequence[CellRecord]) -> Iterator[Row]:
    """Yields a row for each episode."""
    for of_cell, row, events in _episodes(cells):
        first = [event.observation for event in events if isinstance(event, Start)]
        taken = [event.command for event in events if isinstance(event, ActionTaken)]
        yield {
            **of_cell,
            **vars(row),
            "causes": _json(row.causes),
            "notes": _json(row.notes),
            "sampled_tokens": row.sampled_tokens,
            "observation": first[0] if first else "",
            "commands": _json([command for command in taken if command]),
        }


TABLES = {
    "episodes": (episode_rows, EPISODE_COLUMNS),
    "calls": (call_rows, CALL_COLUMNS),
}
"""The rows and the columns of each table."""


def _json(value: object) -> str:
    """JSON that a person can read: letters of other alphabets are not escaped."""
    return json.dumps(value, ensure_ascii=False)


def _episodes(
    cells: Sequence[CellRecord],
) -> Iterator[tuple[dict[str, Cell], EpisodeRow, Sequence[Event]]]:
    """Yields the columns of the cell with `counts`, the row, and the events of each
    episode.
    """
    varying = varying_options(cells)
    for cell in cells:
        of_cell = {
            "cell": cell.folder.name,
            **cell.labels,
            "settings": cell.settings(varying),
        }
        excluded = reasons(cell.rows)
        for row in cell.rows:
            events, _ = cell.events(row)
            yield {**of_cell, "counts": not excluded[row.game]}, row, events


def calls(events: Sequence[Event]) -> Iterator[dict[str, Cell]]:
    """Yields the columns of each call of one episode, in order."""
    plans_of = _plans_by_call(events)
    for number, request in enumerate(requests_of(events), start=1):
        for call in request.calls:
            first = call is request.calls[0]
            yield {
                **_of_call(call, plans_of[id(call)]),
                "call": number,
                "prompt_tokens": request.prompt_tokens if first else None,
                "latency_s": request.latency_s if first else None,
            }


def _plans_by_call(events: Iterable[Event]) -> dict[int, list[Plan]]:
    """The plans for each call, by the identity of the call. A plan belongs to the last
    call from its place in the episode.
    """
    plans: dict[int, list[Plan]] = {}
    latest: dict[Where, list[Plan]] = {}
    for event in events:
        if isinstance(event, Call):
            plans[id(event)] = latest[event.where] = []
        elif isinstance(event, Plan) and event.where in latest:
            latest[event.where].append(event)
    return plans


def _of_call(call: Call, plans: Sequence[Plan]) -> dict[str, Cell]:
    plan = plans[-1] if plans else None
    planner_time_s = round(sum(plan.wall_time_s for plan in plans), 6)
    messages = [dataclasses.asdict(message) for message in call.messages]
    return {
        **vars(call.where),
        **vars(call.sampling),
        **vars(call),
        "sampled_tokens": call.sampled_tokens,
        "rollbacks": call.rollbacks,
        "cause": cause_of(call, plan),
        "stages": len(call.stages),
        "thought_characters": len(call.thought),
        "answer_characters": len(call.text),
        "plan_actions": len(plan.plan) if plan else None,
        "planner_time_s": planner_time_s if plans else None,
        "prompt": _json(messages),
        "draft": call.draft.text if call.draft else "",
        "answer": call.text,
    }


def columns(row: Any) -> dict[str, Cell]:
    """Flattens a row of `report.numbers`: {"success_k": 3, "success_n": 4,
    "success_low": 0.3, …}.

    Shares and intervals are from 0 to 1. Undefined numbers, such as a mean of no
    values, are None.
    """
    return dict(_flat(row, ""))


def _flat(value: Any, name: str) -> Iterator[tuple[str, Cell]]:
    match value:
        case Rate():
            yield from _named(name, _of_rate(value))
        case Mean():
            yield from _named(name, vars(value))
        case Counter():
            known = CAUSES if name == "causes" else OUTCOMES
            yield from _named(name, {key: value[key] for key in known})
        case Interval() | Range():
            yield from _named(name, value._asdict())
        case Mapping():
            yield from value.items()
        case tuple() if name == "discordant":
            return  # episodes, which have separate tables
        case tuple():
            yield name, "; ".join(value)
        case bool():
            yield name, int(value)
        case _ if dataclasses.is_dataclass(value):
            is_part = isinstance(value, Side) or name == "here"
            prefix = f"{name}_" if is_part else ""
            for field, inner in vars(value).items():
                yield from _flat(inner, prefix + field)
        case _:
            yield name, value


def _of_rate(rate: Rate) -> dict[str, Cell]:
    interval = rate.interval if rate.n else None
    return {
        "k": rate.k,
        "n": rate.n,
        "share": rate.share,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }


def _named(name: str, parts: Mapping[str, Cell]) -> Iterator[tuple[str, Cell]]:
    for part, number in parts.items():
        yield f"{name}_{part}", number


FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001 (spreadsheets know the wide ones too)


_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclasses.dataclass
class Formulas:
    """Texts that a spreadsheet would carry out as formulas, in the cells of tables.

    They are counted and left as they are. With `mark`, they get an apostrophe in front,
    which tells a spreadsheet that a text follows.
    """

    mark: bool = False
    found: int = 0

    def checked(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            risky = [name for name, text in row.items() if _is_formula(text)]
            self.found += len(risky)
            marked = {name: f"'{row[name]}" for name in risky}
            yield {**row, **marked} if self.mark else row

    @property
    def warning(self) -> str:
        return (
            f"{self.found} texts begin like formulas (=, +, -, @), which a spreadsheet"
            " may carry out; open the file only in programs that do not"
        )


def _is_formula(text: Cell) -> bool:
    if not isinstance(text, str) or not text.startswith(FORMULA_STARTS):
        return False
    return not _NUMBER.fullmatch(text)


def write_csv(path: Path, rows: Iterable[Row], names: Iterable[str]) -> int:
    """Writes the rows and returns their number. `names` are the columns.

    Half a surrogate pair is written as "?". Raises OSError.
    """
    count = 0
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.DictWriter(file, list(names))
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            count += 1
    return count
