"""The masks of a `Game`: whoever samples under them writes an answer of the rung."""

import contextlib
import random
import re
from pathlib import Path
from typing import Any

import pytest
import transformers
from llguidance import LLTokenizer
from llguidance.hf import from_tokenizer

import pddlego_local
from pddlego_local import Game
from pddlego_local.api.game import Info
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


def sampled(
    game: Game, spelling: Any, tokenizer: LLTokenizer, seed: int
) -> tuple[str, int, int]:
    """An answer of a policy that knows nothing; how many tokens, and how often text was
    taken back or added.
    """
    chance, text, count, changed = random.Random(seed), "", 0, 0
    while (allowed := game.mask(text, tokenizer)).tokens is not None:
        changed += allowed.text != text
        token = chance.choice(allowed.tokens.nonzero()[0].tolist())
        text, count = allowed.text + str(spelling.decode([token])), count + 1
    return allowed.text, count, changed


@pytest.mark.parametrize("rung", ["syntax", "typed", "grounded"])
@pytest.mark.parametrize("layout", ["any", "line"])
def test_a_random_policy_writes_answers_of_the_rung(
    rung: str, layout: str, spelling: Any, tokenizer: LLTokenizer
) -> None:
    with contextlib.closing(
        Game(actions="pddl", decoding=rung, decoding__layout=layout, **COIN)
    ) as game:
        infos, changes = list[Info](), 0
        for seed in (1, 3, 4):
            game.reset(seed)
            text, count, changed = sampled(game, spelling, tokenizer, seed)
            assert count > 10
            changes += changed
            *_, info = game.step(text)
            infos.append(info)
    assert all("read" in info["reached"] for info in infos)
    if rung != "syntax":  # which knows no declarations
        assert all("accepted" in info["reached"] for info in infos)
        assert changes > 0 or layout == "any"


def test_what_was_not_written_to_its_end_under_the_masks_is_cut(
    tokenizer: LLTokenizer,
) -> None:
    with contextlib.closing(Game(actions="pddl", decoding="typed", **COIN)) as game:
        game.reset(1)
        begun = game.mask("", tokenizer).text
        *_, info = game.step(begun + '{"objects":')
        assert info["fault"] == "truncated" and info["reached"] == ()


def test_a_text_that_the_rung_does_not_allow_is_refused(tokenizer: LLTokenizer) -> None:
    with contextlib.closing(Game(actions="pddl", decoding="typed", **COIN)) as game:
        with pytest.raises(ConfigError, match="no answer to constrain"):
            game.mask("", tokenizer)
        game.reset(1)
        begun = game.mask("", tokenizer).text
        with pytest.raises(ConfigError, match="does not allow"):
            game.mask(begun + "Sure! Here", tokenizer)
        assert game.mask("", tokenizer).text == begun  # anew


def test_a_game_without_masks_says_so(tokenizer: LLTokenizer) -> None:
    with contextlib.closing(Game(actions="pddl", **COIN)) as game:
        game.reset(1)
        with pytest.raises(ConfigError, match="a decoding with a grammar"):
            game.mask("", tokenizer)
    with contextlib.closing(Game(environment="coin")) as game:
        game.reset(1)
        with pytest.raises(ConfigError, match="actions='pddl'"):
            game.mask("", tokenizer)


def test_the_example_of_the_page_samples_an_answer(spelling: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "use" / "games.md").read_text(
        encoding="utf-8"
    )
    _, block, _ = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    chance = random.Random(0)

    def sample(prompt: str, text: str, allowed: Any) -> str:
        return str(spelling.decode([chance.choice(allowed.nonzero()[0].tolist())]))

    found: dict[str, Any] = {
        "pddlego": pddlego_local,
        "policy_tokenizer": spelling,
        "sample": sample,
    }
    exec(block, found)
    assert "accepted" in found["info"]["reached"]


def test_another_token_may_take_the_place_of_the_last(
    spelling: Any, tokenizer: LLTokenizer
) -> None:
    with contextlib.closing(Game(actions="pddl", decoding="typed", **COIN)) as game:
        game.reset(1)
        text, allowed = game.mask("", tokenizer)
        assert allowed is not None
        ways = [
            text + str(spelling.decode([token])) for token in allowed.nonzero()[0][:2]
        ]
        first = [game.mask(way, tokenizer) for way in ways]
        again = [game.mask(way, tokenizer) for way in ways]
    assert [one.text for one in first] == [one.text for one in again]
    for one, other in zip(first, again, strict=True):
        assert one.tokens is not None and (one.tokens == other.tokens).all()
