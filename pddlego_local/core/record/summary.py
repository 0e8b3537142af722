"""Counts the events of an episode: after it was played, and again from its transcript.

The method decides how an episode ended, and the transcript's last event says it. All
counts come from the events before the last one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

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
from pddlego_local.core.record.rows import Counts, EpisodeRow, GameTrial

WRITES_PDDL = ("pddl", "problem", "edit")
"""The answer formats whose answers go to the planner."""


def summarize(events: Sequence[Event], outcome: str = "") -> Counts:
    """Returns the counts of one episode that ended with `outcome`."""
    requests = requests_of(events)
    answers = [event for event in events if isinstance(event, Call)]
    plans = [event for event in events if isinstance(event, Plan)]
    commands = [event for event in events if isinstance(event, ActionTaken)]
    start = next((event for event in events if isinstance(event, Start)), None)
    cut_short = _cut_short(events, outcome)
    solver_errors = _solver_errors(requests, cut_short)
    simulation_errors = _simulation_errors(events, cut_short)
    actions = _counted_actions(events)
    refused = sum(command.refused for command in commands)
    causes = Counter(request.cause for request in requests)
    edits = [request.edits.get(request.chosen) for request in requests]
    cut_after_answer = [
        answer.finish_reason == "length" and not answer.fault for answer in answers
    ]
    notes = dict[str, Any]()
    for event in events:
        if isinstance(event, Note):
            notes |= event.facts
    return Counts(
        task_type=start.task_type if start else "",
        steps=max((call.where.step for call in answers), default=len(commands)),
        actions=actions,
        refused=refused,
        pddlego_steps=actions + refused,
        calls=len(requests),
        causes=dict(sorted(causes.items())),
        solver_errors=len(solver_errors),
        solver_errors_fixed=sum(solver_errors),
        simulation_errors=len(simulation_errors),
        simulation_errors_fixed=sum(simulation_errors),
        edit_faults=sum(len(edit.faults) for edit in edits if edit),
        prompt_tokens=sum(request.prompt_tokens for request in requests),
        completion_tokens=sum(answer.completion_tokens for answer in answers),
        forced_tokens=sum(answer.forced_tokens for answer in answers),
        rollbacks=sum(answer.rollbacks for answer in answers),
        model_time_s=round(sum(request.latency_s for request in requests), 3),
        planner_time_s=round(sum(plan.wall_time_s for plan in plans), 3),
        planner_wait_s=round(sum(plan.wait_s for plan in plans), 3),
        notes=notes,
        map=start.map if start else "",
        map_seen=bool(start and start.map_seen),
        cut_after_answer=sum(cut_after_answer),
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
        match event:
            case Call(where=where) if not requests or not where.sample:
                requests.append(Request([event]))
            case Call():
                requests[-1].calls.append(event)
            case Plan(where=where) if requests:
                requests[-1].plans[where.sample] = event
            case EditApplied(where=where) if requests:
                requests[-1].edits[where.sample] = event
            case Chosen(where=where) if requests:
                requests[-1].chosen = where.sample
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
    attempts = defaultdict[tuple[int, int], list[bool]](list)
    for request in requests:
        if request.call.form in WRITES_PDDL:
            where = request.call.where
            attempt = attempts[where.step, where.attempt]
            attempt.append(something_to_do(request.cause))
    if cut_short and attempts:
        last = attempts[max(attempts)]
        del last[1:]
    return [any(retries) for first, *retries in attempts.values() if not first]


def _simulation_errors(events: Sequence[Event], cut_short: bool) -> list[bool]:
    """For each step with several attempts, says whether the last one ran without a
    refusal.
    """
    attempts = defaultdict[int, int](int)
    ran = dict[int, bool]()
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
    recorded = {row.episode: row for row in rows}
    transcripts = transcripts_by_episode(cell)
    for episode in sorted(recorded.keys() | transcripts.keys()):
        game, trial = episode
        for difference in inconsistencies(
            recorded.get(episode), transcripts.get(episode)
        ):
            yield f"game {game}, trial {trial}: {difference}"


def transcripts_by_episode(cell: Path) -> dict[GameTrial, Path]:
    """Returns the transcripts in a cell's folder."""
    found = {}
    for path in (cell / "transcripts").glob("*.jsonl"):
        if name := re.fullmatch(r"(\d+)-(\d+)", path.stem):
            game, trial = map(int, name.groups())
            found[game, trial] = path
    return found


def inconsistencies(
    recorded: EpisodeRow | None, transcript: Path | None
) -> Iterator[str]:
    """Yields what differs between a row and its transcript."""
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
    ends = [event.row for event in events if isinstance(event, End)]
    if not ends:
        yield "the transcript has no end"
        return
    outcome = ends[-1].outcome
    counts = summarize(events, outcome)
    computed = replace(ends[-1], **vars(counts))
    for name, before in vars(recorded).items():
        now = getattr(computed, name)
        if before != now:
            yield f"{name} is {before!r} in the row and {now!r} in the transcript"
    success = computed.success
    played = [event for event in events if isinstance(event, Start | ActionTaken)]
    game_success = any(event.success for event in played)
    if OUTCOMES[outcome].success != success:
        yield f"success is {success} with the outcome {outcome}"
    elif OUTCOMES[outcome].played and success != game_success:
        yield f"the outcome is {outcome} and the game said success: {game_success}"
