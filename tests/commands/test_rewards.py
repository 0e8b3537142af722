"""The committed table of rewards: by `Game` and by gymnasium. The integrations play it
too.
"""

from contextlib import closing
from typing import Any

import gymnasium
import pytest

from pddlego_local import Game
from tests.rewards import Row, check, groups

COIN = "pddlego_local.commands.gymnasium_env:pddlego/Coin-v0"  # the former name


@pytest.mark.parametrize("by_gymnasium", [False, True])
@pytest.mark.parametrize(("options", "table"), list(groups()))
def test_a_game_earns_what_the_table_says(
    options: dict[str, Any], table: list[Row], by_gymnasium: bool
) -> None:
    game: Any
    game = gymnasium.make(COIN, **options) if by_gymnasium else Game(**options)

    def step(text: str) -> tuple[float, bool]:
        _, reward, terminated, truncated, _ = game.step(text)
        return reward, terminated or truncated

    with closing(game):
        for row in table:
            if by_gymnasium:
                game.reset(options={"game": row.game})
            else:
                game.reset(row.game)
            check(row, step)
