"""A whole training in small: games, tokenizer, two rounds, games played, a folder with
a card.

About a minute.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pddlego_training.examples import Game
from pddlego_training.maps import maps_of
from pddlego_training.settings import CONF, compose_settings
from safetensors.torch import load_file

from pddlego_local.core.errors import ConfigError
from pddlego_local.models.weights import locate, training_maps
from tests.pddlego import Pddlego

SHAPE = (
    "shape={hidden_size: 32, intermediate_size: 64, layers: 1, heads: 1,"
    " vocabulary: 400, context_tokens: 2048}"
)
ROUNDS = (
    "rounds=[{slips: 6, steps: 8, longest_tokens: 900, learning_rate: 1e-3},"
    " {slips: 2, student: 2, steps: 2, longest_tokens: 900, learning_rate: 1e-3}]"
)
PLAY = (
    "play={games: 2, settings: ['method.variant=compact environment.rooms=3'],"
    " rungs: [free]}"
)
SMALL = (
    SHAPE,
    ROUNDS,
    PLAY,
    "held_out=2",
    "batch=2",
    "at_once=2",
    "save_every=2",
    "log_every=1",
    "warmup_steps=1",
    "optimizer=muon",
    "threads=1",
    "precision=float32",
    "device=cpu",
    "compile=false",
    "processes=1",
)


def train(out: Path, *overrides: str) -> subprocess.Popen[str]:
    module = (sys.executable, "-m", "pddlego_training")
    return subprocess.Popen(
        [*module, "nano", f"out={out}", *SMALL, *overrides],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )


def finish(process: subprocess.Popen[str]) -> None:
    told, _ = process.communicate()
    assert process.returncode == 0, told


def kill(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def steps(out: Path) -> list[int]:
    path = out / "progress.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line)["step"] for line in lines if '"loss"' in line]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "out"
    finish(train(out))
    return out


def test_a_training_gives_a_folder_with_a_card(trained: Path) -> None:
    folder = locate(str(trained / "model"))
    card = (folder / "README.md").read_text(encoding="utf-8")
    for words in (
        "games of the student",
        "Training curve",
        "| 1 | method.variant=compact environment.rooms=3 | free | 0 of 1",
    ):
        assert words in card
    assert steps(trained) == [*range(1, 9), 1, 2]
    assert load_file(folder / "model.safetensors")
    slips, student = (
        (Game(seed) for seed in range(100_000, 100_008)),
        map(Game, (400_000, 400_001)),
    )
    assert training_maps(str(folder)) == maps_of([*slips, *student])


def test_a_training_that_is_killed_goes_on_and_ends_the_same(
    trained: Path, tmp_path: Path
) -> None:
    """Killed in the middle of the first round, and with half a checkpoint left
    behind.
    """
    out = tmp_path / "out"
    shutil.copytree(trained / "examples", out / "examples")
    process = train(out, "play=null")
    while not [step for step in steps(out) if step >= 4]:
        assert process.poll() is None
        time.sleep(0.05)
    kill(process)
    whole = sorted((out / "round-0").glob("checkpoint-*"))
    torn = out / "round-0" / "checkpoint-7"
    shutil.copytree(whole[-1], torn)
    (torn / "trainer_state.json").write_text('{"global_step": 7, "lo', encoding="utf-8")
    finish(train(out, "play=null"))
    assert not torn.exists()
    for number in (0, 1):
        file = f"round-{number}/model/model.safetensors"
        alike, once = load_file(out / file), load_file(trained / file)
        assert alike.keys() == once.keys()
        assert all(alike[name].equal(once[name]) for name in once)


def test_a_folder_begun_with_other_settings_is_left_alone(
    trained: Path, tmp_path: Path, pddlego_train: Pddlego
) -> None:
    told = pddlego_train("nano", f"out={trained}", *SMALL, "seed=1", code=2).err
    assert "was begun with another seed" in told


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["steps=3"], "steps"),
        (["batch=5"], "batch must be a multiple of at_once"),
        (["shape.heads=2"], "hidden_size must be 32 or 64 times heads"),
        (["weights=somewhere"], "weights"),
        (["rounds.0.student=2"], "no student in the first round"),
        (["rounds=[]"], "rounds"),
        (["environment=[coin,cooking]"], "cooking: method=pddl_edit is needed"),
        (["environment=[coin,described]"], "described worlds are learned alone"),
        (["environment=described"], "environment=described needs worlds"),
    ],
)
def test_impossible_settings_are_named(overrides: list[str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        compose_settings("nano", overrides)


def test_a_loss_that_is_not_a_number_ends_the_training(tmp_path: Path) -> None:
    """The Trainer alone would show such a loss as 0 and go on."""
    process = train(tmp_path / "out", "rounds.0.learning_rate=1e30", "play=null")
    message, _ = process.communicate()
    assert process.returncode == 3
    assert "is not a number; choose a smaller learning_rate" in " ".join(
        message.split()
    )
    assert "Traceback" not in message


def test_a_compiler_that_is_missing_is_named_before_games_are_played(
    monkeypatch: pytest.MonkeyPatch, pddlego_train: Pddlego, tmp_path: Path
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    told = pddlego_train("nano", f"out={tmp_path}", code=3).err
    assert "no-such-compiler is missing" in told
    assert not (tmp_path / "examples").exists()


@pytest.mark.parametrize("out", ["below/a/file", "x" * 300])
def test_an_output_that_cannot_be_is_told_in_one_sentence(
    out: str, pddlego_train: Pddlego, tmp_path: Path
) -> None:
    (tmp_path / "below").touch()
    place = tmp_path / out
    told = pddlego_train("nano", f"out={place}", *SMALL, code=3).err
    assert str(place)[:20] in told


def test_every_training_composes() -> None:
    for file in CONF.glob("*.yaml"):
        assert compose_settings(file.stem, []).name == file.stem
