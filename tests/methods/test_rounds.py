"""`method.rounds`: what a model is shown after files that are refused or have no plan.
Each later question is the first one, then the last answer, then the message.
"""

import json

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.protocols import Environment
from pddlego_local.core.record.events import Plan
from pddlego_local.decoding.settings import Decoding
from pddlego_local.methods import Method
from pddlego_local.methods.formalizer_problem import FormalizerProblem
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.methods.pddl_gen import PddlGen
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from tests.methods import test_formalizer as described
from tests.methods.playing import of, play
from tests.methods.test_pddlego import BROKEN, SOUTH, edit, one_round

ROOM = "kitchen behind_kitchen_south - location"
DOOR = "(closed-door kitchen behind_kitchen_south south)"
FACTS = ["(at kitchen)", "(visited kitchen)"]
WRONG_EDIT = edit([ROOM, "south - direction"], [*FACTS, DOOR, "(at attic)"])
RIGHT_EDIT = edit([ROOM, "south - direction"], [*FACTS, DOOR])
GOLD = described.gold()[1]
RIGHT_FILE = json.dumps({"pf": GOLD})
WRONG_FILE = json.dumps({"pf": GOLD.replace("(hand-empty)", "(hand-empty) (odd)", 1)})

METHODS: dict[str, tuple[Method, Environment, int, list[str]]] = {
    "pddl_edit": (
        PddlEdit(max_retries=0, rounds=2),
        one_round(),
        1,
        [WRONG_EDIT, "What?", RIGHT_EDIT],
    ),
    "pddl_gen": (
        PddlGen(max_retries=0, rounds=2),
        one_round(),
        1,
        [BROKEN, "What?", SOUTH],
    ),
    "formalizer_problem": (
        FormalizerProblem(shots=1, rounds=2),
        described.blocks(),
        described.GAME,
        [WRONG_FILE, "What?", RIGHT_FILE],
    ),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("feedback", ["planner", "explained"])
def test_the_answer_and_the_message_follow_the_question(
    planner: FastDownward, name: str, feedback: str
) -> None:
    method, environment, game, answers = METHODS[name]
    model = Scripted(answers)
    decoding = Decoding(rung="free", feedback=feedback)  # type: ignore[arg-type]
    _, events = play(method, environment, model, planner, game=game, decoding=decoding)
    first, second, third = (question.messages[0].content for question in model.asked)
    wrong, *_, right = of(events, Plan)
    assert (wrong.outcome, right.outcome) == ("translate_error", "solved")
    written = json.loads(answers[0])
    answer = written.get("pf", answers[0])
    assert second.startswith(first)
    shown = second.removeprefix(first)
    assert shown.index(answer) < shown.index(wrong.told)
    if feedback == "explained":
        assert "problem line" in wrong.told
    # An answer that cannot be read is not shown, only why.
    assert third.startswith(first)
    assert "held no JSON object" in third
    assert answer not in third.removeprefix(first)


def test_without_rounds_the_question_stays(planner: FastDownward) -> None:
    model = Scripted([WRONG_EDIT, RIGHT_EDIT])
    play(PddlEdit(max_retries=1), one_round(), model, planner)
    first, second = model.asked
    assert first.messages == second.messages
    with pytest.raises(ConfigError, match=r"method\.max_retries=0"):
        PddlEdit(max_retries=1, rounds=1)


@pytest.mark.parametrize("name", ["pddl_edit", "pddl_gen", "formalizer_problem"])
def test_a_cell_without_rounds_has_the_name_that_it_had_before(name: str) -> None:
    words = [f"method={name}", "decoding=free"]
    if name == "formalizer_problem":
        words.append("environment=described")
    else:
        words.append("method.max_retries=0")
    before = compose_cell(words)
    assert "rounds" not in before.identity["method"]
    after = compose_cell([*words, "method.rounds=2"])
    assert after.identity["method"]["rounds"] == 2
    assert before.cell != after.cell
