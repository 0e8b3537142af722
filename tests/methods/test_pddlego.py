"""PDDLego's methods through real games: the end goal and its fallbacks, edits, no
refinement.
"""

import json
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Budget, Completion
from pddlego_local.core.record.events import (
    ActionTaken,
    Call,
    EditApplied,
    Plan,
    Restart,
)
from pddlego_local.core.record.summary import summarize
from pddlego_local.environments.coin.game import Coin
from pddlego_local.methods import Method
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.methods.pddl_gen import PddlGen
from pddlego_local.methods.pddlego import Pddlego
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.methods.playing import of, play

# Game 1: kitchen, closed doors south (backyard) and west (pantry).
HOUSE = (
    "(:objects kitchen south_room west_room - location north south east west -"
    " direction) (:init (at kitchen) (visited kitchen) (closed-door kitchen south_room"
    " south)%s)"
)


def problem(further: str = "", goal: str = "(at nowhere)") -> str:
    text = (
        f"(define (problem p) (:domain coin_collector) {HOUSE % further} (:goal"
        f" {goal}))"
    )
    return json.dumps({"pf": text})


SOUTH = problem()
BROKEN = json.dumps({"pf": "(define (problem"})
NOWHERE = json.dumps(
    {
        "pf": "(define (problem p) (:domain coin_collector) (:objects a - location)"
        " (:init (at a) (visited a)) (:goal (and)))"
    }
)


def edit(declared: list[str], stated: list[str], **changes: Any) -> str:
    empty: dict[str, Any] = {"add": [], "replace": {}, "delete": []}
    return json.dumps(
        {
            "objects": {**empty, "add": declared, **changes.get("objects", {})},
            "init": {**empty, "add": stated, **changes.get("init", {})},
        }
    )


EDIT_SOUTH = edit(
    ["kitchen south_room - location", "south - direction"],
    ["(at kitchen)", "(visited kitchen)", "(closed-door kitchen south_room south)"],
)


def one_round(rounds: int = 1) -> Coin:
    return Coin(rooms=11, budget=Budget(unit="rounds", limit=rounds))


@pytest.mark.parametrize(
    ("method", "answer"), [(PddlGen(), SOUTH), (PddlEdit(), EDIT_SOUTH)]
)
def test_the_end_goal_is_tried_first_and_then_its_fallback(
    planner: FastDownward, method: Method, answer: str
) -> None:
    outcome, events = play(method, one_round(), Scripted([answer]), planner)
    assert outcome == "step_limit"
    tried = [(plan.goal, plan.outcome) for plan in of(events, Plan)]
    assert tried == [
        ("take the coin", "unsolvable"),
        ("be in a room that is not visited yet", "solved"),
    ]
    assert [action.command for action in of(events, ActionTaken)] == [
        "open door to south",
        "move south",
    ]
    assert summarize(events).causes == {"solved": 1}


@pytest.mark.parametrize("method", [PddlGen(max_retries=2), PddlEdit(max_retries=2)])
@pytest.mark.parametrize("bad", ["?", Completion("{", "length", 1, 1, 0.0)])
def test_what_gives_no_plan_is_sampled_again_and_told_nothing(
    planner: FastDownward, method: Method, bad: Any
) -> None:
    model = Scripted([bad] * 3)
    outcome, events = play(method, one_round(), model, planner)
    assert outcome == "no_plan"
    assert len({question.messages for question in model.asked}) == 1
    assert len(model.asked) == 3
    assert len({call.sampling.seed for call in of(events, Call)}) == 3


@pytest.mark.parametrize(
    ("bad", "cause"), [(BROKEN, "translate_error"), (NOWHERE, "unsolvable")]
)
def test_a_retry_can_mend_it(planner: FastDownward, bad: str, cause: str) -> None:
    outcome, events = play(PddlGen(), one_round(), Scripted([bad, SOUTH]), planner)
    assert outcome == "step_limit"
    row = summarize(events)
    assert row.causes == {cause: 1, "solved": 1}
    assert (row.solver_errors, row.solver_errors_fixed) == (1, 1)


def test_refused_actions_are_played_on_and_ignored(planner: FastDownward) -> None:
    wrong = problem(" (connected kitchen west_room north)")
    model = Scripted([wrong.replace("(closed-door kitchen south_room south)", "")])
    outcome, events = play(PddlGen(), one_round(), model, planner)
    assert outcome == "step_limit"
    assert summarize(events).refused == 1
    assert not of(events, Restart)


def test_the_next_prompt_has_the_file_and_only_the_news(planner: FastDownward) -> None:
    model = Scripted([SOUTH, SOUTH])
    play(PddlGen(), one_round(2), model, planner)
    first, second = (question.messages[0].content for question in model.asked)
    assert "You are in the kitchen. To the South you see a closed patio door." in first
    assert "problem file until now" not in first
    news = second.partition("These are the new observations:")[2]
    assert "Action: move south\nYou are in the backyard." in news
    assert "patio door. To" not in news
    assert "(closed-door kitchen south_room south)" in second
    for item in (
        "(:action take-coin", "take the coin; be in a room that is not visited yet",
        "behind_kitchen_south", "stays visited",
    ):  # fmt: skip
        assert item in first


def test_an_edit_that_names_what_is_not_there_is_recorded_and_the_rest_applied(
    planner: FastDownward,
) -> None:
    wrong = edit(
        ["kitchen south_room - location", "south - direction"],
        ["(at kitchen)", "(visited kitchen)", "(closed-door kitchen south_room south)"],
        objects={"replace": {"cellar": "attic"}},
        init={"delete": ["(at cellar)"]},
    )
    outcome, events = play(PddlEdit(), one_round(), Scripted([wrong]), planner)
    assert outcome == "step_limit"
    (recorded,) = of(events, EditApplied)
    assert recorded.faults == (
        "objects.replace: there is no object cellar",
        "init.delete: there is no fact (at cellar)",
    )
    assert summarize(events).edit_faults == 2
    assert of(events, ActionTaken)


def test_without_refinement_the_first_error_ends_it(planner: FastDownward) -> None:
    bad = json.dumps({"df": "(define (domain", "pf": "(define"})
    outcome, events = play(Pddlego(), Coin(), Scripted([bad]), planner)
    assert outcome == "solver_abort"
    assert summarize(events).calls == 1
    domain = Coin.domain
    through = problem(" (connected kitchen west_room west)", "(at west_room)")
    answer = json.dumps({"df": domain, "pf": json.loads(through)["pf"]})
    outcome, events = play(Pddlego(), Coin(), Scripted([answer]), planner)
    assert outcome == "simulation_abort"
    assert "the door in that direction is closed" in of(events, ActionTaken)[0].feedback


@pytest.fixture(scope="session")
def won_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from pddlego_local.runner.config import compose_cell
    from pddlego_local.runner.run import run_cell

    out = tmp_path_factory.mktemp("won")
    return run_cell(
        compose_cell([f"run.out={out}", "games=0-4", "environment.rooms=7"])
    ).folder


def test_a_reused_domain_is_held_fixed_and_only_problems_are_asked(
    planner: FastDownward, won_run: Any
) -> None:
    method = PddlegoPlus(domains=won_run)
    outcome, events = play(method, Coin(rooms=7), ReferenceFormalizer(), planner)
    assert outcome == "success"
    assert {call.form for call in of(events, Call)} == {"problem"}
    domains = {plan.domain for plan in of(events, Plan)}
    assert len(domains) == 1
    assert "exploration" in domains.pop()
    assert summarize(events).notes["domain_from"].startswith("transcripts/")
    first = of(events, Call)[0].messages[0].content
    assert '{"pf": "..."}' in first
    assert "(define (domain exploration)" in first


def test_a_broken_problem_for_a_reused_domain_is_mended(
    planner: FastDownward, won_run: Any
) -> None:
    model = Scripted(["?", BROKEN, "?"])
    outcome, events = play(
        PddlegoPlus(domains=won_run, rounds=2), Coin(rooms=7), model, planner
    )
    assert outcome == "solver_abort"
    assert summarize(events).causes == {"no_json": 2, "translate_error": 1}
    assert "This is what it said" in model.asked[2].messages[0].content


def test_a_folder_without_won_episodes_is_refused(
    planner: FastDownward, tmp_path: Any
) -> None:
    with pytest.raises(ConfigError, match="no won episode"):
        play(PddlegoPlus(domains=tmp_path), Coin(), Scripted([]), planner)
