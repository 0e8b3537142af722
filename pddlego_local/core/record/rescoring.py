"""Rows computed again from transcripts, by the function that computed them when they were played.

How an episode ended is the method's word and stands in the transcript's last event; all counts come
from the events before it.
"""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import OUTCOMES
from pddlego_local.core.record.events import ActionTaken, End, Event, Start
from pddlego_local.core.record.folder import read_events, read_rows
from pddlego_local.core.record.rows import Ending, EpisodeRow
from pddlego_local.core.record.summary import summarize


def rescored(events: Sequence[Event]) -> EpisodeRow | None:
    """The row of a transcript; None if it has no end."""
    end = next((event.row for event in reversed(events) if isinstance(event, End)), None)
    if end is None:
        return None
    facts = {field.name: getattr(end, field.name) for field in dataclasses.fields(Ending)}
    return EpisodeRow.of(Ending(**facts), summarize(events, end.outcome))


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
        place = f"game {episode[0]}, trial {episode[1]}"
        if episode not in found:
            yield f"{place}: a row without a transcript"
        elif episode not in recorded:
            yield f"{place}: a transcript without a row"
        else:
            try:
                events = read_events(found[episode])
            except ConfigError as error:
                yield f"{place}: {error}"
                continue
            yield from (f"{place}: {told}" for told in _compared(recorded[episode], events))


def _compared(recorded: EpisodeRow, events: Sequence[Event]) -> Iterator[str]:
    row = rescored(events)
    if row is None:
        yield "the transcript has no end"
        return
    for field in dataclasses.fields(row):
        before, now = getattr(recorded, field.name), getattr(row, field.name)
        if before != now:
            yield f"{field.name} is {before!r} in the row and {now!r} by the transcript"
    seen = any(event.success for event in events if isinstance(event, Start | ActionTaken))
    if OUTCOMES[row.outcome].success != row.success:
        yield f"success is {row.success} with the outcome {row.outcome}"
    elif OUTCOMES[row.outcome].played and row.success != seen:
        yield f"the outcome is {row.outcome} and the game said success: {seen}"
