"""From an episode's events to its row, from rows to a cell's measures: defined here, once.

Knows the events that `episode` emits; nothing of files. Definitions follow PDDLego §4 and PDDLego+
§5.3 and its published evaluation.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from scipy.stats import binomtest

Row = dict[str, Any]


WRITES_PDDL = ("pddl", "problem", "edit")  # the forms whose answers go to the planner


def summarize(events: Iterable[Mapping[str, Any]]) -> Row:
    """Counts of one episode.

    task_type                 the kind of game, as the environment names it
    steps                     steps of the method begun: plan rounds, or actions that were named
    actions                   commands that the game carried out in the attempts that counted
    refused_actions           planned or named actions that the environment refused
    calls                     requests to the model
    causes                    {cause: calls}: "solved" and why other PDDL gave no plan; "answered"
                              and why other answers held none
    solver_errors             attempts whose first PDDL gave no plan
    solver_errors_fixed       … of which a retry gave one
    simulation_errors         steps that needed more than one attempt
    simulation_errors_fixed   … of which a later attempt ran without a refusal
    edit_faults               parts of edits that named something absent (PDDL-edit)
    prompt_tokens, completion_tokens, model_time_s, planner_time_s   sums over the calls
    notes                     what the method noted for the record
    """
    events = list(events)
    verdicts = list(_verdicts(events))
    calls = [call for call, _ in verdicts]
    causes = Counter(cause for _, cause in verdicts)
    solver, simulation = _solver_errors(verdicts), _simulation_errors(events)
    actions = [e for e in events if e["event"] == "action"]
    plans = [e for e in events if e["event"] == "plan"]
    started = next((e for e in events if e["event"] == "start"), {})
    notes = {k: v for e in events if e["event"] == "note" for k, v in e.items() if k != "event"}
    return {
        "task_type": started.get("task_type"),
        "steps": max((call["step"] for call in calls), default=0),
        "actions": _counted_actions(events),
        "refused_actions": sum(bool(action["feedback"]) for action in actions),
        "calls": len(calls),
        "causes": dict(sorted(causes.items())),
        "solver_errors": len(solver),
        "solver_errors_fixed": sum(solver),
        "simulation_errors": len(simulation),
        "simulation_errors_fixed": sum(simulation),
        "edit_faults": sum(len(e["faults"]) for e in events if e["event"] == "edit"),
        "prompt_tokens": sum(call["prompt_tokens"] for call in calls),
        "completion_tokens": sum(call["completion_tokens"] for call in calls),
        "model_time_s": round(sum(call["latency_s"] for call in calls), 3),
        "planner_time_s": round(sum(plan["wall_time_s"] for plan in plans), 3),
        "notes": notes,
    }


def _verdicts(events: list[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Every call with its cause. One answer may be planned for several goals: the last counts."""
    call: Mapping[str, Any] | None = None
    cause = ""
    for event in events:
        if event["event"] == "call":
            if call:
                yield call, cause
            call, cause = event, event["fault"] or "answered"
        elif event["event"] == "plan":
            cause = event["outcome"]
    if call:
        yield call, cause


def _solver_errors(verdicts: list[tuple[Mapping[str, Any], str]]) -> list[bool]:
    """For each attempt whose first PDDL gave no plan: whether a retry mended it."""
    attempts: dict[tuple[int, int], list[bool]] = defaultdict(list)
    for call, cause in verdicts:
        if call["form"] in WRITES_PDDL:
            attempts[call["step"], call.get("attempt", 1)].append(cause == "solved")
    return [any(retries) for first, *retries in attempts.values() if not first]


def _simulation_errors(events: list[Mapping[str, Any]]) -> list[bool]:
    """For each step that needed more than one attempt: whether its last one ran unrefused."""
    attempts: dict[int, int] = defaultdict(int)
    ran: dict[int, bool] = {}
    step = 0
    for event in events:
        if event["event"] == "call":
            step = event["step"]
            attempts[step] = max(attempts[step], event.get("attempt", 1))
            ran[step] = False  # until its plan has run
        elif event["event"] == "action":
            ran[step] = not event["feedback"]
    return [ran[step] for step, tried in attempts.items() if tried > 1]


def _counted_actions(events: list[Mapping[str, Any]]) -> int:
    """Commands carried out since the last reset, those replayed there included."""
    count = 0
    for event in events:
        if event["event"] == "restart":
            count = len(event["replayed"])
        elif event["event"] == "action" and not event["feedback"]:
            count += 1
    return count


@dataclass(frozen=True)
class Rate:
    """k of n with its Wilson score interval at 95 %."""

    k: int
    n: int

    @property
    def interval(self) -> tuple[float, float]:
        found = binomtest(self.k, self.n).proportion_ci(0.95, method="wilson")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        """For example "55.0 % [34.2, 74.2] of 20"; a dash for none of none."""
        if not self.n:
            return "–"
        low, high = self.interval
        return f"{100 * self.k / self.n:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {self.n}"


@dataclass(frozen=True)
class Measures:
    """What the papers report of a system, over the rows of one cell. Means of nothing are None.

    success                         of all episodes
    won                             episodes that the game's own rule calls won
    solver_errors, _aborts          attempts whose first PDDL gave no plan; episodes ended by them
    solver_fixed                    of those errors, the ones that a retry fixed (PDDLego+ §5.3)
    simulation_errors, _aborts, _fixed   likewise, steps that needed more than one attempt
    steps_on_success, _on_failure   mean plan rounds (or named actions)
    actions                         mean executed actions over all trials ("avg_steps*")
    actions_on_success, _sd         mean and sample standard deviation (PDDLego §4)
    refused_actions                 mean invalid actions per episode (PDDLego §4)
    edit_faults                     parts of edits that named something absent, all episodes
    causes                          per call: "solved" and why other answers gave no plan
    """

    success: Rate
    won: int
    solver_errors: int
    solver_fixed: Rate
    solver_aborts: int
    simulation_errors: int
    simulation_fixed: Rate
    simulation_aborts: int
    steps_on_success: float | None
    steps_on_failure: float | None
    actions: float | None
    actions_on_success: float | None
    actions_on_success_sd: float | None
    refused_actions: float | None
    edit_faults: int
    causes: Counter[str]


def measure(rows: list[Row]) -> Measures:
    """The measures of these rows, whatever they are: a cell's, or those of one task type."""
    won = [row for row in rows if row["success"]]
    lost = [row for row in rows if not row["success"]]
    outcomes = Counter(row["outcome"] for row in rows)
    actions = [row["actions"] for row in won]

    def total(key: str) -> int:
        return sum(row[key] for row in rows)

    return Measures(
        success=Rate(len(won), len(rows)),
        won=total("won"),
        solver_errors=total("solver_errors"),
        solver_fixed=Rate(total("solver_errors_fixed"), total("solver_errors")),
        solver_aborts=outcomes["solver_abort"],
        simulation_errors=total("simulation_errors"),
        simulation_fixed=Rate(total("simulation_errors_fixed"), total("simulation_errors")),
        simulation_aborts=outcomes["simulation_abort"],
        steps_on_success=_mean(row["steps"] for row in won),
        steps_on_failure=_mean(row["steps"] for row in lost),
        actions=_mean(row["actions"] for row in rows),
        actions_on_success=_mean(actions),
        actions_on_success_sd=stdev(actions) if len(actions) > 1 else None,
        refused_actions=_mean(row["refused_actions"] for row in rows),
        edit_faults=total("edit_faults"),
        causes=sum((Counter(row["causes"]) for row in rows), Counter()),
    )


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
