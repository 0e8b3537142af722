"""Predicts how many actions a sub-goal takes from here (DEPS, §3.3: the horizon).

The prediction is a weighted sum of a few numbers that are read from the texts of the
game so far, and from the words of the sub-goal: nothing that a prompt does not show.
`python -m tools.horizon` fits the weights, which `horizon.yaml` holds with their card.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from pddlego_local.core.chart import Chart
from pddlego_local.core.nouns import Turns
from pddlego_local.core.protocols import Charted, Environment
from pddlego_local.core.resources import table

WEIGHTS: Mapping[str, float] = table(__file__)["weights"]


def predicted(
    environment: Environment, memory: Turns, goals: Sequence[str]
) -> list[float]:
    """Returns the predicted number of actions for each sub-goal. The environment tells
    where things are (`Charted`).
    """
    return [
        sum(WEIGHTS[name] * number for name, number in numbers.items())
        for numbers in numbers_of(environment, memory, goals)
    ]


def numbers_of(
    environment: Environment, memory: Turns, goals: Sequence[str]
) -> list[dict[str, float]]:
    """Returns the numbers from which each sub-goal's actions are predicted."""
    if not isinstance(environment, Charted):
        raise TypeError(f"{environment.name} has no chart")
    chart = environment.chart(memory)
    told = {thing.lower() for thing in environment.names(memory).things}
    return [_numbers(chart, [*_named(goal, told | chart.seen)]) for goal in goals]


def _numbers(chart: Chart, named: Sequence[str]) -> dict[str, float]:
    """Goes to what is named, one after the other, as far as it was seen."""
    place = chart.here
    actions = 0
    unseen = 0
    for name in named:
        if name in chart.carried:
            continue
        to = chart.lying.get(name, name)
        within = chart.actions_from(place)
        if to in within:
            actions += within[to]
            place = to
        else:
            unseen += 1
    within = chart.actions_from(chart.here)
    nearest = min((within[new] for new in chart.unexplored & within.keys()), default=0)
    searches = unseen > 0
    return {
        "always": 1,
        "actions to what was seen": actions,
        "things not seen": unseen,
        "actions to the nearest unexplored place, if a thing was not seen": (
            searches * nearest
        ),
        "unexplored places, if a thing was not seen": (
            searches * len(chart.unexplored)
        ),
    }


def _named(goal: str, names: Collection[str]) -> Iterator[str]:
    """Yields the names that occur in a sub-goal, in the order of its words."""
    longest_first = sorted(names, key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first))
    for match in re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", goal.lower()):
        yield match[0]
