"""`decoding.repair` in episodes: what is mended is planned with, recorded, and shown
next, whatever the method; answers are given in advance, game and planner are real.
"""

import json
from typing import Any

import pytest

from pddlego_local.core.record.events import Plan, Repair
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.described.game import Described
from pddlego_local.methods.formalizer_two_step import FormalizerTwoStep
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.methods.pddl_gen import PddlGen
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.episode.test_model_caller import pair
from tests.methods import test_formalizer as described
from tests.methods.playing import of, play
from tests.methods.test_pddlego import SOUTH, edit, one_round

ATTIC = "(closed-door kitchen attic west)"
REPAIRED = {
    "typed": "problem: declared attic - location",
    "grounded": f"problem: left out {ATTIC}",
}


@pytest.mark.parametrize("rung", ["none", "syntax", "typed", "grounded"])
def test_an_edit_that_names_what_is_not_declared(
    planner: FastDownward, rung: Any
) -> None:
    room = "behind_kitchen_south"
    right = [f"kitchen {room} - location", "south west - direction"]
    door = f"(closed-door kitchen {room} south)"
    wrong = edit(right, ["(at kitchen)", "(visited kitchen)", door, ATTIC])
    model = Scripted([wrong, edit([], [])])
    decoding = Decoding(rung="free", repair=rung)
    method = PddlEdit(max_retries=0)
    outcome, events = play(method, one_round(2), model, planner, decoding=decoding)
    if rung in ("none", "syntax"):
        assert outcome == "no_plan"
        assert not of(events, Repair)
        return
    assert [plan.outcome for plan in of(events, Plan)][:2] == ["unsolvable", "solved"]
    (repair,) = of(events, Repair)
    assert repair.changes == (REPAIRED[rung],)
    assert ATTIC in repair.problem
    shown = model.asked[1].messages[0].content
    assert door in shown
    for text in (of(events, Plan)[0].problem, shown):
        assert (ATTIC in text) == (rung == "typed")
        assert ("attic - location" in text) == (rung == "typed")


def test_a_name_that_the_prompt_does_not_show(planner: FastDownward) -> None:
    """`grounded` knows those of the game and of the files in the prompt, and `typed`
    does not.
    """
    seen = SOUTH.replace("south_room", "behind_kitchen_south").replace(" west_room", "")
    unseen = seen.replace("kitchen", "kitchen attic", 1).replace(
        ":init", ":init (visited attic)"
    )
    for rung, changes in (("typed", 0), ("grounded", 2)):
        decoding = Decoding(rung="free", repair=rung)  # type: ignore[arg-type]
        model = Scripted([unseen])
        _, events = play(PddlGen(), one_round(), model, planner, decoding=decoding)
        assert sum(len(repair.changes) for repair in of(events, Repair)) == changes
        assert of(events, Plan)[-1].outcome == "solved"


def test_both_files_of_one_answer(planner: FastDownward) -> None:
    """The domain is the model's own: its actions are the environment's, and what they
    say is declared. Retries and later steps show the mended files.
    """
    slip = json.loads(pair())
    slip["df"] = slip["df"].replace("(not (closed-door", "(not (closed_door")
    slip["pf"] = slip["pf"].replace("(:init", "(:init (at attic)")
    model = Scripted([json.dumps(slip), "?"])
    decoding = Decoding(rung="free", repair="typed")
    _, events = play(
        PddlegoPlus(rounds=0), one_round(2), model, planner, decoding=decoding
    )
    (repair,) = of(events, Repair)
    assert repair.domain == slip["df"]
    assert repair.problem == slip["pf"]
    assert repair.changes == (
        "domain: closed_door became closed-door",
        "problem: declared attic - location",
    )
    plan = of(events, Plan)[0]
    assert plan.outcome == "solved"
    shown = model.asked[1].messages[0].content
    assert plan.domain in shown
    assert plan.problem in shown


def test_a_domain_of_its_own_question_is_mended_with_its_problem(
    planner: FastDownward,
) -> None:
    domain, problem = described.gold()
    slip = domain.replace("(:predicates", "(:predicates (odd ?x - nothing ?y)").replace(
        ":effect (and", ":effect (and (dropped)", 1
    )
    answers = [json.dumps({"df": slip}), json.dumps({"pf": problem})]
    decoding = Decoding(rung="free", repair="typed")
    world = Described(sizes=(3, 5))
    model = Scripted(answers)
    outcome, events = play(
        FormalizerTwoStep(),
        world,
        model,
        planner,
        game=described.GAME,
        decoding=decoding,
    )
    assert outcome == "success"
    (repair,) = of(events, Repair)
    assert repair.changes == ("domain: left out (dropped)",)


def test_a_given_domain_is_not_mended(planner: FastDownward) -> None:
    decoding = Decoding(rung="free", repair="typed")
    _, events = play(
        PddlGen(), one_round(), Scripted([SOUTH]), planner, decoding=decoding
    )
    assert of(events, Plan)[0].domain == one_round().domain
    assert not of(events, Repair)
