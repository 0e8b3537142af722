"""A game played from outside, by commands and by answers. tests/rewards.py has whole
games.
"""

import re
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy
import pytest

from pddlego_local import Game
from pddlego_local.core.errors import ConfigError, EnvironmentFault
from pddlego_local.environments.textworld_express import game as express
from tests.rewards import WRONG_FILES, rows
from tests.tables import table
from tests.worlds import plant_worlds

CASES = table(__file__)

COIN: dict[str, Any] = {"environment": "coin", "environment__rooms": 5}


@pytest.fixture(scope="module")
def coin() -> Iterator[Game]:
    game = Game(**COIN)
    yield game
    game.close()


def test_a_won_game_is_over_until_the_next_reset() -> None:
    won = [row for row in rows() if row.outcome == "success"]
    row = next(row for row in won if row.options.get("method") == "pddl_edit")
    game = Game(**row.options)
    prompt, info = game.reset(row.game)
    assert "Write the changes" in prompt
    assert info["map"]
    assert not info["outcome"]
    *before, last = [game.step(answer) for answer in row.texts]
    assert not any(terminated or truncated for *_, terminated, truncated, _ in before)
    observation, _, terminated, truncated, info = last
    assert "coin" in observation
    assert terminated
    assert not truncated
    assert info["outcome"] == "success"
    with pytest.raises(ConfigError, match=r"progress \(success\): call reset"):
        game.step("look around")
    game.close()


@pytest.mark.parametrize(
    ("answer", "reached"),
    [
        (WRONG_FILES[0], ()),
        (WRONG_FILES[1], ("read",)),
        (WRONG_FILES[2], ("read", "accepted")),
        (WRONG_FILES[3], ("read", "accepted", "planned")),
    ],
)
def test_an_answer_earns_the_callers_rewards_as_far_as_it_goes(
    answer: str, reached: tuple[str, ...]
) -> None:
    rewards = {"read": 1.0, "accepted": 10.0, "planned": 100.0}
    game = Game(actions="pddl", method="pddlego_plus", rewards=rewards, **COIN)
    game.reset(7)
    _, reward, _, _, info = game.step(answer)
    assert info["reached"] == reached
    assert info["fault"]
    assert reward == sum(rewards[name] for name in reached)
    game.close()


def test_a_budget_truncates_and_a_refused_command_is_told() -> None:
    short = Game(environment__budget__limit=2, **COIN)
    short.reset(7)
    _, _, terminated, truncated, info = short.step("dance")
    assert not terminated
    assert not truncated
    assert "not a valid action" in info["fault"]
    _, _, terminated, truncated, info = short.step("look around")
    assert terminated is False
    assert truncated is True
    assert info["outcome"] == "step_limit"
    short.close()


def test_a_game_that_is_left_does_not_linger(coin: Game) -> None:
    threads = threading.active_count()
    for number in range(20):
        coin.reset(number)
    assert threading.active_count() <= threads + 1
    assert coin.reset(7) == coin.reset(7)


def test_a_wrong_seed_or_text_is_refused_and_a_dead_java_process_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(express, "_gateway", None)  # other games keep their process
    game = Game(**COIN)
    shown, _ = game.reset(numpy.int64(7))
    with pytest.raises(ConfigError, match="has no game -1; its games are 0 to"):
        game.reset(-1)
    with pytest.raises(ConfigError, match="not None"):
        game.step(None)  # type: ignore[arg-type]
    express._java().shutdown()
    with pytest.raises(EnvironmentFault, match="Java process failed in stepJSON"):
        game.step("look around")
    assert game.reset(7)[0] == shown
    game.close()


def test_seeds_to_train_and_to_evaluate_on_share_no_map(coin: Game) -> None:
    maps = {}
    for part in ("train", "eval"):
        seeds = list(islice(getattr(coin, f"{part}_seeds"), 10))
        assert seeds == sorted(set(seeds))
        maps[part] = {coin.reset(seed)[1]["map"] for seed in seeds}
    assert not maps["train"] & maps["eval"]


def test_a_folder_with_few_worlds_has_these_games(tmp_path: Path) -> None:
    plant_worlds(tmp_path, 2)
    game = Game(
        environment="described",
        environment__folder=tmp_path,
        method="formalizer",
        actions="pddl",
    )
    assert game.seeds == range(2)
    assert game.reset(0)[0] != game.reset(1)[0]
    with pytest.raises(ConfigError, match="has no game 2; its games are 0 to 1"):
        game.reset(2)
    assert game.step("no files")[4]["outcome"] == "solver_abort"
    game.close()


@pytest.mark.parametrize(
    ("options", "said"),
    CASES["mistakes_are_named"],
)
def test_mistakes_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Game(**options)


def test_the_examples_of_the_page_run() -> None:
    page = Path(__file__).parents[2] / "docs" / "use" / "games.md"
    blocks = re.findall(
        r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S
    )
    first, _, with_gymnasium = blocks  # the second is in test_mask.py
    found: dict[str, Any] = {}
    exec(f"{with_gymnasium}env.close()\n{first}", found)
    assert found["info"]["fault"] == "placeholder"
    assert not found["terminated"]
