"""From an episode's events to its counts: defined here, once.

Definitions follow PDDLego §4 and PDDLego+ §5.3 and its published evaluation.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pddlego_local.core.outcomes import something_to_do
from pddlego_local.core.record.events import (
    ActionTaken,
    Call,
    Chosen,
    EditApplied,
    Event,
    Note,
    Plan,
    Restart,
    Start,
)
from pddlego_local.core.record.rows import Counts

WRITES_PDDL = ("pddl", "problem", "edit")  # the forms whose answers go to the planner


def summarize(events: Iterable[Event], outcome: str = "") -> Counts:
    """Counts of one episode that ended as `outcome`. Of several candidates (`best_of`) the chosen
    one stands for its request, whose prompt and time are counted once; the tokens that were drawn
    are those of all.

    task_type                 the kind of game, as the environment names it; "" if it never began
    steps                     steps of the method begun: plan rounds, or actions that were named;
                              commands, where no model was asked
    actions                   commands that the game carried out in the attempts that counted
    refused                   commands that were refused in any attempt, planned or named
    pddlego_steps             actions + refused: PDDLego counts both as steps (§4)
    calls                     requests to the model
    causes                    {cause: calls}, by `outcomes.CAUSES`
    solver_errors             attempts whose first PDDL gave nothing to do
    solver_errors_fixed       … of which a retry gave a plan, and neither the budget nor a lost game
                              ended the attempt
    simulation_errors         steps that needed more than one attempt
    simulation_errors_fixed   … of which a later attempt ran to its end without a refusal
    edit_faults               parts of edits that named something absent (PDDL-edit)
    prompt_tokens, model_time_s   sums over requests
    completion_tokens         sum over all answers
    forced_tokens             completion tokens that were not sampled: the grammar left no choice
    rollbacks                 times that some of an answer was taken back and resampled
    planner_time_s, planner_wait_s   what the planner worked, and the wait for it before
    notes                     what the method noted for the record, the last of each name
    map                       hash of the game's map: games with the same one are the same house.
                              "" where the environment, or an older record, tells none
    map_seen                  whether this map occurs in the training of the model that plays
    cut_after_answer          answers that were whole before the token limit cut what followed
    """
    events = list(events)
    requests = list(requests_of(events))
    answers = [event for event in events if isinstance(event, Call)]
    plans = [event for event in events if isinstance(event, Plan)]
    cut_short = _cut_short(events, outcome)
    solver, simulation = _solver_errors(requests, cut_short), _simulation_errors(events, cut_short)
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
        edit_faults=sum(_edit_faults(request) for request in requests),
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
        cut_after_answer=sum(c.finish_reason == "length" and not c.fault for c in answers),
    )


@dataclass
class Request:
    """What was asked at once: its candidates in order, and what came of each."""

    calls: list[Call]
    plans: dict[int, Plan] = field(default_factory=dict)
    edits: dict[int, EditApplied] = field(default_factory=dict)
    chosen: int = 0

    @property
    def call(self) -> Call:
        return self.calls[self.chosen]

    @property
    def prompt_tokens(self) -> int:
        """Every candidate's record names the prompt that they have in common."""
        return max(call.prompt_tokens for call in self.calls)

    @property
    def latency_s(self) -> float:
        """Candidates are drawn side by side."""
        return max(call.latency_s for call in self.calls)

    @property
    def cause(self) -> str:
        return cause_of(self.call, self.plans.get(self.chosen))


def cause_of(call: Call, plan: Plan | None) -> str:
    """Why the answer held nothing, else the planner's last verdict on it."""
    return call.fault or (plan.cause if plan else "answered")


def requests_of(events: Sequence[Event]) -> Iterator[Request]:
    """In order. A plan, an edit and a choice belong to the request before them."""
    request: Request | None = None
    for event in events:
        if isinstance(event, Call):
            if request and event.where.sample > 0:
                request.calls.append(event)
            else:
                if request:
                    yield request
                request = Request([event])
        elif request and isinstance(event, Plan):
            request.plans[event.where.sample] = event
        elif request and isinstance(event, EditApplied):
            request.edits[event.where.sample] = event
        elif request and isinstance(event, Chosen):
            request.chosen = event.where.sample
    if request:
        yield request


def _edit_faults(request: Request) -> int:
    edit = request.edits.get(request.chosen)
    return len(edit.faults) if edit else 0


def _cut_short(events: Sequence[Event], outcome: str) -> bool:
    """Whether the last attempt was ended by the game, or by the budget amid its plan."""
    left = 0
    for event in events:
        if isinstance(event, Plan) and event.plan:
            left = len(event.plan)
        elif isinstance(event, ActionTaken):
            left -= 1
    return outcome == "game_lost" or (outcome == "step_limit" and left > 0)


def _solver_errors(requests: Sequence[Request], cut_short: bool) -> list[bool]:
    """For each attempt whose first PDDL gave nothing to do: whether a retry fixed it."""
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
    """For each step that needed more than one attempt: whether its last one ran unrefused."""
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
    """Commands carried out since the last reset, those replayed there included."""
    count = 0
    for event in events:
        if isinstance(event, Restart):
            count = len(event.replayed)
        elif isinstance(event, ActionTaken) and not event.refused:
            count += 1
    return count
