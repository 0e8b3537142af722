"""A cell as a log that `inspect view` opens (inspect_ai's EvalLog, version 2, as JSON).

An episode is a sample: its id is the game, its epoch the trial. What the game and the planner said
stands between the model's messages as tools' words. Only what is recorded is told.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pddlego_local.core.nouns import Message
from pddlego_local.core.record.counting import counted, reasons
from pddlego_local.core.record.events import ActionTaken, Call, Event, Plan, Start
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord

Json = dict[str, Any]
_STOP = {"stop": "stop", "length": "max_tokens", "unfinished_thought": "max_tokens"}


def write_logs(cells: Sequence[CellRecord], folder: Path) -> int:
    """Writes FOLDER/<when it began>_<cell>.json for each cell and returns their number: other names
    are not listed. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for cell in cells:
        try:
            text = json.dumps(log(cell), ensure_ascii=False, indent=1)
            began = str(cell.run.starts[0].began)[:19]
        except (LookupError, TypeError) as error:
            cell.problems.append(f"{cell.folder / 'run.json'} has no {error}, as a log needs")
            continue
        path = folder / f"{re.sub('[^0-9T]', '-', began)}_{cell.folder.name}.json"
        path.write_text(text + "\n", encoding="utf-8", errors="replace")
        written += 1
    return written


def log(cell: CellRecord) -> Json:
    """An EvalLog; it is "started" while results are missing. What does not count has no score."""
    apart = reasons(cell.rows)
    return {
        "version": 2,
        "status": "started" if cell.missing else "success",
        "eval": _spec(cell),
        "results": _results(cell.rows),
        "stats": {
            "started_at": cell.run.starts[0].began,
            "completed_at": "",
            "model_usage": {cell.labels["model"]: _usage(cell.rows)},
        },
        "samples": [_sample(cell, row, apart[row.game]) for row in cell.rows],
    }


def _spec(cell: CellRecord) -> Json:
    labels, start = cell.labels, cell.run.starts[-1]
    name = cell.folder.name
    return {
        "eval_id": name,
        "run_id": name,
        "task_id": name,
        "created": cell.run.starts[0].began,
        "task": f"{labels['environment']}, {labels['method']}, {labels['decoding']}",
        "task_args": cell.options,
        "solver": labels["method"],
        "tags": [labels["decoding"]],
        "dataset": {"name": labels["environment"], "samples": len(cell.rows)},
        "model": labels["model"],
        "model_args": cell.run.model,
        "config": {"epochs": max((row.trial for row in cell.rows), default=0) + 1},
        "packages": start.packages,
        "revision": {"type": "git", "origin": "", "commit": start.commit or ""},
        "metadata": {key: getattr(cell.run, key) for key in ("prompt_sha256", "grammar_sha256")},
    }


def _results(rows: Sequence[EpisodeRow]) -> Json:
    counting = [row.success for row in counted(rows).counted]
    share = sum(counting) / len(counting) if counting else 0.0
    metrics = {"accuracy": {"name": "accuracy", "value": share}}
    score: Json = {"name": "success", "scorer": "success", "metrics": metrics}
    score |= {"scored_samples": len(counting), "unscored_samples": len(rows) - len(counting)}
    return {"total_samples": len(rows), "completed_samples": len(rows), "scores": [score]}


def _usage(rows: Sequence[EpisodeRow]) -> Json:
    prompts = sum(row.prompt_tokens for row in rows)
    answers = sum(row.completion_tokens for row in rows)
    return {
        "input_tokens": prompts,
        "output_tokens": answers,
        "total_tokens": prompts + answers,
    }


def _sample(cell: CellRecord, row: EpisodeRow, apart: str) -> Json:
    events, _ = cell.events(row)
    model = cell.labels["model"]
    calls = [event for event in events if isinstance(event, Call)]
    sample: Json = {
        "id": row.game,
        "epoch": row.trial + 1,
        "input": next((event.observation for event in events if isinstance(event, Start)), ""),
        "target": "",
        "messages": list(_messages(events)),
        "model_usage": {model: _usage([row])},
        "total_time": row.wall_time_s,
        "metadata": {
            "outcome": row.outcome,
            "task_type": row.task_type,
            "apart": apart,
            **row.notes,
        },
    }
    if calls:
        choice = {"message": _answer(calls[-1]), "stop_reason": _STOP[calls[-1].finish_reason]}
        sample["output"] = {"model": model, "choices": [choice], "usage": _usage([row])}
    if not apart:
        causes = ", ".join(f"{cause} {count}" for cause, count in row.causes.items())
        score = {"value": "C" if row.success else "I", "answer": row.outcome, "explanation": causes}
        sample["scores"] = {"success": score}
    return sample


def _messages(events: Sequence[Event]) -> Iterator[Json]:
    """In the order in which they were said; of a conversation that goes on, only what is new."""
    before: tuple[Message, ...] = ()
    for event in events:
        match event:
            case Start():
                yield _tool("game", event.observation)
            case Call():
                known = event.messages[: len(before)] == before
                for said in event.messages[len(before) if known else 0 :]:
                    yield {"role": said.role, "content": said.content}
                before = event.messages
                yield _answer(event)
            case Plan():
                yield _tool("planner", "\n".join([event.outcome, *event.plan, event.message]))
            case ActionTaken():
                seen = event.feedback or event.observation
                yield _tool("game", f"> {event.command or event.planned}\n{seen}")


def _answer(call: Call) -> Json:
    content: Any = call.text
    if call.thought:
        content = [
            {"type": "reasoning", "reasoning": call.thought},
            {"type": "text", "text": call.text},
        ]
    return {"role": "assistant", "content": content}


def _tool(name: str, text: str) -> Json:
    return {"role": "tool", "function": name, "content": text}
