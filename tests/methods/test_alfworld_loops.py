"""The loops in ALFWorld: refusals are explained, and every way to fail has its name."""

import contextlib
import json
from pathlib import Path

import pytest

from pddlego_local.core.record.events import ActionTaken, Restart
from pddlego_local.core.record.summary import summarize
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.alfworld.games import TASK_TYPES
from pddlego_local.methods.action_gen import ActionGen
from pddlego_local.methods.pddlego_plus import PddlegoPlus
from pddlego_local.methods.plangen import PlanGen
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.environments.sharing import SPLIT, write
from tests.methods.playing import built, of, play
from tests.methods.test_every_method import IN_WORDS

BROKEN = json.dumps({"df": "(define (domain", "pf": "(define"})


def test_plangen_is_told_the_forms_of_actions_and_not_what_is_admissible(
    planner: FastDownward, heat: Alfworld
) -> None:
    """The paper's ALFWorld prompt (appendix C.10)."""
    model = Scripted(['{"action": "dance"}'] * 5)
    play(PlanGen(), heat, model, planner, game=0)
    commands = heat.reset(0).commands
    for prompt in model.asked:
        told = prompt.messages[-1].content
        assert "- go to [towelholder 1]\n- open [cabinet 2]\n" in told
        assert not any(command in told for command in commands if command != "look")


@pytest.mark.parametrize("seed", [54, 162, 182])
def test_one_action_at_a_time_does_not_go_to_and_fro(
    planner: FastDownward, seed: int
) -> None:
    """A slice, its knife elsewhere, and two places where it may be put."""
    with contextlib.closing(Alfworld(task_types=TASK_TYPES)) as kitchen:
        outcome, events = play(
            ActionGen(), kitchen, ReferenceFormalizer(), planner, game=seed
        )
    assert outcome == "success"
    assert summarize(events).actions < 30


@pytest.mark.parametrize("seed", [6, 21])
@pytest.mark.parametrize("method", IN_WORDS)
def test_the_way_to_what_shares_a_spot_is_not_offered_and_not_missed(
    planner: FastDownward, tmp_path: Path, method: str, seed: int
) -> None:
    """Who stands at countertop 3 stands at another one too: the search goes on
    elsewhere.
    """
    write(tmp_path, seed, TASK_TYPES[seed % len(TASK_TYPES)])
    with contextlib.closing(
        Alfworld(data=tmp_path, split=SPLIT, task_types=TASK_TYPES)
    ) as house:
        house.reset(0)
        offered = house.step("go to countertop 3").commands
        assert not {"go to countertop 1", "go to countertop 2"} <= set(offered)
        outcome, _ = play(built(method), house, ReferenceFormalizer(), planner, game=0)
    assert outcome == "success"


HEAT = json.dumps(
    {
        "df": "(define (domain d) (:types object microwaveReceptacle)"
        " (:predicates (done)) (:action HeatObject"
        " :parameters (?o - object ?m - microwaveReceptacle) :effect (done)))",
        "pf": "(define (problem p) (:domain d) (:objects apple1 - object"
        " microwave1 - microwaveReceptacle) (:init) (:goal (done)))",
    }
)


def test_a_refusal_is_explained_and_taken_back(
    planner: FastDownward, heat: Alfworld
) -> None:
    model = Scripted([BROKEN, HEAT, *[HEAT] * 4])
    outcome, events = play(PddlegoPlus(), heat, model, planner, game=0)
    assert outcome == "simulation_abort"
    row = summarize(events)
    assert (row.solver_errors, row.solver_errors_fixed) == (1, 1)
    assert (row.simulation_errors, row.simulation_errors_fixed) == (1, 0)
    assert len(of(events, Restart)) == 4
    told = model.asked[-1].messages[0].content
    assert "Action: heat apple 1 with microwave 1\nNothing happens." in told
    assert of(events, ActionTaken)[-1].feedback in told
    assert "valid actions here" not in told  # the paper's ALFWorld prompts list none
