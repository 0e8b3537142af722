"""An answer counted as a decoder writes it: nothing is lost, and what counts as forced is."""

from dataclasses import replace

import pytest
from llguidance import LLMatcher, LLTokenizer

from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Layout, Printer
from pddlego_local.decoding.rungs import GoalArm
from pddlego_local.models.random import cached_random_llama
from tools.bench.likelihood import hanging
from tools.bench.played import Asked, played
from tools.bench.steps import LAYOUTS, Text, engine_of, steps_of
from tools.bench.walk import stages_of, tokens_of


@pytest.fixture(scope="module")
def asked() -> Asked:
    return list(played("coin", [0]))[-1]


@pytest.fixture(scope="module")
def engine() -> LLTokenizer:
    return engine_of(cached_random_llama(0) / "tokenizer.json")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_heads_and_tokens_spell_the_answer(
    asked: Asked, engine: LLTokenizer, layout: Layout
) -> None:
    text = Text((), asked.question.scene, asked.answer)
    spelled = ""
    for stage, piece in text.stages(layout):
        tokens = [token.number for token in tokens_of(engine, stage, piece)]
        spelled += stage.head + engine.decode_str(tokens)
    assert spelled == text.in_layout(layout)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_mask_permits_a_forced_token_and_no_other(
    asked: Asked, engine: LLTokenizer, layout: Layout
) -> None:
    forced = 0
    for stage, piece in Text((), asked.question.scene, asked.answer).stages(layout):
        assert stage.grammar
        matcher = LLMatcher(engine, LLMatcher.grammar_from_lark(stage.grammar.text), log_level=0)
        for token in tokens_of(engine, stage, piece):
            permitted = [number for number, bias in enumerate(matcher.compute_logit_bias()) if bias]
            assert token.number in permitted
            assert not token.forced or len(permitted) == 1
            forced += token.forced
            matcher.consume_token(token.number)
    assert forced > 20


def test_a_layout_without_free_blanks_costs_fewer_steps(asked: Asked, engine: LLTokenizer) -> None:
    text = Text((), asked.question.scene, asked.answer)
    steps = steps_of(text, {"random": engine})["random"]
    assert steps["line, forced"] < steps["line"] < steps["any"]
    assert steps["any, forced"] < steps["any"]


@pytest.mark.parametrize(("rung", "goal", "most"), [("typed", "any", 5), ("grounded", "unmet", 6)])
def test_an_answer_of_the_reference_takes_few_requests(rung: str, goal: GoalArm, most: int) -> None:
    for one in played("coin", range(3), rung=rung):
        scene = replace(one.question.scene, goal=goal)
        constraint = constraint_for(rung, PDDL, scene, "line")
        assert constraint.in_stages
        printed = Printer("line", schemas=scene.actions, tight=True).answer(one.answer)
        assert len(stages_of(constraint, printed)) <= most


@pytest.mark.parametrize("key", ["df", "pf"])
def test_brackets_on_lines_of_their_own_say_the_same(asked: Asked, key: str) -> None:
    printer = Printer("lines", tight=True)
    printed = printer.file(asked.answer[key])
    assert hanging(printed).count("\n") > printed.count("\n")
    assert printer.file(hanging(printed)) == printed
