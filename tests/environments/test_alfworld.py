"""ALFWorld as the project plays it: words, feedback, whole games.

The games are of our own making; a quarter of a minute in all.
"""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pddlego_local.core.nouns import Observation
from pddlego_local.environments.alfworld.game import TABLES, Alfworld
from pddlego_local.environments.alfworld.games import make_game
from pddlego_local.environments.alfworld.installation import find_environment, python
from tests.environments.alfworld_files import game_file, walkthrough

ONE_OF_EACH = tuple(kinds[0] for kinds in TABLES.groups.values())
HEAT = ("pick_heat_then_place_in_recep",)
# What plain ALFWorld answers: printed as one JSON list of [text, commands, won].
PLAIN_ENGINE = """
import json, sys, textworld
from textworld.envs.pddl import PddlEnv
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
game, commands = json.load(sys.stdin)
plain = PddlEnv(textworld.EnvInfos(won=True, admissible_commands=True))
engine = AlfredDemangler(plain, shuffle=False)
engine.load(game)
states = [engine.reset()] + [engine.step(command)[0] for command in commands]
told = [[s.feedback, list(s["admissible_commands"]), s["won"]] for s in states]
print(json.dumps(told))
"""


def play(game: Alfworld, seed: int, commands: tuple[str, ...]) -> list[Observation]:
    return [game.reset(seed), *(game.step(command) for command in commands)]


# At the start of every game: nothing is held, and one is at no receptacle.
REFUSED = {
    "go to fridge 99": "there is no such place here",
    "go to init_receptacle": "there is no such place here",
    "open microwave 1": "it cannot be opened, or it is open already",
    "close microwave 1": "it cannot be closed",
    "take mug 1 from countertop 1": "search for it in other receptacles",
    "move mug 1 to microwave 1": "find the object and pick it up",
    "slice apple 1 with knife 1": "put the sharp object back",
    "heat mug 1 with microwave 1": "be at the microwave",
    "clean mug 1 with sinkbasin 1": "be at the sink basin",
    "cool mug 1 with fridge 1": "be at the fridge",
    "use desklamp 1": "Only a lamp can be used",
    "microwave 1": "no action that is possible",
    "Go to microwave 1": "no action that is possible",
}


def test_feedback_is_specific_to_the_command(heat: Alfworld) -> None:
    heat.reset(0)
    for command, told in REFUSED.items():
        seen = heat.step(command)
        assert seen.text == "Nothing happens."
        assert told in seen.feedback and f'"{command}"' in seen.feedback


def test_no_feedback_rule_is_untested_and_what_is_carried_out_has_none() -> None:
    told = {
        TABLES.feedback_for(command, "Nothing happens.").partition('" ')[2]
        for command in REFUSED
    }
    assert len(told) == len(TABLES.feedback)
    assert not TABLES.feedback_for(
        "open fridge 1", "You open the fridge 1. The fridge 1 is open."
    )


def test_going_where_one_is_already_is_no_refusal(heat: Alfworld) -> None:
    heat.reset(0)
    assert heat.step("go to microwave 1").text.startswith("You arrive at microwave 1.")
    again = heat.step("go to microwave 1")
    assert (again.text, again.feedback) == ("Nothing happens.", "")


def test_the_first_look_tells_the_room_and_the_task(heat: Alfworld) -> None:
    first = heat.reset(0)
    assert first.text.startswith(
        "You are in the middle of a room. Looking quickly around you,"
    )
    assert "\n\nYour task is to: " in first.text
    assert "go to microwave 1" in first.commands
    assert "help" not in first.commands
    assert list(first.commands) == sorted(first.commands)
    assert not first.success


def test_games_are_won_by_their_walkthrough(household: Alfworld) -> None:
    """One of each difficulty group. The game's type is the seed modulo their number."""
    household.task_types = ONE_OF_EACH
    for seed, task_type in enumerate(ONE_OF_EACH, start=len(ONE_OF_EACH)):
        commands = walkthrough(make_game(seed, task_type))
        seen = play(household, seed, commands)
        assert household.task_type == task_type
        assert [turn.success for turn in seen] == [False] * len(commands) + [True]
        assert not any(turn.refused for turn in seen)
        assert household.won()
    household.reset(0)
    assert not household.won()


def test_resets_play_as_plain_alfworld_does(heat: Alfworld) -> None:
    game = make_game(3, *HEAT)
    commands = ("look", "inventory", "dance", *walkthrough(game), "inventory", "look")
    plain = subprocess.run(
        [python(find_environment()), "-c", PLAIN_ENGINE],
        input=json.dumps([game_file(game), commands]),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    states: list[Any] = json.loads(plain.stdout.splitlines()[-1])
    for _ in range(3):
        seen = play(heat, 3, commands)
        assert states[0][0].endswith(seen[0].text)
        assert [turn.text for turn in seen[1:]] == [text for text, _, _ in states[1:]]
        for turn, (_, offered, won) in zip(seen, states, strict=True):
            assert [*turn.commands] == [name for name in offered if name != "help"]
            assert turn.success == won


def test_games_in_threads_play_as_one_after_the_other(heat: Alfworld) -> None:
    seeds = (5, 6)
    scripts = {seed: walkthrough(make_game(seed, *HEAT)) for seed in seeds}
    alone = {seed: play(heat, seed, scripts[seed]) for seed in seeds}
    games = {5: heat, 6: Alfworld(task_types=HEAT)}

    def both(seed: int) -> list[list[Observation]]:
        return [play(games[seed], seed, scripts[seed]) for _ in range(3)]

    with ThreadPoolExecutor(len(seeds)) as pool:
        for seed, rounds in zip(seeds, pool.map(both, seeds), strict=True):
            assert rounds == [alone[seed]] * 3
    games[6].close()
