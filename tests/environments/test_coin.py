"""CoinCollector as the project plays it: texts, rules, parameters, many games at
once.
"""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import pddlego_local
from pddlego_local.core.errors import EnvironmentFault
from pddlego_local.core.nouns import Observation
from pddlego_local.environments.coin.game import Coin, without_furniture
from pddlego_local.environments.textworld_express.game import ExpressGame
from tests.processes import ran
from tests.tables import table

CASES = table(__file__)


# Game 1 with 11 rooms: kitchen, closed doors to the south (backyard) and west (pantry);
# the backyard is open to the south and east.
@pytest.mark.parametrize(
    ("commands", "told"),
    CASES["feedback_is_specific_to_the_command_and_the_reply"],
)
def test_feedback_is_specific_to_the_command_and_the_reply(
    commands: list[str], told: str
) -> None:
    game = Coin(rooms=11)
    game.reset(1)
    seen = [game.step(command) for command in commands][-1]
    assert seen.refused == bool(told)
    assert told in seen.feedback


def test_observations_keep_the_games_words_without_the_furniture() -> None:
    first = Coin(rooms=11).reset(1)
    assert (
        first.text
        == "You are in the kitchen. To the South you see a closed patio door. "
        "To the West you see a closed plain door."
    )
    assert "move south" in first.commands and "take coin" not in first.commands
    assert "stove" in Coin(rooms=11, furniture=True).reset(1).text
    assert without_furniture("You take the coin.") == "You take the coin."


@pytest.mark.parametrize(
    ("rooms", "beside"), [(11, {3, 9, 13, 25}), (7, {14, 22, 41}), (3, None)]
)
def test_some_games_begin_beside_the_coin(rooms: int, beside: set[int] | None) -> None:
    game = Coin(rooms=rooms)
    found = {seed for seed in range(60) if game.reset(seed).success}
    assert found == beside if beside else len(found) == 21


@pytest.mark.parametrize(
    ("game", "parameters", "said"),
    [
        ("chess", {}, "TextWorldExpress refused chess: ERROR: Unknown game"),
        ("coin", {"numLocations": 99}, "refused coin: Number of locations must be"),
    ],
)
def test_what_the_simulator_refuses_is_a_fault(
    game: str, parameters: dict[str, int], said: str
) -> None:
    with pytest.raises(EnvironmentFault, match=said):
        ExpressGame(game, parameters).reset(1, "train")


def test_success_is_seeing_the_coin_and_winning_is_taking_it() -> None:
    game = Coin(rooms=11)
    assert game.reset(3).success and "a coin" in game.reset(3).text
    assert game.won()
    assert not game.reset(1).success
    assert not game.won()


def play(seed: int) -> list[Observation]:
    """The first ten offered commands, one after the other."""
    game = Coin(rooms=9)
    seen = [game.reset(seed)]
    for number in range(10):
        seen.append(game.step(seen[-1].commands[number % len(seen[-1].commands)]))
    return seen


def test_many_games_at_once_play_as_they_do_alone() -> None:
    alone = [play(seed) for seed in range(24)]
    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(play, range(24))) == alone


def test_without_java_on_the_path_the_packaged_one_plays() -> None:
    code = (
        "from pddlego_local.environments.coin.game import Coin;"
        " print(Coin().reset(1).text)"
    )
    env = {
        "PATH": "/nowhere",
        "PYTHONPATH": str(Path(pddlego_local.__file__).parents[1]),
    }
    done = ran("-c", code, env=env)
    assert done.stdout.startswith("You are in the kitchen."), done.stderr


def test_a_killed_java_process_is_a_fault_and_leaves_no_traceback() -> None:
    code = """
import psutil
from pddlego_local.core.errors import EnvironmentFault
from pddlego_local.environments.coin.game import Coin
coin = Coin()
coin.reset(1)
for java in psutil.Process().children():
    java.kill()
    java.wait()
try:
    coin.step("look around")
except EnvironmentFault as fault:
    print(fault)
"""
    done = ran("-c", code)
    assert "Java process failed" in done.stdout
    assert done.stderr == ""
    idle = code.replace(
        'coin.step("look around")', "pass"
    )  # Python's clean-up meets the death
    done = ran("-c", idle)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_forked_process_plays_with_a_java_process_of_its_own() -> None:
    alone = [play(seed) for seed in range(8)]
    with ProcessPoolExecutor(2, get_context("fork")) as pool:
        assert list(pool.map(play, range(8))) == alone
    assert [play(seed) for seed in range(8)] == alone
