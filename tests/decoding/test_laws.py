"""The laws of the ladder. Every rung keeps them on every form of answer."""

import contextlib
import functools
import json
from dataclasses import dataclass, replace
from typing import Any, get_args

import pytest

from pddlego_local.core.nouns import Action, Completion, Names, Turn
from pddlego_local.decoding import forms, ladder
from pddlego_local.decoding.forms import DOMAIN, EDIT, PDDL, PROBLEM, Form
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.decoding.layout import Layout, Printer
from pddlego_local.decoding.question import GrammarContext, Question
from pddlego_local.decoding.rungs import RungName
from pddlego_local.decoding.session import place_of_departure
from pddlego_local.decoding.settings import Decoding
from pddlego_local.episode.model_caller import draw_answers
from pddlego_local.episode.reading.answer import read_constrained
from pddlego_local.pddl.changes import Knowledge
from pddlego_local.pddl.check import check
from pddlego_local.pddl.edit import apply, objects_of
from pddlego_local.pddl.repair import repair
from pddlego_local.pddl.sections import with_goal
from pddlego_local.planner import FastDownward
from pddlego_local.runner.config import compose_cell
from tests.decoding import contexts, test_edits, test_typed
from tests.episode.drawing import RandomLogits

Answer = dict[str, Any]

RUNGS: tuple[RungName, ...] = get_args(RungName)
CONSTRAINED = RUNGS[1:]
TYPED: tuple[RungName, ...] = ("typed", "grounded")
LAYOUTS: tuple[Layout, ...] = get_args(Layout)


@dataclass(frozen=True)
class Perfect:
    """A form, a situation, and an answer that is right there."""

    form: Form[Any]
    situation: GrammarContext
    answer: Answer

    def printed(self, decoding: Decoding) -> str:
        """The answer as the rung writes it."""
        if decoding.layout == "any":
            return json.dumps(self.answer)
        typed = decoding.excludes.typed
        actions = self.situation.actions
        printer = Printer(decoding.layout, actions, as_staged=typed)
        return printer.answer(self.answer)


DF, PF = test_typed.DOMAIN, test_typed.PROBLEM_FILE
FOR_DOMAIN = replace(test_typed.SCENE, domain=DF)
FIRST_ROOM = test_edits.edit(add=["attic - room"], init_add=["(at attic)"])
SMALL_KITCHEN = GrammarContext(names=Names(things=("fridge", "red potato", "knife")))
PERFECT = {
    perfect.form.name: perfect
    for perfect in (
        Perfect(PDDL, test_typed.SCENE, {"df": DF, "pf": PF}),
        Perfect(DOMAIN, test_typed.SCENE, {"df": DF}),
        Perfect(PROBLEM, FOR_DOMAIN, {"pf": PF}),
        Perfect(EDIT, test_edits.SCENE, FIRST_ROOM),
        Perfect(forms.COMMAND, contexts.ROOM, {"action": "go to drawer 1"}),
        Perfect(forms.MOVE, contexts.ROOM, {"kind": "act", "text": "examine mug 3"}),
        Perfect(forms.SEEN, SMALL_KITCHEN, {"closed": [], "items": ["knife"]}),
        Perfect(forms.GOALS, contexts.HOUSE, {"goals": ["find the coin"]}),
        Perfect(forms.TEXT, contexts.HOUSE, {"text": "The coin is in the kitchen."}),
        Perfect(forms.choice(3), contexts.HOUSE, {"reason": "near", "number": 2}),
    )
}
MOST_WORDS = 12  # ten names, a dash and a type: the longest line under "syntax"
LIKINGS = ((0, 0.3), (2, 0.3), (4, 3.0), (8, 3.0))
"""Seeds and spreads of random models. Those with strong likings repeat themselves, and
are rolled back about ten times in an answer.
"""
PAIRS = [(rung, form) for rung in CONSTRAINED for form in ladder.LADDER]


def departure(rung: RungName, perfect: Perfect, text: str, layout: Layout) -> str:
    decoding = Decoding(rung=rung, layout=layout)
    constraint = ladder.constraint_for(decoding, perfect.form, perfect.situation)
    return place_of_departure(constraint, text)


@functools.cache
def random_answers(rung: RungName, form: str) -> list[tuple[str, Answer]]:
    """A few answers of random weights that came to their end, and what is read."""
    perfect, found = PERFECT[form], []
    decoding = Decoding(rung=rung, max_tokens=3000)
    question = Question(perfect.form, (), perfect.situation)
    for seed in range(3):
        model, sampling = RandomLogits(seed), decoding.sampling(seed)
        ((drawn, answer),) = draw_answers(model, question, decoding, sampling)
        if answer.value:
            found.append((drawn.completion.text, answer.value.model_dump()))
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("rung", "form"), PAIRS)
def test_a_perfect_answer_is_in_the_language(
    rung: RungName, form: str, layout: Layout
) -> None:
    perfect = PERFECT[form]
    text = perfect.printed(Decoding(rung=rung, layout=layout))
    assert departure(rung, perfect, text, layout) == ""


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rung", ["signatures", "typed"])
def test_an_action_without_parameters_is_in_the_language(
    rung: RungName, layout: Layout
) -> None:
    domain = (
        "(define (domain d) (:requirements :strips :typing) (:types room - object)"
        " (:predicates (done)) (:action rest :parameters () :effect (done)))"
    )
    resting = GrammarContext(actions=(Action("rest", "()", "rest"),))
    perfect = Perfect(DOMAIN, resting, {"df": domain})
    text = perfect.printed(Decoding(rung=rung, layout=layout))
    assert departure(rung, perfect, text, layout) == ""


@pytest.mark.parametrize(("rung", "form"), PAIRS[len(ladder.LADDER) :])
def test_a_rung_contains_the_next(rung: RungName, form: str) -> None:
    below = RUNGS[RUNGS.index(rung) - 1]
    for text, answer in random_answers(rung, form):
        lines = answer["objects"]["add"] if form == "edit" else []
        if any(len(line.split()) > MOST_WORDS for line in lines):
            continue  # lines with objects that are there may be longer
        why = departure(below, PERFECT[form], text, "line")
        # The types of the actions are added to as many as the model may declare.
        assert not why or why.startswith("types: after"), (why, text)


@pytest.mark.parametrize("layout", ["line", "lines"])
@pytest.mark.parametrize(("rung", "form"), PAIRS)
def test_printing_and_reading_agree(rung: RungName, form: str, layout: Layout) -> None:
    perfect = PERFECT[form]
    decoding = Decoding(rung=rung, layout=layout)
    text = perfect.printed(decoding)
    value = read_constrained(Completion(text, "stop", 1, 1, 0.0), perfect.form).value
    assert value
    again = replace(perfect, answer=value.model_dump())
    assert again.printed(decoding) == text


@pytest.mark.parametrize("layout", ["line", "lines"])
@pytest.mark.parametrize(("rung", "form"), PAIRS)
def test_other_blanks_leave_an_exact_layout(
    rung: RungName, form: str, layout: Layout
) -> None:
    text = PERFECT[form].printed(Decoding(rung=rung, layout=layout))
    for other in (text.replace(": ", ":"), text.replace("{", "{ ", 1)):
        assert departure(rung, PERFECT[form], other, layout)


@pytest.mark.parametrize(("rung", "form"), PAIRS)
def test_a_cut_answer_is_a_beginning(rung: RungName, form: str) -> None:
    """No session takes it for an answer outside its grammar."""
    perfect = PERFECT[form]
    decoding = Decoding(rung=rung)
    question = Question(perfect.form, (), perfect.situation)
    for limit in (1, 5, 12):
        cut = replace(decoding.sampling(limit), max_tokens=limit)
        model = RandomLogits(limit)
        ((drawn, answer),) = draw_answers(model, question, decoding, cut)
        if drawn.completion.finish_reason != "stop":
            assert answer.value is None and answer.fault in ("truncated", "empty")
    constraint = ladder.constraint_for(decoding, perfect.form, perfect.situation)
    if not constraint.in_stages:
        text = perfect.printed(decoding)
        for end in range(1, len(text), 7):
            verdict = decoder_verdict(constraint.first_grammar, text[:end])
            assert verdict == "unfinished", text[:end]


@functools.cache
def first_context(environment: str) -> GrammarContext:
    """The situation after the first look of a real game."""
    game = compose_cell([f"environment={environment}"]).build("environment")
    with contextlib.closing(game):
        memory = (Turn("look around", game.reset(3).text),)
        return GrammarContext(game.actions, game.names(memory), domain=game.domain)


@pytest.mark.parametrize("form", [PDDL, PROBLEM], ids=lambda form: form.name)
@pytest.mark.parametrize("rung", TYPED)
@pytest.mark.parametrize(
    "environment", ["coin", "cooking_hard", "alfworld", "described"]
)
def test_a_finished_answer_is_accepted_by_the_planner(
    environment: str, rung: RungName, form: Form[Any], planner: FastDownward
) -> None:
    situation, finished = first_context(environment), 0
    decoding = Decoding(rung=rung, goal="unmet", max_tokens=3000)
    question = Question(form, (), situation)
    for likings, spread in LIKINGS:
        model = RandomLogits(likings, spread)
        sampling = decoding.sampling(likings)
        ((_, answer),) = draw_answers(model, question, decoding, sampling)
        if not answer.value:
            assert answer.fault == "truncated"
            continue
        finished += 1
        files = {"df": situation.domain} | answer.value.model_dump()
        domain, problem = files["df"], files["pf"]
        assert check(domain, problem).accepted
        assert planner.plan(domain, problem).outcome in ("solved", "unsolvable")
        names = situation.names.objects if rung == "grounded" else None
        given = form is PROBLEM
        knows = Knowledge(True, given, situation.actions, names)
        assert repair(domain, problem, knows).changes == ()
        if names is not None:
            assert set(objects_of(problem)) <= set(names)
    assert finished


@pytest.mark.parametrize("rung", TYPED)
def test_a_finished_edit_makes_a_right_problem_of_a_right_one(rung: RungName) -> None:
    scene, answers = test_edits.SCENE, random_answers(rung, "edit")
    for _, edit in answers:
        problem, faults, _ = apply(edit, scene.problem)
        assert faults == ()
        assert check(scene.domain, with_goal(problem, "(and)")).accepted
    assert answers


@pytest.mark.parametrize("rung", TYPED)
def test_a_finished_domain_takes_a_problem(rung: RungName) -> None:
    answers = random_answers(rung, "domain")
    for _, answer in answers:
        name = answer["df"].split("(domain ")[1].split(")")[0]
        problem = f"(define (problem p) (:domain {name}) (:init) (:goal (and)))"
        found = check(answer["df"], problem)
        assert found.accepted, found.faults
    assert answers
