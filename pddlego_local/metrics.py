"""From an episode's events to its row: every count is defined here, once.

Knows the events that `episode` emits; nothing of files. Definitions follow PDDLego+ §5.3 and its
published evaluation.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

Row = dict[str, Any]


def summarize(events: Iterable[Mapping[str, Any]]) -> Row:
    """Counts of one episode.

    steps                     plan rounds begun
    actions                   commands that the game carried out in the attempts that counted
    refused_actions           planned actions that the environment refused
    calls                     requests to the model
    causes                    {cause: calls}: "solved" and why the other answers gave no plan
    solver_errors             attempts whose first PDDL gave no plan
    solver_errors_fixed       … of which a retry gave one
    simulation_errors         steps that needed more than one attempt
    simulation_errors_fixed   … of which a later attempt ran to its end
    prompt_tokens, completion_tokens, model_time_s, planner_time_s   sums over the calls
    """
    events = list(events)
    calls = [e for e in events if e["event"] == "call"]
    plans = [e for e in events if e["event"] == "plan"]
    faults = [call["fault"] for call in calls if call["fault"]]
    causes = Counter([*faults, *(plan["outcome"] for plan in plans)])
    solver, simulation = _solver_errors(calls, plans), _simulation_errors(events)
    actions = [e for e in events if e["event"] == "action"]
    return {
        "steps": max((call["step"] for call in calls), default=0),
        "actions": _counted_actions(events),
        "refused_actions": sum(bool(action["feedback"]) for action in actions),
        "calls": len(calls),
        "causes": dict(sorted(causes.items())),
        "solver_errors": len(solver),
        "solver_errors_fixed": sum(solver),
        "simulation_errors": len(simulation),
        "simulation_errors_fixed": sum(simulation),
        "prompt_tokens": sum(call["prompt_tokens"] for call in calls),
        "completion_tokens": sum(call["completion_tokens"] for call in calls),
        "model_time_s": round(sum(call["latency_s"] for call in calls), 3),
        "planner_time_s": round(sum(plan["wall_time_s"] for plan in plans), 3),
    }


def _solver_errors(calls: list[Mapping[str, Any]], plans: list[Mapping[str, Any]]) -> list[bool]:
    """For each attempt whose first PDDL gave no plan: whether a retry mended it."""
    solved = {(p["step"], p["attempt"], p["retry"]) for p in plans if p["outcome"] == "solved"}
    attempts = dict.fromkeys((call["step"], call["attempt"]) for call in calls)
    return [
        any((*attempt, retry) in solved for retry in range(1, len(calls)))
        for attempt in attempts
        if (*attempt, 0) not in solved
    ]


def _simulation_errors(events: list[Mapping[str, Any]]) -> list[bool]:
    """For each step that needed more than one attempt: whether its last plan ran to its end."""
    last_refused: dict[int, bool] = {}
    attempts: dict[int, int] = defaultdict(int)
    step, pending = 0, 0
    for event in events:
        if event["event"] == "call":
            step = event["step"]
            attempts[step] = max(attempts[step], event["attempt"])
            last_refused[step] = True  # until its plan has run
        elif event["event"] == "plan":
            pending = len(event["plan"])
        elif event["event"] == "action":
            pending -= 1
            ended = event.get("success") or pending == 0
            last_refused[step] = bool(event["feedback"]) or not ended
    return [not last_refused[step] for step, tried in attempts.items() if tried > 1]


def _counted_actions(events: list[Mapping[str, Any]]) -> int:
    """Commands carried out since the last reset, those replayed there included."""
    count = 0
    for event in events:
        if event["event"] == "restart":
            count = len(event["replayed"])
        elif event["event"] == "action" and not event["feedback"]:
            count += 1
    return count
