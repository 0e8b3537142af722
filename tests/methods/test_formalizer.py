"""Planning formalizers: what a plan is worth, the gold files decide. Faults are planted
in gold files, and each lands in its outcome.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import PlanResult, Turn
from pddlego_local.core.record.events import Call, Note, Plan
from pddlego_local.decoding.forms import DOMAIN, PROBLEM
from pddlego_local.environments.described.game import Described
from pddlego_local.environments.described.reference import formalize
from pddlego_local.environments.described.world import task_hash
from pddlego_local.methods.formalizer import Formalizer
from pddlego_local.methods.formalizer_problem import FormalizerProblem
from pddlego_local.methods.formalizer_two_step import FormalizerTwoStep
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.methods.playing import of, play

GAME = 2  # its plan has all four actions


def gold() -> tuple[str, str]:
    return formalize([Turn("", Described(sizes=(3, 5)).reset(GAME).text)])


def answer(domain: str, problem: str) -> str:
    return json.dumps({"df": domain, "pf": problem})


def outcome(
    planner: FastDownward, *answers: str, rounds: int = 0
) -> tuple[str, str, str]:
    """The episode's outcome, the last plan's cause, and what the gold files say."""
    method, world = Formalizer(rounds=rounds), Described(sizes=(3, 5))
    ended, events = play(method, world, Scripted(answers), planner, game=GAME)
    plans = of(events, Plan)
    notes = [note.facts.get("gold_says", "") for note in of(events, Note)]
    return ended, plans[-1].cause if plans else "", str(notes[-1]) if notes else ""


def test_gold_files_are_worth_a_success(planner: FastDownward) -> None:
    assert outcome(planner, answer(*gold())) == ("success", "solved", "")


def test_an_answer_is_compared_with_gold_beside_its_plan(planner: FastDownward) -> None:
    def compared(world: Described, domain: str, problem: str) -> tuple[str, str]:
        model = Scripted([answer(domain, problem)])
        ended, events = play(Formalizer(), world, model, planner, game=GAME)
        noted = [note.facts.get("equivalence") for note in of(events, Note)]
        return ended, str(noted[0])

    world = Described(world="ferry", sizes=(3, 3))
    domain, problem = formalize([Turn("", world.reset(GAME).text)])
    assert compared(world, domain, problem) == ("success", "equivalent")
    more = problem.replace("(:goal (and", "(:goal (and (deck-empty)")
    assert compared(world, domain, more) == ("success", "different")
    other = [text.replace("ferry-at", "boat-at") for text in (domain, problem)]
    assert compared(world, *other) == ("success", "not comparable")
    assert compared(Described(sizes=(3, 5)), *gold()) == ("success", "equivalent")
    depots = Described(world="depots", sizes=(2, 2))
    files = formalize([Turn("", depots.reset(GAME).text)])
    assert compared(depots, *files) == ("success", "not fully specified")


WRONG = "valid_but_wrong"
NO_PLAN = "solver_abort"
TABLE = Path(__file__).parent / "formalizer_faults.yaml"
FAULTS: dict[str, dict[str, Any]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_lands_in_its_outcome(
    fault: dict[str, Any], planner: FastDownward
) -> None:
    files = dict(zip(("domain", "problem"), gold(), strict=True))
    for name in files.keys() & fault.keys():
        assert fault[name][0] in files[name], "the fault has nowhere to stand"
        files[name] = files[name].replace(*fault[name])
    found = outcome(planner, answer(**files))
    assert found[:2] == tuple(fault["found"])
    assert fault.get("says", "") in found[2]


def test_a_goal_that_is_half_copied_is_valid_but_wrong(planner: FastDownward) -> None:
    domain, problem = gold()
    start, goal = problem.split("(:goal (and ")
    half = f"{start}(:goal (and {goal[: goal.index(')') + 1]})))"
    assert outcome(planner, answer(domain, half)) in (
        (WRONG, "solved", "The plan ends where the goal is not reached."),
        (WRONG, "goal_already_true", "The plan ends where the goal is not reached."),
    )


def test_names_of_their_own_are_refused_and_other_spellings_of_the_text_are_not(
    planner: FastDownward,
) -> None:
    domain, problem = gold()
    assert outcome(planner, answer(domain, problem.replace("block1", "b1")))[0] == WRONG
    spelled = problem.replace("block1", "block_1").replace("block2", "Block-2")
    assert outcome(planner, answer(domain, spelled))[0] == "success"


def test_a_plan_counts_at_its_end_as_for_a_validator() -> None:
    """It passes through the goal, and leaves it."""

    class GoesOn(FastDownward):
        def plan(self, domain: str, problem: str) -> PlanResult:
            result = super().plan(domain, problem)
            undo = (
                result.plan[-1]
                .replace("put-down", "pick-up")
                .replace("stack", "unstack")
            )
            return dataclasses.replace(result, plan=(*result.plan, undo))

    with GoesOn() as planner:
        ended = outcome(planner, answer(*gold()))
    assert ended == (WRONG, "solved", "The plan ends where the goal is not reached.")


def test_an_answer_without_files_or_plan_is_repaired_in_rounds(
    planner: FastDownward,
) -> None:
    domain, problem = gold()
    broken = answer(domain, problem.replace("(hand-empty)", "", 1))
    assert outcome(planner, "I do not know.")[0] == NO_PLAN
    assert outcome(planner, broken, answer(domain, problem), rounds=1)[0] == "success"
    model = Scripted(["Sorry.", broken, answer(domain, problem)])
    ended, _ = play(
        Formalizer(rounds=2), Described(sizes=(3, 5)), model, planner, game=GAME
    )
    asked = [question.messages[-1].content for question in model.asked]
    assert ended == "success" and len(asked) == 3
    assert (
        "held no JSON object" in asked[1]
        and "Your previous problem file" not in asked[1]
    )
    assert "Your previous problem file" in asked[2] and "found no plan" in asked[2]


def test_two_steps_ask_for_the_domain_and_then_for_a_problem_of_it(
    planner: FastDownward,
) -> None:
    domain, problem = gold()
    answers = [json.dumps({"df": domain}), json.dumps({"pf": problem})]
    for shows_domain in (True, False):
        for shows_text in (True, False):
            model = Scripted(answers)
            method = FormalizerTwoStep(
                shows_domain=shows_domain, shows_domain_text=shows_text
            )
            ended, _ = play(method, Described(sizes=(3, 5)), model, planner, game=GAME)
            first, second = model.asked
            assert ended == "success"
            assert (first.form, second.form) == (DOMAIN, PROBLEM)
            assert second.context.domain == domain
            assert (domain in second.messages[0].content) is shows_domain
            assert ("Action Heads" in second.messages[0].content) is shows_text
            assert "In the beginning" not in first.messages[0].content
    model = Scripted(["No.", *answers])
    ended, events = play(
        FormalizerTwoStep(rounds=1), Described(sizes=(3, 5)), model, planner, game=GAME
    )
    assert ended == "success" and len(of(events, Call)) == 3


def test_the_problem_alone_is_asked_for_after_solved_examples(
    planner: FastDownward,
) -> None:
    domain, problem = gold()
    model = Scripted([json.dumps({"pf": problem})])
    world, method = Described(sizes=(3, 5)), FormalizerProblem(shots=2)
    ended, events = play(method, world, model, planner, game=GAME)
    (question,) = model.asked
    shown = question.messages[0].content
    assert ended == "success" and [plan.domain for plan in of(events, Plan)] == [domain]
    assert (
        question.form == PROBLEM
        and question.context.domain == domain
        and domain in shown
    )
    assert (
        shown.count("In the beginning") == 3
        and "For example, this is one world" in shown
    )
    answers = [
        json.loads(line)["pf"]
        for line in shown.splitlines()
        if line.startswith('{"pf"')
    ]
    assert [planner.plan(domain, file).outcome for file in answers] == ["solved"] * 2
    assert len({task_hash(file) for file in [problem, *answers]}) == 3


def test_examples_are_other_tasks_than_the_one_that_is_played() -> None:
    world = Described(sizes=(2, 2))
    for game in (0, 1, 2, *world.seeds[-3:]):
        world.reset(game)
        texts, files = zip(*world.solved(5), strict=True)
        assert len({*map(task_hash, files), world.map}) == 6 and len(set(texts)) == 5


def test_too_few_other_worlds_are_named(planner: FastDownward) -> None:
    world = Described(sizes=(2, 2))
    with pytest.raises(
        ConfigError, match=r"only 8 other .* choose at most method\.shots=8$"
    ):
        play(FormalizerProblem(shots=9), world, Scripted([]), planner, game=1)


def test_a_world_that_is_done_at_the_start_asks_nobody(planner: FastDownward) -> None:
    world = Described(sizes=(1, 1))  # one block, on the table for ever
    assert (
        play(Formalizer(), world, Scripted([]), planner, game=0)[0]
        == "success_at_start"
    )
