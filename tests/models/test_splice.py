"""The seam between drawn tokens and forced text: spelled as the whole text would be."""

import random
import tarfile

import pytest
import tokenizers

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Prefix
from pddlego_local.models.random import cached_random_llama
from pddlego_local.models.splice import HEALED_TOKENS, LocalTokenizer, splice
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
        return LocalTokenizer(
            name, tokenizers.Tokenizer.from_str(content.read().decode())
        )


def test_what_servers_are_asked_to_spell_comes_back(tokenizer: LocalTokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode(PROBE)) == PROBE


def test_a_head_merges_with_what_was_drawn(tokenizer: LocalTokenizer) -> None:
    """Wherever a text is cut that ends as forced text may: before a blank or a
    quote.
    """
    cuts = [
        n
        for n in range(5, len(ANSWER))
        if ANSWER[n] in ' "' and ANSWER[n - 1] not in ' "\\'
    ]
    for cut in cuts:
        drawn = tokenizer.encode(ANSWER[:cut])
        found = splice(
            Prefix(ANSWER[:cut], (1,), drawn, forced_prefix=ANSWER[cut:]), tokenizer
        )
        assert found.tokens == tokenizer.encode(ANSWER)
        assert found.forced == len(found.tokens) - len(drawn)


def test_what_stands_before_a_blank_stays_as_it_is(tokenizer: LocalTokenizer) -> None:
    """So that a head which ends there is spelled as the whole text is."""
    whole = tokenizer.encode(ANSWER)
    for cut in range(1, len(ANSWER)):
        if ANSWER[cut] == " " and ANSWER[cut - 1] not in " \\n":
            begun = tokenizer.encode(ANSWER[:cut])
            assert whole[: len(begun)] == begun, ANSWER[:cut]


def test_only_two_tokens_before_the_seam_are_read_again(
    tokenizer: LocalTokenizer,
) -> None:
    """A model may have drawn other tokens than usual; these stay its own."""
    drawn = tuple(token for letter in ANSWER for token in tokenizer.encode(letter))
    found = splice(
        Prefix(ANSWER, (1,), drawn, rollback_chars=4, forced_prefix=" a)"), tokenizer
    )
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
        found = splice(Prefix(text, (1,), drawn, drop, head), tokenizer)
        assert tokenizer.decode(found.tokens) == text[: len(text) - drop] + head
        assert (found.forced > 0) <= bool(head)


def test_a_head_that_cannot_be_spelled_is_told_of(tokenizer: LocalTokenizer) -> None:
    lower = tokenizers.Tokenizer.from_str(tokenizer.tokenizer.to_str())
    lower.normalizer = tokenizers.normalizers.Lowercase()
    poor = LocalTokenizer("poor/model", lower)
    drawn = poor.encode("(at hall")
    for drop in (0, 2):
        found = splice(Prefix("(at hall", (1,), drawn, drop, " kitchen)"), poor)
        assert poor.decode(found.tokens) == "(at hall"[: 8 - drop] + " kitchen)"
        with pytest.raises(
            ConfigError, match=r"poor/model cannot spell the text ' Kitchen\)'"
        ):
            splice(Prefix("(at hall", (1,), drawn, drop, " Kitchen)"), poor)
