"""Fits the weights of the selector `horizon` of DEPS, and writes them with their card:

    python -m tools.horizon

The walks are those of `model=reference` by DEPS in games of training seeds, with
sub-goals in random order. Each sub-goal that was reached gives a row: what was seen
when it was chosen, and how many actions it took.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pandas
import statsmodels.api

from pddlego_local.decoding.forms import PARALLEL_GOALS
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.methods.deps import Deps
from pddlego_local.methods.shared.horizon import numbers_of
from pddlego_local.methods.shared.selector import Selector
from pddlego_local.methods.shared.subgoals import GoalPlanner
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell

FILE = Path(__file__).parents[1] / "pddlego_local/methods/shared/horizon.yaml"
WORLDS = {
    "hard Cooking": ("environment=cooking_hard",),
    "office with three parcels": (
        "environment=explored",
        "environment.world=office",
        "environment.sizes=[3,3]",
    ),
}
FITTED = range(100_000, 100_040)
HELD_OUT = range(100_040, 100_050)
ACTIONS = 200
CARD = """\
# The weights of `method.selector=horizon`, by ordinary least squares (statsmodels).
# `python -m tools.horizon` writes this file. The rows are sub-goals that
# `model=reference` reached by DEPS, in random order: what the texts had shown when a
# sub-goal was chosen, and the actions that it took.
#   worlds: {worlds}
#   games {fitted}: {rows} sub-goals, {r2:.0%} of the variance explained
#   games {held_out}, not fitted: {held_out_rows} sub-goals, {held_out_r2:.0%}
"""


class Row(NamedTuple):
    """A sub-goal that was reached: what is predicted from, and the actions."""

    numbers: dict[str, float]
    actions: int


def rows_of(overrides: Sequence[str], games: Sequence[int]) -> Iterator[Row]:
    limit = f"environment.budget.limit={ACTIONS}"
    environment = compose_cell([*overrides, limit]).build("environment")
    with (
        FastDownward() as planner,
        closing(ReferenceFormalizer()) as model,
        closing(environment),
    ):
        parts = Parts(environment, model, planner, Decoding(rung="free"))
        for game in games:
            episode = Episode(parts, lambda _: None, run_seed=0, game=game, trial=0)
            yield from walk(episode)


def walk(episode: Episode) -> Iterator[Row]:
    if episode.start().success:
        return
    controller = Deps().controller(episode)
    plan = GoalPlanner(controller, PARALLEL_GOALS).plan()
    for goal in Selector("random", controller).order(plan):
        (numbers,) = numbers_of(episode.environment, episode.memory, [goal])
        pursuit = controller.pursue(goal)
        if pursuit.ended in ("accomplished", "success"):
            yield Row(numbers, len(pursuit.turns))
        if pursuit.ended != "accomplished":
            return


def main() -> None:
    fitted = _rows(FITTED)
    model = statsmodels.api.OLS(_actions(fitted), _table(fitted)).fit()
    held_out = _rows(HELD_OUT)
    errors = _actions(held_out) - model.predict(_table(held_out))
    spread = _actions(held_out) - _actions(held_out).mean()
    card = CARD.format(
        worlds=", ".join(WORLDS),
        fitted=f"{FITTED[0]} to {FITTED[-1]}",
        rows=len(fitted),
        r2=model.rsquared,
        held_out=f"{HELD_OUT[0]} to {HELD_OUT[-1]}",
        held_out_rows=len(held_out),
        held_out_r2=1 - (errors**2).sum() / (spread**2).sum(),
    )
    weights = [f"  {name}: {weight:.3f}\n" for name, weight in model.params.items()]
    FILE.write_text(f"{card}weights:\n{''.join(weights)}", encoding="utf-8")


def _rows(games: Sequence[int]) -> list[Row]:
    return [row for world in WORLDS.values() for row in rows_of(world, games)]


def _table(rows: Sequence[Row]) -> pandas.DataFrame:
    return pandas.DataFrame([row.numbers for row in rows])


def _actions(rows: Sequence[Row]) -> pandas.Series:
    return pandas.Series([row.actions for row in rows])


if __name__ == "__main__":
    main()
