"""Success after trial 1, 2, …, N per task type: how methods that learn between trials are judged.

Knows rows only; a game counts as solved from the first trial that solved it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pddlego_local.outcomes import outcome_named


class Solved(NamedTuple):
    """`k` of `n` games are solved."""

    k: int
    n: int


def success_after_trials(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Solved]]:
    """{task type: [games solved after the first trial, after the second, …]}, sorted by type.

    `n` are the games whose trial of that number was played: in a run that is not finished it
    shrinks, and a game still to be played counts neither way. Games that nobody can win or that
    are won at their first look are left out. The order of the rows does not matter.
    """
    games: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["trial"]):
        games[row["game"]].append(row)
    counts: dict[str, dict[int, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for trials in games.values():
        if any(outcome_named(row["outcome"]).apart for row in trials):
            continue
        solved = False
        for row in trials:
            solved = solved or row["success"]
            counts[_task_type(trials)][row["trial"]].append(solved)
    return {
        task_type: [
            Solved(sum(by_trial[trial]), len(by_trial[trial])) for trial in range(max(by_trial) + 1)
        ]
        for task_type, by_trial in sorted(counts.items())
    }


def _task_type(trials: Iterable[Mapping[str, Any]]) -> str:
    """A trial that was not played again, because an earlier one had won, names none."""
    return next((row["task_type"] for row in trials if row["task_type"]), "")
