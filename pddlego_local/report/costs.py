"""What the answers of a cell cost: tokens, requests, and seconds where they were
measured for it. Only transcripts tell. The rows of other tables count the prompt of an
answer once, however many requests it took.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pddlego_local.core.record.counting import Also, counted
from pddlego_local.core.record.events import Call, DrawnStage, Event
from pddlego_local.report.cells import CellRecord


@dataclass(frozen=True)
class Cost:
    """Totals over the scored episodes of a cell.

    `requests` are all texts that the model was asked for: each stage, draft, rejected
    try and answer. `prompt_tokens` are those that were sent, whether or not the server
    had them in its cache. `completion_tokens` are those of all answers, with those that
    a grammar forced. `seconds` is the time of all requests, None unless the episodes
    were played one at a time.
    """

    episodes: int
    requests: int
    prompt_tokens: int
    completion_tokens: int
    forced_tokens: int
    seconds: float | None


def cost_of(cell: CellRecord, *, also: Also = ()) -> Cost:
    """Raises ValueError for a transcript that cannot be read."""
    rows = counted(cell.rows, also=also).counted
    calls = list[Call]()
    for row in rows:
        events, problem = cell.events(row)
        if problem:
            raise ValueError(problem)
        calls += _calls_in(events)
    sent = [request for call in calls for request in _requests_of(call)]
    runs = [start.config.get("run", {}) for start in cell.run.starts]
    is_timed = all(run.get("concurrency") == 1 for run in runs)
    return Cost(
        episodes=len(rows),
        requests=len(sent),
        prompt_tokens=sum(request.prompt_tokens for request in sent),
        completion_tokens=sum(call.completion_tokens for call in calls),
        forced_tokens=sum(call.forced_tokens for call in calls),
        seconds=sum(call.latency_s for call in calls) if is_timed else None,
    )


def _calls_in(events: Iterable[Event]) -> Iterator[Call]:
    return (event for event in events if isinstance(event, Call))


def _requests_of(call: Call) -> list[Call | DrawnStage]:
    """The requests of one answer. Candidates without stages share one request."""
    if not call.stages:
        return [] if call.where.sample else [call]
    rejected = call.rejected
    if not rejected or rejected[-1].text == call.text:  # all tries were rejected
        return [*call.stages]
    return [*rejected, call]
