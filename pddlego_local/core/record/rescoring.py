"""Rows computed again from transcripts, by the function that computed them when they were played.

How an episode ended is the method's word and stands in the transcript's last event; all counts come
from the events before it.
"""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import OUTCOMES
from pddlego_local.core.record.events import ActionTaken, End, Start
from pddlego_local.core.record.folder import read_events, read_rows
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.core.record.summary import summarize


def differences(cell: Path) -> Iterator[str]:
    """What episodes.jsonl says otherwise than the transcripts, a sentence each, in the order of
    games and trials."""
    problems = list[str]()
    rows = read_rows(cell / "episodes.jsonl", problems)
    yield from problems
    recorded = {(row.game, row.trial): row for row in rows}
    found = {
        (int(name[1]), int(name[2])): path
        for path in (cell / "transcripts").glob("*.jsonl")
        if (name := re.fullmatch(r"(\d+)-(\d+)", path.stem))
    }
    for episode in sorted(recorded.keys() | found.keys()):
        for difference in _compared(recorded.get(episode), found.get(episode)):
            yield f"game {episode[0]}, trial {episode[1]}: {difference}"


def _compared(recorded: EpisodeRow | None, transcript: Path | None) -> Iterator[str]:
    if transcript is None:
        yield "a row without a transcript"
        return
    if recorded is None:
        yield "a transcript without a row"
        return
    try:
        events = read_events(transcript)
    except ConfigError as error:
        yield str(error)
        return
    end = next((event.row for event in reversed(events) if isinstance(event, End)), None)
    if end is None:
        yield "the transcript has no end"
        return
    row = dataclasses.replace(end, **vars(summarize(events, end.outcome)))
    for field in dataclasses.fields(row):
        before, now = getattr(recorded, field.name), getattr(row, field.name)
        if before != now:
            yield f"{field.name} is {before!r} in the row and {now!r} by the transcript"
    seen = any(event.success for event in events if isinstance(event, Start | ActionTaken))
    if OUTCOMES[row.outcome].success != row.success:
        yield f"success is {row.success} with the outcome {row.outcome}"
    elif OUTCOMES[row.outcome].played and row.success != seen:
        yield f"the outcome is {row.outcome} and the game said success: {seen}"
