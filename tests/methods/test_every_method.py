"""What holds for each method: a model that knows the rules wins, and a won game asks nothing."""

import pytest

from pddlego_local.core.record.summary import summarize
from pddlego_local.environments.coin.game import Coin
from pddlego_local.methods import Method
from pddlego_local.methods.action_gen import ActionGen
from pddlego_local.methods.deps import Deps
from pddlego_local.methods.inner_monologue import InnerMonologue
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.methods.pddl_gen import PddlGen
from pddlego_local.methods.pddlego import Pddlego
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.methods.plangen import PlanGen
from pddlego_local.methods.reflexion import Reflexion
from pddlego_local.methods.zero_shot_planner import ZeroShotPlanner
from pddlego_local.methods.zero_shot_replan import ZeroShotReplan
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.methods.learning import fcrf
from tests.methods.playing import play

ONE_ANSWER_A_STEP = (
    *(PddlGen(), PddlEdit(), PddlegoPlus(), Pddlego(), ActionGen(), PlanGen(), Reflexion(), fcrf()),
)
IN_WORDS = (Deps(), ZeroShotPlanner(), ZeroShotReplan(), InnerMonologue())


@pytest.mark.parametrize("method", [*ONE_ANSWER_A_STEP, *IN_WORDS])
def test_perfect_answers_win(planner: FastDownward, method: Method) -> None:
    outcome, events = play(method, Coin(rooms=11), ReferenceFormalizer(), planner)
    row = summarize(events)
    assert outcome == "success"
    assert row.refused == row.solver_errors == row.simulation_errors == row.edit_faults == 0
    assert row.actions > 3 and (row.steps == row.calls or method in IN_WORDS)


@pytest.mark.parametrize("method", [*ONE_ANSWER_A_STEP, *IN_WORDS])
def test_a_game_beside_the_coin_asks_nothing(planner: FastDownward, method: Method) -> None:
    outcome, events = play(method, Coin(), Scripted([]), planner, game=3)
    row = summarize(events)
    assert (outcome, row.calls, row.actions) == ("success_at_start", 0, 0)
