"""The seam between drawn tokens and forced text: spelled as the whole text would be."""

import random
import tarfile

import pytest
import tokenizers

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Prefix
from pddlego_local.models.random import cached_random_llama
from pddlego_local.models.splice import (
    HEALED_TOKENS,
    LocalTokenizer,
    Splice,
    Tokenizer,
    splice,
)
from pddlego_local.models.vllm.tokenizer import PROBE
from tests.models.families import TOKENIZERS

NAMES = ["random", "qwen3", "llama3_1", "deepseek_v3", "smollm2"]
ANSWER = (
    '{"df": "(define (domain house) (:requirements :strips :typing) (:types location'
    " direction) (:predicates (at ?l - location) (closed-door ?from ?to - location ?d2"
    " - direction)) (:action move :parameters (?from ?to - location) :precondition (and"
    ' (at ?from)) :effect (and (not (at ?from)) (at ?to))))", "pf": "(define (problem'
    " p) (:domain house)\\n  (:objects kitchen living_room behind_kitchen_south mug1 -"
    ' location)\\n  (:init)\\n)"}'
)


@pytest.fixture(scope="module", params=NAMES)
def tokenizer(request: pytest.FixtureRequest) -> LocalTokenizer:
    name = str(request.param)
    if name == "random":
        found = LocalTokenizer.of(name, cached_random_llama(0))
        assert found
        return found
    archive = TOKENIZERS / f"{name}.tar.xz"
    if not archive.is_file():
        pytest.skip(f"no {archive}")
    with tarfile.open(archive) as files:
        member = next(file for file in files if file.name.endswith("tokenizer.json"))
        content = files.extractfile(member)
        assert content
        text = content.read().decode()
    return LocalTokenizer(name, tokenizers.Tokenizer.from_str(text))


def spliced(
    tokenizer: Tokenizer, text: str, tokens: tuple[int, ...], drop: int, head: str
) -> Splice:
    """`tokens` spell the text; its last `drop` characters go, and `head` comes."""
    prefix = Prefix(text, (1,), tokens, rollback_chars=drop, forced_prefix=head)
    return splice(prefix, tokenizer)


def test_what_servers_are_asked_to_spell_comes_back(tokenizer: LocalTokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode(PROBE)) == PROBE


def test_a_head_merges_with_what_was_drawn(tokenizer: LocalTokenizer) -> None:
    """Wherever a text is cut that ends as forced text may: before a blank or a
    quote.
    """
    whole = tokenizer.encode(ANSWER)
    for cut in range(5, len(ANSWER)):
        before, after = ANSWER[cut - 1], ANSWER[cut]
        if after not in ' "' or before in ' "\\':
            continue
        begun = ANSWER[:cut]
        drawn = tokenizer.encode(begun)
        found = spliced(tokenizer, begun, drawn, 0, ANSWER[cut:])
        assert found.tokens == whole
        assert found.forced == len(whole) - len(drawn)


def test_only_two_tokens_before_the_seam_are_read_again(
    tokenizer: LocalTokenizer,
) -> None:
    """A model may have drawn other tokens than usual; these stay its own."""
    drawn = tuple(token for letter in ANSWER for token in tokenizer.encode(letter))
    found = spliced(tokenizer, ANSWER, drawn, 4, " a)")
    assert tokenizer.decode(found.tokens) == ANSWER[:-4] + " a)"
    kept = len(drawn) - 4 - HEALED_TOKENS
    assert found.tokens[:kept] == drawn[:kept]
    assert len(found.tokens) - kept < 4 + HEALED_TOKENS


@pytest.mark.parametrize("text", [ANSWER, "Küche → 台所 🍳 " * 9, " a\n\n  b\t" * 9])
def test_any_rollback_leaves_the_text_that_was_asked_for(
    tokenizer: LocalTokenizer, text: str
) -> None:
    """Through the midst of a token, and of a character whose bytes are several
    tokens.
    """
    rng = random.Random(0)
    drawn = tokenizer.encode(text)
    for drop in [*range(1, 40), len(text) - 1, len(text)]:
        head = rng.choice(["", " room", "x", " - ", "é"])
        found = spliced(tokenizer, text, drawn, drop, head)
        assert tokenizer.decode(found.tokens) == text[: len(text) - drop] + head
        assert found.forced == 0 or head


def test_a_head_that_cannot_be_spelled_is_told_of(tokenizer: LocalTokenizer) -> None:
    lower = tokenizers.Tokenizer.from_str(tokenizer.tokenizer.to_str())
    lower.normalizer = tokenizers.normalizers.Lowercase()
    poor = LocalTokenizer("poor/model", lower)
    text = "(at hall"
    drawn = poor.encode(text)
    told = r"poor/model cannot spell the text ' Kitchen\)'"
    for drop in (0, 2):
        found = spliced(poor, text, drawn, drop, " kitchen)")
        assert poor.decode(found.tokens) == text[: 8 - drop] + " kitchen)"
        with pytest.raises(ConfigError, match=told):
            spliced(poor, text, drawn, drop, " Kitchen)")
