"""Every method on the highest rung, in real games, by a model that knows nothing: whatever it
answers is read, and no PDDL of its own is refused. About 20 s."""

import contextlib
from collections import Counter

import pytest

from pddlego_local.core.record.events import Call, Event, Plan
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.runner.config import compose_cell
from tests.episode.drawing import RandomLogits

METHODS = (
    *("action_gen", "pddl_gen", "pddl_edit", "pddlego_plus", "pddlego", "plangen", "deps"),
    *("zero_shot_planner", "zero_shot_replan", "inner_monologue", "fcrf", "reflexion"),
)


@pytest.mark.parametrize("environment", ["coin", "cooking_hard"])
def test_every_method_plays_grounded(environment: str) -> None:
    plans: Counter[str] = Counter()
    asked: Counter[str] = Counter()

    def note(event: Event) -> None:
        if isinstance(event, Plan):
            plans[event.outcome] += 1
        if isinstance(event, Call):
            asked[event.form] += 1
            assert event.fault in ("", "truncated", "empty"), event.text

    for method in METHODS:
        options = [f"environment={environment}", f"method={method}", "environment.budget.limit=5"]
        config = compose_cell([*options, "model=reference"])
        decoding = Decoding(rung="grounded", goal="unmet", max_tokens=3000)
        with (
            contextlib.closing(config.build("environment")) as game,
            contextlib.closing(config.build("planner")) as planner,
        ):
            parts = Parts(game, RandomLogits(1), planner, decoding)
            assert config.build("method")(Episode(parts, note, run_seed=0, game=1, trial=0))
    first = {"problem", "edit"} if environment == "coin" else {"seen"}  # gathering comes first
    assert {"pddl", "command", "move", "choice"} | first <= asked.keys()
    assert plans.keys() <= {"solved", "unsolvable", "goal_already_true"}
