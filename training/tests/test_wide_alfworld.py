"""Games that are played for training, in rooms that hold all that the real ones
show.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
from pddlego_training.wide_rooms import WideAlfworld, make_wide_game

from pddlego_local.environments.alfworld.data import find_games, find_split, read_game
from pddlego_local.environments.alfworld.games import PLAIN_TYPES, TASK_TYPES
from pddlego_local.environments.alfworld.games.layout import UNSEEN
from pddlego_local.environments.alfworld.process import (
    AlfworldGame,
    GameProcess,
    Limits,
)
from pddlego_local.environments.alfworld.task import parse_task
from pddlego_local.environments.maps import map_hash
from tests.environments.alfworld_files import spoken_names, walkthrough

pytestmark = pytest.mark.alfworld

REAL = os.environ.get("ALFWORLD_DATA", "")


def test_wide_games_can_be_won() -> None:
    """In the real engine, whose answers the examples of a training contain."""
    with closing(GameProcess(Limits())) as engine:
        for seed, task_type in enumerate(TASK_TYPES):
            game = make_wide_game(seed, task_type)
            told = engine.begin(game)
            for command in walkthrough(game):
                told = engine.step(command)
            assert told.success


def test_a_map_is_known_without_playing() -> None:
    environment = WideAlfworld(split="train", task_types=TASK_TYPES)
    game = make_wide_game(4, TASK_TYPES[4], "train")
    assert environment.map_of(4) == map_hash("alfworld", game.floor_plan)


def test_rooms_kept_for_unseen_games_are_not_trained_in() -> None:
    games = [
        make_wide_game(seed, PLAIN_TYPES[seed % 6], "train") for seed in range(300)
    ]
    assert {game.floor_plan for game in games}.isdisjoint(
        f"FloorPlan{n}" for n in UNSEEN
    )
    assert len({game.floor_plan for game in games}) > 60


class Shown:
    """What games can show a player, and how often."""

    def __init__(self, games: Iterable[AlfworldGame]) -> None:
        self.of: defaultdict[str, Counter[object]] = defaultdict(Counter)
        for game in games:
            facts = dict[str, list[tuple[str, str]]]()
            for name, thing, about in re.findall(
                r"\((\w+) ([^\s?]+) (\S+)\)", game.problem
            ):
                facts.setdefault(name, []).append((thing, about))
            kinds = dict(facts["receptacleType"] + facts["objectType"])
            inside = facts["inReceptacle"]
            found = re.search(r"Your task is to: ([^\"\\]+?)\.?\s*\"", game.grammar)
            assert found
            sentence = found[1]
            task = parse_task(sentence)
            self.of["type of task"][game.task_type] += 1
            words = {task.object: "OBJ", task.receptacle: "RECEP"}
            self.of["wording"][" ".join(words.get(w, w) for w in sentence.split())] += 1
            self.of["object of the task"][task.object] += 1
            self.of["receptacle of the task"][task.receptacle] += 1
            self.of["receptacles (tens)"][round(len(facts["receptacleType"]), -1)] += 1
            self.of["kind of receptacle"].update(
                {kinds[r] for r, _ in facts["receptacleType"]}
            )
            self.of["kind of object in sight"].update(
                {kinds[thing] for thing, _ in inside}
            )
            places = Counter(place for _, place in facts["receptacleAtLocation"])
            self.of["most at one place (up to 4)"][min(4, max(places.values()))] += 1
            identifiers = {part: part.replace("_bar_", "|") for part in kinds}
            called = spoken_names(identifiers.values())
            in_sight = {r for r, _ in facts["receptacleType"]} | {
                thing for thing, _ in inside
            }
            self.of["name in sight"].update(
                called[identifiers[part]] for part in in_sight
            )
            twice = sum(
                count > 1 for count in Counter(thing for thing, _ in inside).values()
            )
            self.of["things listed twice"][twice] += 1


@pytest.mark.skipif(not REAL, reason="ALFWORLD_DATA names no data set")
def test_nothing_real_is_missing_in_games_of_training() -> None:
    trials = find_games(find_split(Path(REAL), "valid_seen"), PLAIN_TYPES)
    real = Shown(map(read_game, trials))
    ours = Shown(make_wide_game(n, TASK_TYPES[n % 11], "train") for n in range(6000))
    for name, seen in real.of.items():
        print(
            f"| {name} | {len(seen)} | {len(ours.of[name])} |"
            f" {seen.keys() - ours.of[name]} |"
        )
    missing = {name: seen.keys() - ours.of[name] for name, seen in real.of.items()}
    assert not {name: left for name, left in missing.items() if left}
