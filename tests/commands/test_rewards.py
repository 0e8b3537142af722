"""The committed table of rewards: by `Game` and by gymnasium. The integrations play it
too.
"""

from contextlib import closing
from typing import Any

import gymnasium
import pytest

from pddlego_local import Game
from tests.rewards import Row, check, groups, rows

GROUPS = list(groups())
COIN = "pddlego_local.commands.gymnasium_env:pddlego/Coin-v0"


def test_the_table_has_50_games_and_every_reward() -> None:
    table = rows()
    assert len(table) == 50 and all(row.texts for row in table)
    for actions, rewards in {
        "pddl": {0, 0.1, 0.2, 0.4, 0.6, 1},
        "commands": {0, 0.4},
    }.items():
        found = {
            x for row in table if row.options["actions"] == actions for x in row.rewards
        }
        assert found == rewards
    assert {"success", "step_limit", "no_plan", "valid_but_wrong", ""} < {
        row.outcome for row in table
    }


@pytest.mark.parametrize("gym", [False, True])
@pytest.mark.parametrize(("options", "table"), GROUPS)
def test_a_game_earns_what_the_table_says(
    options: dict[str, Any], table: list[Row], gym: bool
) -> None:
    game: Any = gymnasium.make(COIN, **options) if gym else Game(**options)

    def step(text: str) -> tuple[float, bool]:
        _, reward, terminated, truncated, _ = game.step(text)
        return reward, terminated or truncated

    with closing(game):
        for row in table:
            game.reset(
                **({"options": {"game": row.game}} if gym else {"seed": row.game})
            )
            check(row, step)
