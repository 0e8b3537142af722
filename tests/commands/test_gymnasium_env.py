"""The ids that gymnasium knows, its own check of an environment, and several games at
once.
"""

import warnings

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from pddlego_local.core.errors import ConfigError

COIN = "pddlego_local.api.gymnasium_env:pddlego/Coin-v0"


def test_gymnasiums_own_check_finds_nothing() -> None:
    env = gymnasium.make(COIN, environment__rooms=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_a_seed_is_a_game_and_a_drawn_one_follows_from_it() -> None:
    env = gymnasium.make(COIN, environment__rooms=5)
    first, info = env.reset(seed=7)
    assert "kitchen" in first
    assert not info["outcome"]
    drawn = [env.reset()[1]["map"] for _ in range(3)]
    assert env.reset(seed=7)[0] == first
    assert [env.reset()[1]["map"] for _ in range(3)] == drawn
    assert env.reset(options={"game": 7})[0] == first
    with pytest.raises(ConfigError, match=r"not \['level'\]"):
        env.reset(options={"level": 7})
    env.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_several_games_are_played_at_once(mode: str) -> None:
    # With "async", a process for each game is forked while this game is in progress.
    gymnasium.make(COIN).reset(seed=7)
    options = {"shared_memory": False} if mode == "async" else {}
    envs = gymnasium.make_vec(
        COIN, 3, mode, vector_kwargs=options, environment__rooms=5
    )
    seen, info = envs.reset(seed=7)
    assert len(set(info["map"])) == 3
    assert len(seen) == 3
    again, rewards, terminated, truncated, _ = envs.step(("look around",) * 3)
    assert again == seen
    assert not rewards.any()
    assert not terminated.any()
    assert not truncated.any()
    envs.close()
