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
    plans = [event for event in events if isinstance(event, Plan)]
    taken = [
        event for event in events if isinstance(event, ActionTaken) and event.planned
    ]
    earned = {
        "read": any(isinstance(event, Call) and not event.fault for event in events),
        "accepted": any(plan.outcome in ACCEPTED for plan in plans),
        "planned": any(plan.plan for plan in plans),
        "carried_out": bool(taken) and not any(event.refused for event in taken),
        "won": won,
    }
    return tuple(
        name for name, so in earned.items() if so and (name == "won" or not commands)
    )
