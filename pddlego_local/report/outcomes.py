"""What a comparison can compare: success, or how far the files of an episode came."""

from collections.abc import Callable, Iterable, Mapping

from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.measures import (
    EQUIVALENT,
    EQUIVALENT_BUT_FOR_IDLE,
    UNCOMPARED,
    compared_with_gold,
    has_reached,
)
from pddlego_local.runner.settings import Outcome

_ACHIEVED: Mapping[Outcome, Callable[[EpisodeRow], bool]] = {
    "success": lambda row: row.success,
    "accepted": lambda row: has_reached("accepted", row),
    "plan": lambda row: has_reached("has_plan", row),
    "valid": lambda row: row.success,
    "equivalent": lambda row: compared_with_gold(row) in EQUIVALENT,
    "equivalent_but_for_idle": (
        lambda row: compared_with_gold(row) in EQUIVALENT_BUT_FOR_IDLE
    ),
}

WINS: Mapping[Outcome, str] = {
    "success": "",
    "accepted": "the planner's translator accepts files of an answer",
    "plan": "files of an answer have a plan",
    "valid": "the plan is valid in the gold files",
    "equivalent": "the problem is equivalent to the gold problem",
    "equivalent_but_for_idle": (
        "the problem is equivalent to the gold problem, without the objects that stand"
        " in no fact"
    ),
}
"""When an arm wins a game, in words; "" for the game's own success."""


def achieves(row: EpisodeRow, outcome: Outcome) -> bool:
    """Returns whether an episode has the outcome. What is missing, such as a file that
    could not be compared with gold, has it not.
    """
    return _ACHIEVED[outcome](row)


def judged(rows: Iterable[EpisodeRow], outcome: Outcome) -> bool:
    """Returns whether some episode was judged by the gold file that the outcome
    needs.
    """
    for row in rows:
        verdict = compared_with_gold(row)
        by_plan = verdict is not None or row.outcome == "valid_but_wrong"
        if by_plan if outcome == "valid" else verdict not in UNCOMPARED:
            return True
    return False
