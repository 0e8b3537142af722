"""What the plugin of every server leaves out is not missed."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Grammar, Prefix, Sampling
from pddlego_local.models.vllm.answer import Answers, TextChoice
from pddlego_local.models.vllm.model import VllmModel
from tests.models.asking import PROMPT, TOY
from tests.models.family_tokenizers import of_bytes, of_sentence_pieces, of_tekken
from tests.serving.served import told_by_vllm

BROKEN = Grammar("broken", "lark", "start: missing")
SAMPLING = Sampling(max_tokens=60, seed=3)


def test_a_continued_answer_has_its_own_tokens_and_not_the_prompts(
    model: VllmModel,
) -> None:
    body = {
        "prompt": [5, 6, 7],
        "max_tokens": 4,
        "return_token_ids": True,
        "ignore_eos": True,
    }
    kind = Answers[TextChoice]
    said = model.start().connection.answer("completions", body, kind, lambda: 4)
    assert said.prompt_token_ids is None and said.usage.prompt_tokens == 3
    assert len(said.choices[0].drawn) == 4


def test_a_grammar_that_does_not_compile_fails_its_request_alone(
    model: VllmModel,
) -> None:
    """Even where no client looked at it before: no empty answer comes of it."""
    begun = model.complete(PROMPT, TOY, SAMPLING, Prefix()).prefix
    client = model.start()

    def ask(grammar: Grammar) -> str:
        return client.complete(PROMPT, grammar, SAMPLING, begun).text

    alone = ask(TOY)
    with ThreadPoolExecutor(12) as pool:
        broken = [pool.submit(ask, BROKEN) for _ in range(4)]
        whole = [pool.submit(ask, TOY) for _ in range(8)]
    for request in broken:
        with pytest.raises(ModelFault):
            request.result()
    assert {request.result() for request in whole} == {alone}


@pytest.mark.parametrize("family", [of_bytes, of_sentence_pieces, of_tekken])
def test_texts_are_those_that_vllm_spells_token_by_token(
    family: Callable[[Path, int], Any], tmp_path: Path
) -> None:
    """Halves of characters and control tokens among them."""
    tokenizer = family(tmp_path, 2_000)
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    chance = random.Random(3)
    text = Path(__file__).read_text(encoding="utf-8")
    words = tokenizer.encode(text, add_special_tokens=False)
    odd = tokenizer.encode("日本 🎉 naïve\x00 ﷽  𓂀 " * 3, add_special_tokens=False)
    any_token = range(len(tokenizer))
    answers = []
    for end in range(1, len(odd)):
        answers += [odd[:end], odd[end:]]
    for tokens in (odd, words, any_token):
        answers += [chance.choices(tokens, k=30) for _ in range(40)]
    for begin in range(0, 900, 90):
        answers.append(words[begin : begin + 90])
    mixed = [*words[:40], *chance.choices(any_token, k=9), words[7]]
    given = {
        "tokenizer": str(tmp_path / "tokenizer"),
        "prompts": [words[:600], words[:3], mixed],
        "answers": answers,
    }
    number, different = told_by_vllm("spelled_by_vllm.py", given)
    assert number > 1000 and not different


def test_vllm_has_every_inner_name_that_the_plugins_use() -> None:
    assert told_by_vllm("names_of_vllm.py") == []


def test_masks_are_those_that_vllm_fills_one_by_one() -> None:
    number, different = told_by_vllm("masks_by_vllm.py")
    assert number > 1000 and not different
