"""Slices make masks cheaper and change none."""

import re

import pytest
import torch
from llguidance import LLMatcher, LLTokenizer
from llguidance.hf import from_tokenizer
from llguidance.torch import allocate_token_bitmask, fill_next_token_bitmask

from pddlego_local.core.resources import folder
from pddlego_local.decoding.grammars.lark_text import load
from pddlego_local.decoding.layout import Layout
from pddlego_local.models.forced_runs import WORD, with_word_slices
from tools.bench.large_vocabulary import large_tokenizer

ANSWER = (
    '{"df": "(define (domain house) (:requirements :strips :typing) (:types room) (:predicates '
    "(at ?r - room)) (:action move :parameters (?a - room) :precondition (at ?a) :effect (not (at "
    '?a))))", "pf": "(define (problem p) (:domain house) (:objects living-room - room) (:init (at '
    'living-room)) (:goal (at living-room)))"}'
)


@pytest.mark.parametrize("layout", ["any", "line"])
def test_masks_are_the_same_with_and_without(layout: Layout) -> None:
    plain = from_tokenizer(large_tokenizer(), slices=[])
    grammar = LLMatcher.grammar_from_lark(load("syntax", layout).text)
    sliced = with_word_slices(plain)
    without, with_ = (LLMatcher(tokenizer, grammar) for tokenizer in (plain, sliced))
    tokens = plain.tokenize_str(ANSWER)
    for token in tokens:
        assert torch.equal(_mask(without, plain), _mask(with_, sliced))
        assert without.consume_token(token) and with_.consume_token(token)
    assert with_.is_accepting()


def _mask(matcher: LLMatcher, tokenizer: LLTokenizer) -> torch.Tensor:
    bitmask = allocate_token_bitmask(1, tokenizer.vocab_size)
    fill_next_token_bitmask(matcher, bitmask)
    return bitmask


def test_the_server_has_the_same_words() -> None:
    plugin = (folder("serving") / "lean.py").read_text()
    assert re.findall(r'^WORD = r"(.+)"$', plugin, re.M) == [WORD]
