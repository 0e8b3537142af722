"""Without rollback an answer is drawn under masks alone: what is wrong and was not
masked stays.
"""

import json
from dataclasses import replace
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Sampling
from pddlego_local.decoding.forms import EDIT, PDDL, Form, Pddl
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.question import Drawn, GrammarContext, Question
from pddlego_local.decoding.rungs import Lists
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.decoding.settings import Decoding
from pddlego_local.decoding.staged.reading import domain_of, problem_in
from pddlego_local.episode.drawing import draw_one
from pddlego_local.episode.reading.answer import (
    Answer,
    read_constrained,
    without_repetition,
)
from pddlego_local.pddl.check import check
from pddlego_local.pddl.edit import apply
from pddlego_local.pddl.state import goal_already_true
from tests.decoding import test_edits, test_typed
from tests.decoding.test_edits import edit
from tests.decoding.test_typed import DOMAIN, PROBLEM_FILE
from tests.episode.drawing import TASTES, RandomLogits

KEEPING: dict[str, Any] = {"lists": "free", "goal": "unmet", "rollback": False}
HOUSE = replace(test_typed.SCENE, **KEEPING)
EDITED = replace(test_edits.SCENE, **KEEPING)


def departure(
    context: GrammarContext,
    written: Any,
    form: Form[Any] = PDDL,
    rung: str = "grounded",
) -> str:
    return place_of_departure(constraint_for(rung, form, context), json.dumps(written))


TAKEN_BACK = {
    "an object of two types": ("candle - lamp)", "candle - lamp torch - room)"),
    "a predicate with other parameters": ("(done)", "(done) (lit ?w - way)"),
    "a variable twice": ("(next ?a ?b - room", "(next ?a ?a - room"),
    "a goal that is true": ("(:goal (at cellar))", "(:goal (at hall))"),
    "a name in which a model loops": (
        "(domain house)",
        "(domain go-to-go-to-go-to-go)",
    ),
}


@pytest.mark.parametrize("name", TAKEN_BACK)
def test_what_the_rung_takes_back_stays(name: str) -> None:
    old, new = TAKEN_BACK[name]
    assert old in DOMAIN + PROBLEM_FILE
    domain, problem = DOMAIN.replace(old, new), PROBLEM_FILE.replace(old, new)
    if name.startswith("a name"):
        problem = problem.replace("house", new[8:-1])
    written = {"df": domain, "pf": problem}
    assert departure(HOUSE, written) == ""
    assert departure(replace(HOUSE, rollback=True), written)
    masked = {"df": DOMAIN, "pf": PROBLEM_FILE.replace("(has candle)", "(has cellar)")}
    assert departure(HOUSE, masked)


def test_contradictions_of_an_edit_stay_and_are_told_when_it_is_applied() -> None:
    for written, faulty in (
        (edit(add=["attic - room", "attic - way"]), False),
        (edit(replace={"door1": "attic"}, delete=["door1"]), True),
    ):
        assert departure(EDITED, written, EDIT) == ""
        assert departure(replace(EDITED, rollback=True), written, EDIT)
        assert bool(apply(written, EDITED.problem).faults) is faulty


def drawn(seed: int, rung: str, form: Form[Any], context: GrammarContext) -> Drawn:
    model = RandomLogits(seed, taste=TASTES[seed % len(TASTES)])
    constraint = constraint_for(rung, form, context, "line" if seed % 2 else "any")
    return draw_one(model, (), constraint, Sampling(max_tokens=6000, seed=seed), {})


@pytest.mark.parametrize("lists", ["free", "tight"])
@pytest.mark.parametrize("rung", ["typed", "grounded"])
def test_whatever_is_written_nothing_but_closing_brackets_is_taken_back(
    rung: str, lists: Lists
) -> None:
    """Those make room for what later parts cannot do without. Every answer comes to its
    end and is read, some with what the rung would have taken back.
    """
    refused = 0
    for seed in range(6):
        for form, context in ((PDDL, HOUSE), (EDIT, EDITED)):
            context = replace(context, lists=lists)
            answer = drawn(seed, rung, form, context)
            so_far = ""
            for stage in answer.stages:
                lost = so_far[len(stage.before) :] if stage.drop else ""
                assert not lost.strip(')]} \t\r\n"')
                assert stage.finish_reason == "stop"
                so_far = stage.before + stage.text
            value = read_constrained(answer.completion, form).value
            assert value
            if isinstance(value, Pddl) and lists == "free":
                question = Question(PDDL, (), context)
                found = without_repetition(Answer(value, ""), question).value
                assert found
                verdict, goal = (
                    check(found.df, found.pf),
                    problem_in(json.dumps({"pf": found.pf})),
                )
                assert verdict.syntax
                refused += (
                    goal_already_true(domain_of(found.df), goal) or not verdict.accepted
                )
    assert refused or lists == "tight"


def test_no_other_rung_restricts_names() -> None:
    Decoding(rung="free", repair="grounded", names="game")
    for rung in ("free", "json", "typed"):
        with pytest.raises(
            ConfigError, match=r"decoding\.names=game needs decoding=grounded, or"
        ):
            Decoding(rung=rung, names="game")


@pytest.mark.parametrize("rung", ["free", "json", "syntax", "signatures"])
@pytest.mark.parametrize(("option", "value"), [("rollback", False), ("lists", "free")])
def test_only_the_upper_rungs_have_rollback_and_lists(
    rung: Any, option: str, value: Any
) -> None:
    told = rf"decoding\.{option}=(false|free) needs decoding=typed or"
    with pytest.raises(ConfigError, match=told):
        Decoding(rung=rung, **{option: value})
