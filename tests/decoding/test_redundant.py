"""What is merely redundant may be written, and is dropped when it is used."""

import json
from dataclasses import replace
from typing import Any, Literal

import pytest
from llguidance import LLMatcher
from llguidance.hf import from_tokenizer

from pddlego_local.core.nouns import Completion, Prefix, Sampling
from pddlego_local.core.resources import folder
from pddlego_local.decoding.forms import DOMAIN, EDIT, PROBLEM
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.session import Constraint, with_prefix_in_grammar
from pddlego_local.episode.drawing import draw_one
from pddlego_local.models.loading import load_tokenizer
from pddlego_local.pddl.check import check
from pddlego_local.pddl.edit import apply
from tests.decoding import test_edits, test_typed
from tests.decoding.on_rung import constraint_for
from tests.decoding.test_edits import edit, staged
from tests.episode.drawing import RandomLogits, Request
from tests.tables import table
from tools.bench.walk import stages_of

CASES = table(__file__)

LAYOUTS: tuple[Layout, ...] = ("any", "line")


def departure(written: Any, context: Any, rung: str = "typed") -> str:
    return test_edits.departure(written, rung, context)


REDUNDANT = {name: edit(**lists) for name, lists in CASES["redundant"].items()}


@pytest.mark.parametrize("name", REDUNDANT)
def test_an_edit_may_be_redundant(name: str) -> None:
    assert departure(REDUNDANT[name], test_edits.SCENE) == ""
    problem, faults, redundant = apply(REDUNDANT[name], test_edits.SCENE.problem)
    assert faults == ()
    assert redundant
    assert check(test_edits.SCENE.domain, problem).accepted


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("lines", "right", "wrong"),
    CASES["a_line_that_was_cut_says_no_other_type_of_what_is_there"],
)
def test_a_line_that_was_cut_says_no_other_type_of_what_is_there(
    lines: list[str], right: list[str], wrong: list[str], layout: Layout
) -> None:
    """The name that is declared again as something else is cut, the line before it
    stays.
    """
    stages = staged("typed", test_edits.SCENE, layout).stages()
    forced = next(stages).forced_prefix
    text = f'{forced} {{"add": {json.dumps(lines)}, "replace": {{}}, "delete": []}}'
    rest = stages.send(text if layout == "line" else '{"objects":' + text)
    for kind in (*right, *wrong):
        verdict = decoder_verdict(
            rest.grammar, f' - {kind}"], "replace": {{}}, "delete": []}}'
        )
        assert (verdict == "accepted") == (kind in right), kind


class Circling(RandomLogits):
    """Writes each of the texts where a stage can be, or begin, like it, up to the
    circle in it; whatever else is asked for is random.
    """

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self.left = list(texts)

    def answer_to(self, asked: Request) -> Completion:
        text, prefix = self.left[0] if self.left else "", asked.prefix
        verdict = decoder_verdict(asked.grammar, text)
        if not text or verdict == "rejected":
            return super().answer_to(asked)
        assert prefix and prefix.watch
        assert prefix.watch(text) == (verdict == "unfinished")
        ended: Literal["stop", "circle"] = "stop" if verdict == "accepted" else "circle"
        self.left.pop(0)
        return Completion(
            text, ended, 1, 100, 0.0, prefix=Prefix(prefix.continued + text)
        )


def finished(constraint: Constraint, *texts: str) -> str:
    """An answer in which these circles were broken off."""
    model = Circling(*texts)
    drawn = draw_one(model, (), constraint, Sampling(max_tokens=4000), {})
    assert not model.left
    assert drawn.completion.finish_reason == "stop"
    return drawn.completion.text


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("circles", "objects"),
    [
        (['{"add": ["hall - room", "hall - room", "hall - room"'], {"hall"}),
        (
            [
                '{"add": ["attic - room", "Loft - room",'
                ' "attic - room", "Loft - room", "attic - room"'
            ],
            {"attic", "Loft"},
        ),
        (['{"add": ["attic attic attic '], {"attic"}),
        (['{"add": [], "replace": {}, "delete": ["candle", "candle", "candle"'], set()),
    ],
)
def test_an_edit_goes_on_behind_a_circle(
    circles: list[str], objects: set[str], layout: Layout
) -> None:
    if layout == "any":
        circles = ['{"objects": ' + circles[0]]
    constraint = staged("typed", test_edits.SCENE, layout)
    # In an exact layout the first list begins with the stage, behind a head.
    written = finished(
        constraint, *(text if layout == "any" else " " + text for text in circles)
    )
    values = json.loads(written)
    assert objects <= {
        word for line in values["objects"]["add"] for word in line.split()
    }
    problem, faults, _ = apply(values, test_edits.SCENE.problem)
    assert faults == ()
    assert check(test_edits.SCENE.domain, problem).accepted


OBJECTS = " now) (:domain house) (:objects hall cellar - room candle - lamp)"


@pytest.mark.parametrize(
    ("circles", "kept"),
    CASES["a_problem_goes_on_behind_a_circle"],
)
def test_a_problem_goes_on_behind_a_circle(circles: list[str], kept: str) -> None:
    context = replace(test_typed.SCENE, domain=test_typed.DOMAIN)
    problem = json.loads(
        finished(constraint_for("typed", PROBLEM, context, "line"), *circles)
    )["pf"]
    assert kept in problem
    assert check(test_typed.DOMAIN, problem).accepted


@pytest.mark.parametrize(
    ("circles", "kept"),
    CASES["a_domain_goes_on_behind_a_circle"],
)
def test_a_domain_goes_on_behind_a_circle(circles: list[str], kept: str) -> None:
    domain = json.loads(
        finished(constraint_for("typed", DOMAIN, test_typed.SCENE, "line"), *circles)
    )["df"]
    assert kept in domain
    problem = "(define (problem p) (:domain house) (:objects) (:init) (:goal (and)))"
    assert check(domain, problem).accepted


def test_masks_of_an_edit_with_many_types_stay_within_the_engines_limits() -> None:
    """llguidance gives up, and ends an answer, where a text can be read in too many
    ways.
    """
    types = [f"kind{number}" for number in range(24)]
    declared = " ".join(f"{kind}x {kind}y - {kind}" for kind in types)
    facts = " ".join(f"(seen {kind}x)" for kind in types)
    context = GrammarContext(
        domain=(
            f"(define (domain d) (:types {' '.join(types)}) (:predicates (seen ?x)))"
        ),
        problem=(
            f"(define (problem p) (:domain d) (:objects {declared}) (:init {facts}))"
        ),
    )
    new = [f"thing{number} thong{number} - kind{number}" for number in range(10)]
    written = edit(
        add=[*new, "thing kind3x thang kind3y - kind3"], init_add=["(seen thing1)"]
    )
    tokenizer = from_tokenizer(load_tokenizer(folder("weights") / "nano_edit"))
    text = json.dumps(written)
    for stage, part in stages_of(constraint_for("typed", EDIT, context, "line"), text):
        grammar = with_prefix_in_grammar(stage).grammar
        assert grammar
        matcher = LLMatcher(
            tokenizer, LLMatcher.grammar_from_lark(grammar.text), log_level=0
        )
        for token in tokenizer.tokenize_str(part):
            matcher.compute_bitmask()
            assert matcher.consume_token(token), matcher.get_error()
        assert not matcher.is_error(), matcher.get_error()
