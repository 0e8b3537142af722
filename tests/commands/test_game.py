"""A game played from outside: by commands, and by answers that a run has recorded."""

import re
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy
import pytest

import pddlego_local
from pddlego_local import Game
from pddlego_local.core.errors import ConfigError, EnvironmentFault
from pddlego_local.core.record.events import ActionTaken, Call
from pddlego_local.core.record.folder import transcripts
from pddlego_local.environments.textworld_express import game as express
from tests.worlds import plant_worlds

COIN: dict[str, Any] = {"environment": "coin", "environment__rooms": 5}


@pytest.fixture
def coin() -> Iterator[Game]:
    game = Game(**COIN)
    yield game
    game.close()


@pytest.fixture(scope="module")
def recorded(
    tmp_path_factory: pytest.TempPathFactory,
) -> list[tuple[int, list[str], list[str]]]:
    """Of each game that the rule-based formalizer played: its number, answers and
    commands.
    """
    out = tmp_path_factory.mktemp("runs")
    options = {"model": "reference", "method": "pddl_edit", "games": "3,7,8"}
    pddlego_local.run(**COIN, **options, run__out=out)
    played = []
    for path, events in transcripts(out):
        events = list(events)
        answers = [event.text for event in events if isinstance(event, Call)]
        taken = [
            event.command or "" for event in events if isinstance(event, ActionTaken)
        ]
        played.append((int(path.name.partition("-")[0]), answers, taken))
    assert len(played) == 3
    return played


def test_recorded_answers_win_the_same_games_and_earn_every_reward(
    recorded: list[tuple[int, list[str], list[str]]],
) -> None:
    game = Game(actions="pddl", method="pddl_edit", **COIN)
    for number, answers, _ in recorded:
        prompt, info = game.reset(number)
        assert "Write the changes" in prompt and not info["outcome"] and info["map"]
        for answer in answers[:-1]:
            prompt, reward, terminated, truncated, info = game.step(answer)
            assert (terminated, truncated, info["outcome"]) == (False, False, "")
            assert "Write the changes" in prompt and reward == pytest.approx(0.6)
        prompt, reward, terminated, truncated, info = game.step(answers[-1])
        assert (terminated, truncated, info["outcome"]) == (True, False, "success")
        assert "coin" in prompt and reward == pytest.approx(1.0)
        with pytest.raises(ConfigError, match=r"progress \(success\): call reset"):
            game.step(answers[-1])
    game.close()


def test_the_same_commands_win_too_and_earn_by_the_win_alone(
    recorded: list[tuple[int, list[str], list[str]]], coin: Game
) -> None:
    for number, _, commands in recorded:
        coin.reset(number)
        *before, (_, reward, terminated, _, info) = [
            coin.step(command) for command in commands
        ]
        assert {(step[1], step[2]) for step in before} <= {(0, False)}
        assert (reward, terminated, info["outcome"]) == (0.4, True, "success")


@pytest.mark.parametrize(
    ("answer", "reached"),
    [
        ("I do not know.", ()),
        ('{"df": "(define", "pf": "(define"}', ("read",)),
        (
            (
                '{"df": "(define (domain d) (:predicates (p) (q)))", '
                '"pf": "(define (problem x) (:domain d) (:init (q)) (:goal (p)))"}'
            ),
            ("read", "accepted"),
        ),
        (
            (
                '{"df": "(define (domain d) (:predicates (p)) (:action fly :parameters'
                ' () :effect (p)))", "pf": "(define (problem x) (:domain d) (:init)'
                ' (:goal (p)))"}'
            ),
            ("read", "accepted", "planned"),
        ),
    ],
)
def test_an_answer_earns_as_far_as_it_goes(
    answer: str, reached: tuple[str, ...]
) -> None:
    rewards = {"read": 1.0, "accepted": 10.0, "planned": 100.0}
    game = Game(actions="pddl", method="pddlego_plus", rewards=rewards, **COIN)
    game.reset(7)
    _, reward, _, _, info = game.step(answer)
    assert info["reached"] == reached and info["fault"]
    assert reward == sum(rewards[name] for name in reached)
    game.close()


def test_a_budget_truncates_and_a_refused_command_is_told(coin: Game) -> None:
    short = Game(environment__budget__limit=2, **COIN)
    short.reset(7)
    _, _, terminated, truncated, info = short.step("dance")
    assert (terminated, truncated) == (False, False) and "not a valid action" in info[
        "fault"
    ]
    _, _, terminated, truncated, info = short.step("look around")
    assert (terminated, truncated, info["outcome"]) == (False, True, "step_limit")
    short.close()


def test_a_game_that_is_left_does_not_linger(coin: Game) -> None:
    threads = threading.active_count()
    for number in range(20):
        coin.reset(number)
    assert threading.active_count() <= threads + 1
    assert coin.reset(7) == coin.reset(7)


def test_a_wrong_seed_or_text_is_refused_and_a_dead_java_process_is_replaced(
    coin: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        express, "_gateway", None
    )  # other games keep the process that they have
    shown, _ = coin.reset(numpy.int64(7))
    with pytest.raises(ConfigError, match="has no game -1; its games are 0 to"):
        coin.reset(-1)
    with pytest.raises(ConfigError, match="not None"):
        coin.step(None)  # type: ignore[arg-type]
    express._java().shutdown()
    with pytest.raises(EnvironmentFault, match="Java process failed in stepJSON"):
        coin.step("look around")
    assert coin.reset(7)[0] == shown


def test_seeds_to_train_and_to_evaluate_on_share_no_map(coin: Game) -> None:
    maps = {}
    for part in ("train", "eval"):
        seeds = list(islice(getattr(coin, f"{part}_seeds"), 10))
        maps[part] = {coin.reset(seed)[1]["map"] for seed in seeds}
        assert seeds == sorted(set(seeds))
    assert not maps["train"] & maps["eval"]


def test_a_folder_with_few_worlds_has_these_games(tmp_path: Path) -> None:
    plant_worlds(tmp_path, 2)
    options: dict[str, Any] = {
        "environment": "described",
        "environment__folder": tmp_path,
    }
    game = Game(**options, method="formalizer", actions="pddl")
    assert len(
        {game.reset(number)[0] for number in (0, 1)}
    ) == 2 and game.seeds == range(2)
    with pytest.raises(ConfigError, match="has no game 2; its games are 0 to 1"):
        game.reset(2)
    assert game.step("no files")[4]["outcome"] == "solver_abort"
    game.close()


def test_mistakes_are_named() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"model": "nano"}, "the caller of a Game is its model"),
        ({"games": "0"}, "games is no argument of Game: reset chooses the game"),
        ({"trials": 2}, "trials is no argument of Game: call reset for each trial"),
        (
            {"config_dir": "nowhere"},
            "nowhere: there is no such folder of configurations",
        ),
        ({"actions": "moves"}, "choose 'commands' or 'pddl'"),
        ({"rewards": {"fun": 1.0}}, "'fun' is unknown; the names are read, accepted"),
        (
            {"rewards": {"won": "much"}},
            r"rewards\.won='much': input should be a valid number",
        ),
        ({"rewards": None}, "rewards: input should be a valid dictionary"),
        ({"decoding__best_of": 3}, "decoding.best_of are for models"),
        ({"environment__rooms": 99}, r"environment\.rooms=99"),
    ]
    for options, said in cases:
        with pytest.raises(ConfigError, match=said):
            Game(**options)


def test_the_example_of_the_page_runs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "use" / "games.md").read_text(
        encoding="utf-8"
    )
    block, _, other = re.findall(
        r"^```python\n(.*?)^```", page, re.M | re.S
    )  # _: test_mask.py
    found: dict[str, Any] = {}
    exec(f"{other}env.close()\n{block}", found)
    assert found["info"]["fault"] == "placeholder" and not found["terminated"]
