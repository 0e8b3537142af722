"""Planning formalizers: what a plan is worth, the gold files decide. Faults are planted
in gold files, and each lands in its outcome.
"""

import dataclasses
import itertools
import json
from typing import Any

import pytest

from pddlego_local.core.nouns import PlanResult, Turn
from pddlego_local.core.record.events import Call, Note, Plan, Repair, Where
from pddlego_local.decoding.forms import DOMAIN, PROBLEM
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.described.game import Described
from pddlego_local.environments.described.reference import formalize
from pddlego_local.environments.described.world import objects_in, task_hash
from pddlego_local.methods.formalizer import Formalizer
from pddlego_local.methods.formalizer_problem import FormalizerProblem
from pddlego_local.methods.formalizer_two_step import FormalizerTwoStep
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.methods.playing import of, play
from tests.tables import table

GAME = 2  # its plan has all four actions


def blocks() -> Described:
    return Described(sizes=(3, 5))


def gold() -> tuple[str, str]:
    return formalize([Turn("", blocks().reset(GAME).text)])


def answer(domain: str, problem: str) -> str:
    return json.dumps({"df": domain, "pf": problem})


def outcome(
    planner: FastDownward, *answers: str, rounds: int = 0
) -> tuple[str, str, str]:
    """The episode's outcome, the last plan's cause, and what the gold files say."""
    method = Formalizer(rounds=rounds)
    ended, events = play(method, blocks(), Scripted(answers), planner, game=GAME)
    plans = of(events, Plan)
    cause = plans[-1].cause if plans else ""
    said = ""
    for note in of(events, Note):
        said = str(note.facts.get("gold_says", said))
    return ended, cause, said


def test_gold_files_are_worth_a_success(planner: FastDownward) -> None:
    assert outcome(planner, answer(*gold())) == ("success", "solved", "")


def test_an_answer_is_compared_with_gold_beside_its_plan(planner: FastDownward) -> None:
    def compared(world: Described, domain: str, problem: str) -> str:
        model = Scripted([answer(domain, problem)])
        ended, events = play(Formalizer(), world, model, planner, game=GAME)
        assert ended == "success"
        return str(of(events, Note)[0].facts["equivalence"])

    ferry = Described(world="ferry", sizes=(3, 3))
    domain, problem = formalize([Turn("", ferry.reset(GAME).text)])
    assert compared(ferry, domain, problem) == "equivalent"
    more = problem.replace("(:goal (and", "(:goal (and (deck-empty)")
    assert compared(ferry, domain, more) == "different"
    boats = [text.replace("ferry-at", "boat-at") for text in (domain, problem)]
    assert compared(ferry, *boats) == "not comparable"
    depots = Described(world="depots", sizes=(2, 2))
    files = formalize([Turn("", depots.reset(GAME).text)])
    assert compared(depots, *files) == "not fully specified"


WRONG = "valid_but_wrong"
NO_PLAN = "solver_abort"
FAULTS = table(__file__, "formalizer_faults")


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
            last = result.plan[-1]
            undo = last.replace("put-down", "pick-up").replace("stack", "unstack")
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
    ended, _ = play(Formalizer(rounds=2), blocks(), model, planner, game=GAME)
    assert ended == "success"
    _, second, third = (question.messages[-1].content for question in model.asked)
    assert "held no JSON object" in second
    assert "Your previous problem file" not in second
    assert "Your previous problem file" in third
    assert "found no plan" in third


def test_two_steps_ask_for_the_domain_and_then_for_a_problem_of_it(
    planner: FastDownward,
) -> None:
    domain, problem = gold()
    answers = [json.dumps({"df": domain}), json.dumps({"pf": problem})]
    for shows_domain, shows_text in itertools.product((True, False), repeat=2):
        method = FormalizerTwoStep(
            shows_domain=shows_domain, shows_domain_text=shows_text
        )
        model = Scripted(answers)
        ended, events = play(method, blocks(), model, planner, game=GAME)
        assert ended == "success"
        assert [call.where for call in of(events, Call)] == [Where(step=1)] * 2
        first, second = model.asked
        assert (first.form, second.form) == (DOMAIN, PROBLEM)
        assert second.context.domain == domain
        assert "In the beginning" not in first.messages[0].content
        shown = second.messages[0].content
        assert (domain in shown) is shows_domain
        assert ("Action Heads" in shown) is shows_text
    model = Scripted(["No.", *answers])
    method = FormalizerTwoStep(rounds=1)
    ended, events = play(method, blocks(), model, planner, game=GAME)
    assert ended == "success"
    assert len(of(events, Call)) == 3


def test_names_of_solved_examples_are_not_shown_of_this_world(
    planner: FastDownward,
) -> None:
    """Neither under `grounded` nor for its repair, which takes out what an answer
    copies from an example. Without it, the file is equivalent but for an idle object.
    """
    four_blocks = 0
    _, problem = formalize([Turn("", blocks().reset(four_blocks).text)])
    copied = "block5"
    idle = problem.replace("(:objects", f"(:objects {copied}", 1)
    method = FormalizerProblem(shots=8)
    answers = [json.dumps({"pf": idle})]
    notes = []
    for decoding in (
        Decoding(rung="grounded"),
        Decoding(rung="free", repair="grounded"),
    ):
        model = Scripted(answers)
        world = blocks()
        _, events = play(
            method, world, model, planner, game=four_blocks, decoding=decoding
        )
        (question,) = model.asked
        lines = question.messages[0].content.splitlines()
        examples = [json.loads(line)["pf"] for line in lines if '{"pf": "(' in line]
        assert any(copied in objects_in(file) for file in examples)
        assert set(question.context.names.objects) == set(objects_in(problem))
        notes += [note.facts["equivalence"] for note in of(events, Note)]
    assert notes == ["equivalent but for idle objects", "equivalent"]
    assert of(events, Repair)[0].changes == (f"problem: left out {copied}",)


def test_a_file_without_a_plan_is_compared_with_gold_too(
    planner: FastDownward,
) -> None:
    _, problem = gold()
    files = {
        problem.replace("(hand-empty)", "", 1): ["different"],
        problem.replace("(hand-empty)", "(odd)", 1): ["not comparable"],
        "": [],
    }
    for file, verdicts in files.items():
        model = Scripted([json.dumps({"pf": file}) if file else "No."])
        method = FormalizerProblem(shots=0)
        ended, events = play(method, blocks(), model, planner, game=GAME)
        assert ended == NO_PLAN
        assert [note.facts["equivalence"] for note in of(events, Note)] == verdicts


def test_the_problem_alone_is_asked_for_after_solved_examples(
    planner: FastDownward,
) -> None:
    domain, problem = gold()
    model = Scripted([json.dumps({"pf": problem})])
    method = FormalizerProblem(shots=2)
    ended, events = play(method, blocks(), model, planner, game=GAME)
    assert ended == "success"
    assert [plan.domain for plan in of(events, Plan)] == [domain]
    (question,) = model.asked
    assert question.form == PROBLEM
    assert question.context.domain == domain
    shown = question.messages[0].content
    assert domain in shown
    assert shown.count("In the beginning") == 3
    lines = [line for line in shown.splitlines() if line.startswith('{"pf"')]
    examples = [json.loads(line)["pf"] for line in lines]
    assert [planner.plan(domain, file).outcome for file in examples] == ["solved"] * 2
    assert len({task_hash(file) for file in [problem, *examples]}) == 3
