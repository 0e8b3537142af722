"""Partly seen worlds: what is seen, what is told, what is refused, and that a player
who knows the texts alone believes what is true.
"""

import os
import random
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.environments.explored.belief import Belief
from pddlego_local.environments.explored.game import goal_of
from pddlego_local.environments.explored.marks import marks_of
from pddlego_local.environments.explored.phrases import spelled, unspelled
from pddlego_local.environments.explored.play import LOOK, Play
from pddlego_local.environments.explored.world import World, read_world
from pddlego_local.runner.config import compose_cell
from tests.environments.explored_games import cell_that_the_reference_wins

HOUSE = Path(__file__).parents[2] / "examples/house"
DATA = Path(
    os.environ.get("PDDLEGO_DATA", Path(__file__).parents[3] / "shared" / "data")
)
ONE_LINE_WORLDS = DATA / "pddl" / "one_line_worlds.tar.xz"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return shutil.copytree(HOUSE, tmp_path / "house")


def play_of(world: World, number: int = 0) -> Play:
    text = world.problems()[number].read_text(encoding="utf-8")
    return Play(world, world.task(text), goal_of(text))


def test_a_game_tells_what_is_where_the_player_is_and_nothing_else(
    house: Path,
) -> None:
    play = play_of(read_world(house))
    opening = play.opening()
    assert "The torch is a lamp." in opening and "The coin is a thing." in opening
    assert "You are in the hall. A corridor leads to the living room." in opening
    assert "room 3" not in opening and "there is" not in opening.lower()
    told = play.carry_out("go to the living room")
    assert told == (
        "You go to the living room. You are in the living room. A corridor leads to the"
        " hall and room 3. There is the coin."
    )
    assert play.carry_out("take the coin") == "You take the coin. The coin is held."
    play.carry_out("go to room 3")
    assert play.carry_out("light the torch") == "You light the torch. The torch burns."
    assert play.won


def test_whether_a_lamp_elsewhere_burns_is_not_seen(house: Path) -> None:
    """A precondition is seen from where its action could be carried out, and a lamp can
    be lit only where it stands, although it can be taken away.
    """
    problem = house / "p1.pddl"
    text = problem.read_text(encoding="utf-8")
    there = re.search(r"\(in torch (\w+)\)", text)
    assert there
    lit = text.replace(there[0], f"{there[0]} (lit torch)").replace(
        "(and (lit torch)", "(and (in torch hall)"
    )
    problem.write_text(lit, encoding="utf-8")
    play = play_of(read_world(house))
    assert there[1] != "hall" and "burns" not in play.opening()


def test_a_refusal_tells_nothing_of_what_is_not_in_sight(house: Path) -> None:
    play = play_of(read_world(house))
    for there, nowhere in (("torch", "unicorn"), ("room 3", "moon 9")):
        for command in ("light the {}", "take the {}", "go to {}", "dance with {}"):
            told = play.carry_out(command.format(there))
            assert told.replace(there, nowhere) == (
                play.carry_out(command.format(nowhere))
            )
    assert play.carry_out("dance") == "You cannot dance: there is no such command."
    assert play.offered() == [LOOK, "go to the living room"]
    play.carry_out("go to the living room")
    refused = play.carry_out("go to the living room")
    assert refused == (
        "You cannot go to the living room: it is not so that a corridor leads to the"
        " living room."
    )


@pytest.mark.parametrize("method", ["pddlego_plus", "pddl_edit", "pddlego"])
def test_the_reference_wins_a_world_of_ones_own(
    method: str, house: Path, tmp_path: Path
) -> None:
    words = (f"environment.folder={house}", f"method={method}")
    cell_that_the_reference_wins(tmp_path / "out", *words)


def test_a_command_follows_from_the_world_before_any_game_begins(house: Path) -> None:
    """The rules of the reference are those of the environment that was built last."""
    words = ["environment=explored", f"environment.folder={house}"]
    environment = compose_cell(words).build("environment")
    assert environment.command("(go kitchen hall)") == "go to the hall"
    assert environment.command("(go kitchen)") is None
    assert environment.command("(fly kitchen hall)") is None


def test_the_environment_gives_methods_marks_that_no_action_changes(
    house: Path,
) -> None:
    words = ["environment=explored", f"environment.folder={house}"]
    environment = compose_cell(words).build("environment")
    environment.reset(0)
    assert "(visited ?x - room)" in environment.domain
    end, explore, _ = environment.goals(())
    assert end.pddl == "(and (lit torch) (held coin))"
    assert explore.pddl == "(exists (?x - room) (and (at ?x) (not (visited ?x))))"
    environment.close()


def test_the_budget_is_what_the_command_says_or_else_what_the_world_says(
    house: Path,
) -> None:
    words = ["environment=explored", f"environment.folder={house}"]
    assert compose_cell(words).build("environment").budget.limit == 100
    with (house / "world.yaml").open("a", encoding="utf-8") as file:
        file.write("budget: {unit: rounds, limit: 20}\n")
    asked = compose_cell([*words, "environment.budget.limit=7"])
    assert asked.identity["environment"]["budget"] == {"unit": "rounds", "limit": 7}
    assert compose_cell(words).build("environment").budget.limit == 20


@pytest.mark.parametrize(
    "name", ["living_room", "room3", "room_3", "the_hall", "loc-x1-y1", "s2", "a"]
)
def test_names_come_back(name: str) -> None:
    assert unspelled(spelled(name)) == name


def test_what_a_world_cannot_be_is_one_sentence(house: Path) -> None:
    domain = (house / "domain.pddl").read_text(encoding="utf-8")
    derived = "(:derived (at ?r - room) (exists (?t - lamp) (in ?t ?r)))"
    for text, message in (
        (domain.replace("(:action go", ":time (:action go"), "would refuse it"),
        (derived.join(["(define (domain d) (:types room lamp)", ")"]), "would refuse"),
    ):
        (house / "domain.pddl").write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=r"domain\.pddl") as caught:
            read_world(house)
        assert message in str(caught.value) and "\n" not in str(caught.value)
    (house / "domain.pddl").write_text(
        "(define (domain d) (:types room lamp) (:predicates (in ?l - lamp ?r - room)"
        f" (at ?r - room)) {derived})",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError, match="at is derived"):
        _ = read_world(house).here


def test_a_world_in_which_nobody_is_anywhere_is_refused(house: Path) -> None:
    problem = house / "p1.pddl"
    text = problem.read_text(encoding="utf-8").replace("(at hall)", "")
    problem.write_text(text, encoding="utf-8")
    config = compose_cell(["environment=explored", f"environment.folder={house}"])
    with pytest.raises(ConfigError, match="nobody is anywhere at its start"):
        config.build("environment")


def test_a_world_without_types_says_which_could_be_types(house: Path) -> None:
    domain = "(define (domain d) (:predicates (room ?x) (at ?x)))"
    (house / "domain.pddl").write_text(domain, encoding="utf-8")
    with pytest.raises(ConfigError, match="could be types: room, at"):
        read_world(house)


@pytest.fixture(scope="module")
def one_line_worlds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    if not ONE_LINE_WORLDS.is_file():
        pytest.skip("the worlds of others are not here")
    folder = tmp_path_factory.mktemp("worlds")
    with tarfile.open(ONE_LINE_WORLDS) as archive:
        archive.extractall(folder, filter="data")
    return sorted(path.parent for path in folder.rglob("world.yaml"))


def test_what_the_texts_tell_is_what_is_true(one_line_worlds: list[Path]) -> None:
    """After every command of a random walk, a player who knows the texts alone knows
    all that is in sight, and believes nothing untrue.
    """
    states = 0
    for folder in one_line_worlds:
        if folder.name.startswith("city-car"):  # nobody is anywhere at its start
            continue
        world = read_world(folder)
        play = play_of(world)
        belief = Belief(world, marks_of(world))
        belief.begin(play.opening())
        text = world.problems()[0].read_text(encoding="utf-8")
        wanted = world.task(text).goal.text({})
        assert world.task(belief.problem(belief.goal)).goal.text({}) == wanted
        chance = random.Random(1)
        for _ in range(12):
            assert play.seen <= belief.facts, folder.name
            assert belief.facts <= play.state.true, folder.name
            states += 1
            offered = play.offered()[1:]
            if not offered:
                break
            command = chance.choice(offered)
            belief.follow(command, play.carry_out(command))
    assert states > 100
