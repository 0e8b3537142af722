"""The masks of a `Game`: whoever samples under them writes an answer of the rung."""

import random
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import transformers
from llguidance import LLTokenizer
from llguidance.hf import from_tokenizer

import pddlego_local
from pddlego_local import Game
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.resources import folder

COIN: dict[str, Any] = {
    "environment": "coin",
    "environment__rooms": 5,
    "method": "pddl_edit",
}


@pytest.fixture(scope="module")
def spelling() -> Any:
    return transformers.AutoTokenizer.from_pretrained(folder("weights") / "nano_edit")


@pytest.fixture(scope="module")
def tokenizer(spelling: Any) -> LLTokenizer:
    return from_tokenizer(spelling)


@pytest.fixture(scope="module")
def typed() -> Iterator[Game]:
    with closing(Game(actions="pddl", decoding="typed", **COIN)) as game:
        yield game


class Policy:
    """Knows nothing, and writes an answer under the masks of a game.

    `tokens` counts its tokens, and `changes` how often text was taken back or added.
    """

    def __init__(self, spelling: Any, seed: int) -> None:
        self._spelling = spelling
        self._chance = random.Random(seed)
        self.tokens = 0
        self.changes = 0

    def token(self, allowed: Any) -> str:
        number = self._chance.choice(allowed.nonzero()[0].tolist())
        return str(self._spelling.decode([number]))

    def answer(self, game: Game, tokenizer: LLTokenizer) -> str:
        text = ""
        while True:
            allowed = game.mask(text, tokenizer)
            if allowed.tokens is None:
                return allowed.text
            if allowed.text != text:
                self.changes += 1
            text = allowed.text + self.token(allowed.tokens)
            self.tokens += 1


@pytest.mark.parametrize("rung", ["syntax", "typed", "grounded"])
@pytest.mark.parametrize("layout", ["any", "line"])
def test_a_random_policy_writes_answers_of_the_rung(
    rung: str, layout: str, spelling: Any, tokenizer: LLTokenizer
) -> None:
    options = {"decoding": rung, "decoding__layout": layout, **COIN}
    changes = 0
    with closing(Game(actions="pddl", **options)) as game:
        for seed in (1, 3, 4):
            game.reset(seed)
            policy = Policy(spelling, seed)
            *_, info = game.step(policy.answer(game, tokenizer))
            assert policy.tokens > 10
            assert "read" in info["reached"]
            if rung != "syntax":  # which knows no declarations
                assert "accepted" in info["reached"]
            changes += policy.changes
    assert changes > 0 or layout == "any" or rung == "syntax"


def test_what_was_not_written_to_its_end_under_the_masks_is_cut(
    typed: Game, tokenizer: LLTokenizer
) -> None:
    typed.reset(1)
    begun = typed.mask("", tokenizer).text
    *_, info = typed.step(begun + '{"objects":')
    assert info["fault"] == "truncated"
    assert info["reached"] == ()


def test_a_text_that_the_rung_does_not_allow_is_refused(
    typed: Game, tokenizer: LLTokenizer
) -> None:
    typed.close()
    with pytest.raises(ConfigError, match="no answer to constrain"):
        typed.mask("", tokenizer)
    typed.reset(1)
    begun = typed.mask("", tokenizer).text
    with pytest.raises(ConfigError, match="does not allow"):
        typed.mask(begun + "Sure! Here", tokenizer)
    assert typed.mask("", tokenizer).text == begun  # anew


@pytest.mark.parametrize("options", [{"actions": "pddl"}, {"decoding": "typed"}])
def test_a_game_without_masks_says_so(
    options: dict[str, Any], tokenizer: LLTokenizer
) -> None:
    with closing(Game(**options, **COIN)) as game:
        game.reset(1)
        with pytest.raises(ConfigError, match=r"actions='pddl', a decoding with a gra"):
            game.mask("", tokenizer)


def test_the_example_of_the_page_samples_an_answer(spelling: Any) -> None:
    page = Path(__file__).parents[2] / "docs" / "use" / "games.md"
    blocks = re.findall(
        r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S
    )
    policy = Policy(spelling, seed=0)
    found: dict[str, Any] = {
        "pddlego": pddlego_local,
        "policy_tokenizer": spelling,
        "sample": lambda prompt, text, allowed: policy.token(allowed),
    }
    exec(blocks[1], found)
    assert "accepted" in found["info"]["reached"]


def test_another_token_may_take_the_place_of_the_last(
    typed: Game, spelling: Any, tokenizer: LLTokenizer
) -> None:
    typed.reset(1)
    policy = Policy(spelling, seed=0)
    text, allowed = typed.mask("", tokenizer)
    while allowed is not None and allowed.sum() < 2:
        text, allowed = typed.mask(text + policy.token(allowed), tokenizer)
    assert allowed is not None
    tokens = allowed.nonzero()[0][:2]
    ways = [text + str(spelling.decode([token])) for token in tokens]
    before = [typed.mask(way, tokenizer) for way in ways]
    again = [typed.mask(way, tokenizer) for way in ways]
    for once, twice in zip(before, again, strict=True):
        assert once.text == twice.text
        assert once.tokens is not None
        assert (once.tokens == twice.tokens).all()
