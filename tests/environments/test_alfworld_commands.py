"""The arm that is shown what it may do, as most published agents for ALFWorld are."""

from dataclasses import replace

import pytest

from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.methods import Method
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.methods.plangen import PlanGen
from pddlego_local.planner import FastDownward
from tests.methods.playing import Listener, play


@pytest.mark.parametrize("shows_commands", [False, True])
@pytest.mark.parametrize(
    "method", [PddlegoPlus(variant="compact"), PddlegoPlus(), PlanGen()]
)
def test_prompts_tell_what_is_valid_where_that_is_asked_for(
    method: Method, shows_commands: bool, planner: FastDownward, household: Alfworld
) -> None:
    game = replace(household, shows_commands=shows_commands)
    game._process = household._process
    model = Listener()
    outcome, _ = play(method, game, model, planner, game=0)
    assert outcome == "success" and len(model.asked) > 2
    for question in model.asked:
        prompt = question.messages[-1].content
        tells = "Valid now: " in prompt or "These are valid actions" in prompt
        assert tells == shows_commands
