"""ALFWorld game files of our own making: written, checked by the engine, played by alfworld."""

import argparse
import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.commands import games
from pddlego_local.core.errors import ConfigError, EnvironmentFault
from pddlego_local.environments.alfworld.games import PLAIN_TYPES, TASK_TYPES, Game, make_game
from pddlego_local.environments.alfworld.installation import find_environment, python
from pddlego_local.environments.alfworld.process import unwinnable
from tools.bench.replay_alfworld import COLLECTED

PLAIN_ALFWORLD = (
    COLLECTED
    + """
task_types = [json.load(open(file.replace("game.tw-pddl", "traj_data.json")))["task_type"]
              for file in collected.game_files]
collected.game_files = [file for file in collected.game_files if "look_at" in file]
env = collected.init_env(batch_size=1)
env.reset()
for command in json.load(open(collected.game_files[0]))["walkthrough"]:
    _, _, done, infos = env.step([command])
env.close()
print(json.dumps([sorted(task_types), bool(done[0]), bool(infos["won"][0])]))
"""
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One game of each task type, each of which the engine has played to its end."""
    out = tmp_path_factory.mktemp("alfworld")
    assert command("-n", "11", "--task", *TASK_TYPES, out=out) == 0
    return out


def command(*arguments: str, out: Path) -> int:
    parser = argparse.ArgumentParser()
    games.add_arguments(parser)
    return games.carry_out(parser.parse_args(["alfworld", "--out", str(out), *arguments]))


def digests(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def test_the_engine_agrees_that_walkthroughs_win(written: Path) -> None:
    found = sorted(written.rglob("*.tw-pddl"))
    assert len(found) == len(TASK_TYPES)
    for file in found:
        assert (file.parent / "initial_state.pddl").is_file()
        assert json.loads((file.parent / "traj_data.json").read_text())["task_type"] in PLAIN_TYPES
    assert not [path for path in written.iterdir() if path.name != "json_2.1.1"]


def test_the_engine_notices_a_walkthrough_that_does_not_win(written: Path, tmp_path: Path) -> None:
    smallest = min(written.rglob("look*/*/*.tw-pddl"))
    game = json.loads(smallest.read_text())
    shortened = tmp_path / "short.tw-pddl"
    shortened.write_text(json.dumps({**game, "walkthrough": game["walkthrough"][:-1]}))
    assert unwinnable([smallest, shortened]) == [shortened]


def test_an_unwinnable_game_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    def without_an_end(seed: int, task_type: str, split: str = "") -> Game:
        game = make_game(seed, task_type, split)
        shortened = game.walkthrough[: -1 if seed == 1 else None]
        return Game(**{**vars(game), "walkthrough": shortened})

    monkeypatch.setattr(games, "make_game", without_an_end)
    with pytest.raises(EnvironmentFault, match="trial_00000001"):
        command("-n", "2", "--task", "look_at_obj_in_light", out=tmp_path)
    assert [file.parent.name for file in tmp_path.rglob("*.tw-pddl")] == ["trial_00000000"]


def test_plain_alfworld_plays_them(written: Path) -> None:
    """Its own environment leaves slices out, as it does with the data set's."""
    played = subprocess.run(
        [python(find_environment()), "-c", PLAIN_ALFWORLD, str(written)],
        env={**os.environ, "ALFWORLD_DATA": str(written)},
        capture_output=True,
        text=True,
    )
    assert played.returncode == 0, played.stderr
    assert json.loads(played.stdout.splitlines()[-1]) == [sorted(PLAIN_TYPES), True, True]


def test_the_same_command_again_changes_nothing(
    written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = digests(written)
    assert command("-n", "11", "--task", *TASK_TYPES, out=written) == 0
    assert "0 games written" in capsys.readouterr().out
    assert digests(written) == before


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    game = make_game(0, PLAIN_TYPES[0], "valid_seen")
    folder = tmp_path / "json_2.1.1" / "valid_seen" / game.name / game.trial
    folder.mkdir(parents=True)
    (folder / "game.tw-pddl").write_text("mine")
    with pytest.raises(ConfigError, match=r"game\.tw-pddl"):
        command("-n", "1", out=tmp_path)
    assert (folder / "game.tw-pddl").read_text() == "mine"


def test_bad_input_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for count in ("0", "-1", "1000000000", "many"):
        with pytest.raises(SystemExit):
            command("-n", count, out=tmp_path)
    (tmp_path / "file").write_text("")
    assert run(["games", "alfworld", "-n", "1", "--out", str(tmp_path / "file")]) == 3
    assert f"File exists: '{tmp_path / 'file'}'" in capsys.readouterr().err


def test_a_dead_engine_is_a_fault(tmp_path: Path) -> None:
    broken = tmp_path / "broken.tw-pddl"
    broken.write_text('{"pddl_domain": "(", "pddl_problem": "", "grammar": "", "walkthrough": []}')
    with pytest.raises(EnvironmentFault):
        unwinnable([broken])
