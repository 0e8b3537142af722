"""The rewards of an answer: how far its plan came in the game."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pddlego_local.core.outcomes import ACCEPTED
from pddlego_local.core.record.events import ActionTaken, Call, Event, Plan

REWARDS: Mapping[str, float] = MappingProxyType(
    {"read": 0.1, "accepted": 0.1, "planned": 0.2, "carried_out": 0.2, "won": 0.4}
)
"""The parts of a step's reward, which is their sum. `read`: files could be read from
the answer. `accepted`: the planner's translator accepts the files. `planned`: the
planner found a plan. `carried_out`: the game accepted each action of the plan. `won`:
the game is won. A command can earn only `won`.
"""


def reached(events: Sequence[Event], *, won: bool, commands: bool) -> tuple[str, ...]:
    """Returns the names of `REWARDS` that these events earn."""
    earned: list[str] = []
    taken: list[ActionTaken] = []
    for event in events:
        if isinstance(event, Call) and not event.fault:
            earned.append("read")
        elif isinstance(event, Plan):
            if event.outcome in ACCEPTED:
                earned.append("accepted")
            if event.plan:
                earned.append("planned")
        elif isinstance(event, ActionTaken) and event.planned:
            taken.append(event)
    if taken and not any(action.refused for action in taken):
        earned.append("carried_out")
    if commands:
        earned = []
    if won:
        earned.append("won")
    return tuple(name for name in REWARDS if name in earned)
