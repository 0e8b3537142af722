"""Slices make masks cheaper and change none."""

import json
from collections.abc import Callable

import pytest
import torch
from llguidance import LLMatcher, LLTokenizer
from llguidance.hf import from_tokenizer
from llguidance.torch import allocate_token_bitmask, fill_next_token_bitmask

from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.grammars.builder import (
    FIRST_LETTERS,
    name_except,
    one_letter,
)
from pddlego_local.decoding.grammars.lark_text import load
from pddlego_local.decoding.layout import Layout, Printer
from pddlego_local.decoding.session import with_prefix_in_grammar
from tests.decoding.on_rung import constraint_for
from tests.models.test_vllm_settings import serving_module
from tools.bench.large_vocabulary import large_tokenizer
from tools.bench.played import played
from tools.bench.walk import stages_of

SLICES = serving_module("vllm_patches").word_slices(LLTokenizer.general_slices())
ANSWER = (
    '{"df": "(define (domain house) (:requirements :strips :typing) (:types room)'
    " (:predicates (at ?r - room)) (:action move :parameters (?a - room) :precondition"
    ' (at ?a) :effect (not (at ?a))))", "pf": "(define (problem p) (:domain house)'
    " (:objects living-room - room) (:init (at living-room)) (:goal (at"
    ' living-room)))"}'
)


def syntax(layout: Layout) -> list[tuple[str, str]]:
    return [(load("syntax", layout).text, ANSWER)]


def names(layout: Layout) -> list[tuple[str, str]]:
    """Some as long as they may be, some that begin as what is taken."""
    listed = f'start: T\nT: (" " {name_except(["number", "north"])}) ~ 0 .. 9 ")"\n'
    long = "a-name-that-has-nearly-forty-letters-of"
    return [(listed, f" {long} x9 {long}8 nor norths numb Number5 zed{'o' * 37})")]


def typed(layout: Layout) -> list[tuple[str, str]]:
    first = next(iter(played("coin", [1])))
    context, text = first.question.context, json.dumps(first.answer)
    if layout != "any":
        text = Printer(layout, schemas=context.actions, as_staged=True).answer(
            first.answer
        )
    constraint = constraint_for("typed", PDDL, context, layout)
    assert constraint.in_stages
    stages = stages_of(constraint, text)
    grammars = [(with_prefix_in_grammar(stage).grammar, part) for stage, part in stages]
    return [(grammar.text, part) for grammar, part in grammars if grammar]


@pytest.mark.parametrize("layout", ["any", "line"])
@pytest.mark.parametrize("rung", [syntax, names, typed])
def test_masks_are_the_same_with_and_without(
    rung: Callable[[Layout], list[tuple[str, str]]], layout: Layout
) -> None:
    plain = from_tokenizer(large_tokenizer(), slices=[])
    sliced = plain.with_slices(SLICES)
    for text, part in rung(layout):
        grammar = LLMatcher.grammar_from_lark(text)
        without, with_ = (
            LLMatcher(tokenizer, grammar) for tokenizer in (plain, sliced)
        )
        for token in plain.tokenize_str(part):
            assert torch.equal(_mask(without, plain), _mask(with_, sliced))
            assert without.consume_token(token) and with_.consume_token(token)
        assert with_.is_accepting()


def _mask(matcher: LLMatcher, tokenizer: LLTokenizer) -> torch.Tensor:
    bitmask = allocate_token_bitmask(1, tokenizer.vocab_size)
    fill_next_token_bitmask(matcher, bitmask)
    return bitmask


def test_there_is_a_slice_for_each_group_of_first_letters() -> None:
    for group in FIRST_LETTERS:
        begin = one_letter(frozenset(group))
        assert sum(text.strip().startswith(begin) for text in SLICES) == 2
    kept = [text for text in LLTokenizer.general_slices() if text in SLICES]
    assert len(kept) == len(LLTokenizer.general_slices()) - 1
