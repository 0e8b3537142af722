"""Counts the events of an episode: after it was played, and again from its transcript.

The method decides how an episode ended, and the transcript's last event says it. All
counts come from the events before the last one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.outcomes import OUTCOMES, something_to_do
from pddlego_local.core.record.events import (
    ActionTaken,
    Call,
    Chosen,
    EditApplied,
    End,
    Event,
    Note,
    Plan,
    Restart,
    Start,
)
from pddlego_local.core.record.folder import read_events, read_rows
from pddlego_local.core.record.rows import Counts, EpisodeRow

WRITES_PDDL = (
    "pddl",
    "problem",
    "edit",
)  # the answer formats whose answers go to the planner


def summarize(events: Sequence[Event], outcome: str = "") -> Counts:
    """Returns the counts of one episode that ended with `outcome`."""
    requests = requests_of(events)
    answers = [event for event in events if isinstance(event, Call)]
    plans = [event for event in events if isinstance(event, Plan)]
    cut_short = _cut_short(events, outcome)
    solver, simulation = (
        _solver_errors(requests, cut_short),
        _simulation_errors(events, cut_short),
    )
    actions = _counted_actions(events)
    commands = [event for event in events if isinstance(event, ActionTaken)]
    refused = sum(event.refused for event in commands)
    start = next((event for event in events if isinstance(event, Start)), None)
    return Counts(
        task_type=start.task_type if start else "",
        steps=max((call.where.step for call in answers), default=len(commands)),
        actions=actions,
        refused=refused,
        pddlego_steps=actions + refused,
        calls=len(requests),
        causes=dict(sorted(Counter(request.cause for request in requests).items())),
        solver_errors=len(solver),
        solver_errors_fixed=sum(solver),
        simulation_errors=len(simulation),
        simulation_errors_fixed=sum(simulation),
        edit_faults=sum(
            len(r.edits[r.chosen].faults) for r in requests if r.chosen in r.edits
        ),
        prompt_tokens=sum(request.prompt_tokens for request in requests),
        completion_tokens=sum(call.completion_tokens for call in answers),
        forced_tokens=sum(call.forced_tokens for call in answers),
        rollbacks=sum(call.rollbacks for call in answers),
        model_time_s=round(sum(request.latency_s for request in requests), 3),
        planner_time_s=round(sum(plan.wall_time_s for plan in plans), 3),
        planner_wait_s=round(sum(plan.wait_s for plan in plans), 3),
        notes={k: v for e in events if isinstance(e, Note) for k, v in e.facts.items()},
        map=start.map if start else "",
        map_seen=bool(start and start.map_seen),
        cut_after_answer=sum(
            c.finish_reason == "length" and not c.fault for c in answers
        ),
    )


@dataclass
class Request:
    """One request: its candidates in order, and the result of each."""

    calls: list[Call]
    plans: dict[int, Plan] = field(default_factory=dict)
    edits: dict[int, EditApplied] = field(default_factory=dict)
    chosen: int = 0

    @property
    def call(self) -> Call:
        return self.calls[self.chosen]

    @property
    def prompt_tokens(self) -> int:
        """The tokens of the prompt that all candidates share, counted once."""
        return max(call.prompt_tokens for call in self.calls)

    @property
    def latency_s(self) -> float:
        """The time of the slowest candidate: candidates are drawn in parallel."""
        return max(call.latency_s for call in self.calls)

    @property
    def cause(self) -> str:
        return cause_of(self.call, self.plans.get(self.chosen))


def cause_of(call: Call, plan: Plan | None) -> str:
    """Returns why the answer held no value, or else the planner's last verdict on
    it.
    """
    return call.fault or (plan.cause if plan else "answered")


def requests_of(events: Iterable[Event]) -> list[Request]:
    """Returns the requests in order. A plan, edit or choice belongs to the request
    before it.
    """
    requests: list[Request] = []
    for event in events:
        if isinstance(event, Call) and not (requests and event.where.sample):
            requests.append(Request([event]))
        elif requests:
            match event:
                case Call():
                    requests[-1].calls.append(event)
                case Plan():
                    requests[-1].plans[event.where.sample] = event
                case EditApplied():
                    requests[-1].edits[event.where.sample] = event
                case Chosen():
                    requests[-1].chosen = event.where.sample
    return requests


def _cut_short(events: Sequence[Event], outcome: str) -> bool:
    """Whether a lost game ended the last attempt, or the budget ended it before its
    plan was finished.
    """
    left = 0
    for event in events:
        if isinstance(event, Plan) and event.plan:
            left = len(event.plan)
        elif isinstance(event, ActionTaken):
            left -= 1
    return outcome == "game_lost" or (outcome == "step_limit" and left > 0)


def _solver_errors(requests: Sequence[Request], cut_short: bool) -> list[bool]:
    """For each attempt whose first PDDL gave nothing to do, says whether a retry fixed
    it.
    """
    attempts: dict[tuple[int, int], list[bool]] = defaultdict(list)
    for request in requests:
        if request.call.form in WRITES_PDDL:
            where = request.call.where
            attempts[where.step, where.attempt].append(something_to_do(request.cause))
    if cut_short and attempts:
        last = max(attempts)
        attempts[last] = attempts[last][:1]
    return [any(retries) for first, *retries in attempts.values() if not first]


def _simulation_errors(events: Sequence[Event], cut_short: bool) -> list[bool]:
    """For each step with several attempts, says whether the last one ran without a
    refusal.
    """
    attempts: dict[int, int] = defaultdict(int)
    ran: dict[int, bool] = {}
    step = 0
    for event in events:
        if isinstance(event, Call):
            step = event.where.step
            attempts[step] = max(attempts[step], event.where.attempt)
            ran[step] = False  # until its plan has run
        elif isinstance(event, ActionTaken):
            ran[step] = not event.refused
    if cut_short:
        ran[step] = False
    return [ran[step] for step, tried in attempts.items() if tried > 1]


def _counted_actions(events: Sequence[Event]) -> int:
    """Commands that were carried out since the last reset, including the replayed
    ones.
    """
    count = 0
    for event in events:
        if isinstance(event, Restart):
            count = len(event.replayed)
        elif isinstance(event, ActionTaken) and not event.refused:
            count += 1
    return count


def differences(cell: Path) -> Iterator[str]:
    """Yields a sentence for each difference between episodes.jsonl and the transcripts.

    The sentences are in the order of games and trials.
    """
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
    end = next(
        (event.row for event in reversed(events) if isinstance(event, End)), None
    )
    if end is None:
        yield "the transcript has no end"
        return
    row = replace(end, **vars(summarize(events, end.outcome)))
    for name, before in vars(recorded).items():
        now = getattr(row, name)
        if before != now:
            yield f"{name} is {before!r} in the row and {now!r} in the transcript"
    seen = any(
        event.success for event in events if isinstance(event, Start | ActionTaken)
    )
    if OUTCOMES[row.outcome].success != row.success:
        yield f"success is {row.success} with the outcome {row.outcome}"
    elif OUTCOMES[row.outcome].played and row.success != seen:
        yield f"the outcome is {row.outcome} and the game said success: {seen}"
