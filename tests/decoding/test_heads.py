"""Stages that begin with forced text: in the grammar, in the record, and in a finished
text.
"""

import json

import pytest

from pddlego_local.core.errors import GrammarIgnored, ModelFault
from pddlego_local.core.nouns import Grammar, Sampling
from pddlego_local.decoding.grammars.lark_text import decoder_verdict, validate
from pddlego_local.decoding.session import (
    Constraint,
    Stage,
    Stages,
    at_once,
    place_of_departure,
    with_prefix_in_grammar,
)
from pddlego_local.episode.drawing import draw
from tests.decoding.on_rung import constraint_for
from tests.episode.test_drawing import Dictated
from tests.models.staging import HEADS
from tests.questions import QUESTION

HEAD = 'say "\\n\n\té/'


def test_a_head_in_the_grammar_is_just_that_text() -> None:
    syntax = constraint_for("syntax").first_grammar
    stage = with_prefix_in_grammar(
        Stage("all", syntax, rollback_chars=3, forced_prefix=HEAD)
    )
    assert (stage.forced_prefix, stage.rollback_chars) == ("", 3)
    validate(stage.grammar)
    problem = "(define (problem p) (:domain d) (:init) (:goal (a)))"
    text = json.dumps({"df": "(define (domain d))", "pf": problem})
    assert decoder_verdict(syntax, text) == "accepted"
    assert decoder_verdict(stage.grammar, HEAD + text) == "accepted"
    assert decoder_verdict(stage.grammar, HEAD) == "unfinished"
    assert decoder_verdict(stage.grammar, HEAD.upper() + text) == "rejected"
    assert decoder_verdict(stage.grammar, text) == "rejected"


def test_a_text_leaves_the_language_in_a_head_too() -> None:
    whole = Constraint("one", _one_stage)
    assert place_of_departure(whole, "(a b)") == ""
    assert place_of_departure(whole, "(A b)") == "only: after '(' comes 'A b)'"
    assert place_of_departure(whole, "(a 7)") == "only: after '(a ' comes '7)'"
    assert place_of_departure(whole, "(a b))") == "the answer goes on after its end"


def _one_stage() -> Stages:
    yield Stage(
        "only", Grammar("only", "lark", 'start: " " /[a-z]/ ")"'), forced_prefix="(a"
    )


def test_a_character_that_the_limit_cut_is_no_fault() -> None:
    word = at_once(Grammar("word", "lark", "start: /[a-zé]{5}/"))
    word.begin().accept("caf\ufffd", ended=False)
    for other in ("CAF\ufffd", "caf\ufffdé", "caf\ufffd\ufffd\ufffd\ufffd"):
        with pytest.raises(GrammarIgnored):
            word.begin().accept(other, ended=False)


@pytest.mark.parametrize(
    ("second", "error"), [(' 1 x)"}', GrammarIgnored), (" 1 2", ModelFault)]
)
def test_a_stage_is_looked_at_behind_its_head(
    second: str, error: type[Exception]
) -> None:
    whole = Constraint("heads", _two_stages)
    with pytest.raises(error, match="he stage 'rest'"):
        draw(Dictated([" room))", second]), QUESTION, whole, Sampling(), {})


def _two_stages() -> Stages:
    """As `HEADS`, without a look at what is sent."""
    stages = HEADS.stages()
    text = yield next(stages)
    yield stages.send(text)
