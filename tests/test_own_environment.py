"""An environment and a method of one's own from Python: found with `config_dir`, played
by every function and with every model, and continued only with the code that they were
begun with.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from hydra import compose, initialize_config_dir

import pddlego_local
from pddlego_local.api.cell_warnings import training_warnings
from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.run_record import read_run
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.provenance import code_sha256
from tests.pddlego import Pddlego
from tests.worlds import plant_worlds

LAMP = Path(__file__).parents[1] / "examples" / "lamp"
GAME = "pddlego_local.api.gymnasium_env:pddlego/Game-v0"


@pytest.fixture
def lamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of examples/lamp, from which Python imports. The working directory is
    beside it.
    """
    copy = Path(shutil.copytree(LAMP, tmp_path / "lamp"))
    monkeypatch.syspath_prepend(copy)
    monkeypatch.chdir(tmp_path)
    yield copy
    for name in list(sys.modules):
        if name.partition(".")[0] in ("lamp", "hopeful", "words"):
            del sys.modules[name]
    code_sha256.cache_clear()


def test_every_way_in_takes_a_folder_of_configurations(
    lamp: Path, tmp_path: Path, pddlego: Pddlego
) -> None:
    own: dict[str, Any] = {"environment": "lamp", "config_dir": lamp / "conf"}
    game = pddlego_local.Game(**own)
    shown, info = game.reset(3)
    assert "You are in room 1" in shown and info["commands"][0] == "go to room 2"
    game.close()
    env = gymnasium.make(GAME, **own)
    assert env.reset(seed=3)[0] == shown
    env.close()
    asked = pddlego_local.question(**own, method="hopeful", games="3")
    assert "A domain file and a problem file, please" in asked.messages[0].content
    (answer,) = pddlego_local.sample(
        asked, "random", "syntax", config_dir=lamp / "conf", decoding__max_tokens=9
    )
    assert answer.fault == "truncated"
    (cell,) = pddlego_local.run(
        **own,
        method="hopeful",
        model="reference",
        games=[3, 4],
        run__out=tmp_path / "runs",
    )
    assert pddlego_local.load(cell)["won"].all()
    words = ("environment=lamp", "games=3", "--prompt", f"--config-dir={lamp / 'conf'}")
    assert "You are in room 1" in pddlego("sample", *words).out
    with pytest.raises(ConfigError, match="environment=lamp: there is no such choice"):
        pddlego_local.Game(environment="lamp")


def test_a_program_that_uses_hydra_keeps_its_own_configurations(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("theirs: 1", encoding="utf-8")
    with initialize_config_dir(str(tmp_path), version_base="1.3"):
        assert compose_cell(["environment.rooms=4"]).labels["environment"] == "coin"
        assert compose("config").theirs == 1


@pytest.mark.parametrize(
    ("model", "warned"), [("nano", True), ("nano_worlds", True), ("qwen3_8b", False)]
)
def test_a_model_in_the_box_warns_that_it_never_saw_an_own_environment(
    lamp: Path, model: str, warned: bool
) -> None:
    words = ["environment=lamp", f"model={model}", "decoding=free"]
    cell = compose_cell(words, lamp / "conf")
    cell.check()
    warnings = " ".join(training_warnings([cell]))
    assert ("never saw environment=lamp.Lamp" in warnings) == warned


def test_a_model_in_the_box_plays_an_own_environment(lamp: Path) -> None:
    options: dict[str, Any] = {"environment": "lamp", "config_dir": lamp / "conf"}
    options["method__variant"] = "compact"
    with pytest.warns(UserWarning, match=r"model=nano .* never saw"):
        pddlego_local.run(**options, model="nano", decoding="grounded", games="3")


def test_games_are_drawn_from_a_folder_with_few_worlds(tmp_path: Path) -> None:
    plant_worlds(tmp_path, 2)
    options: dict[str, Any] = {
        "environment": "described",
        "environment__folder": str(tmp_path),
    }
    env = gymnasium.make(GAME, **options, method="formalizer", actions="pddl")
    env.reset(seed=1)
    assert len({env.reset()[0] for _ in range(12)}) == 2
    env.close()
    with pytest.raises(ConfigError, match="has no game 5; its games are 0 to 1"):
        pddlego_local.question(**options, method="formalizer", games="5")


@pytest.mark.parametrize(
    ("options", "cells", "games"),
    [
        ({"environment__sizes": (3, 4)}, 1, {0}),
        ({"seed": [0, 1], "decoding": ["free", "json"]}, 4, {0}),
        ({"games": [0, 2]}, 1, {0, 2}),
        ({"games": range(2)}, 1, {0, 1}),
        ({"environment__sizes": [(3, 3), (4, 4)]}, 2, {0}),
    ],
)
def test_lists_and_ranges_are_sweeps_and_a_tuple_is_one_value(
    options: dict[str, Any], cells: int, games: set[int], tmp_path: Path
) -> None:
    given: dict[str, Any] = {"environment": "described", "method": "formalizer"}
    given |= {"model": "reference"}
    given |= {"games": "0", "environment__sizes": (3, 4), **options}
    folders = pddlego_local.run(**given, run__out=tmp_path)
    assert len(set(folders)) == len(folders) == cells
    assert set(pddlego_local.load(folders)["game"]) == games


def test_a_list_for_a_value_that_is_a_list_is_explained() -> None:
    options = {"environment": "described", "method": "formalizer", "games": "0"}
    with pytest.raises(
        ConfigError, match=r"is a sweep with .* write the tuple \(3, 4\)$"
    ):
        pddlego_local.run(**options, environment__sizes=[3, 4])
    with pytest.raises(
        ConfigError, match=r"^decoding\.temperature: .* list of values is empty"
    ):
        pddlego_local.run(**options, decoding__temperature=[])


# ---- Code that changes while a cell is unfinished


def play(lamp: Path, games: str = "0-1", **options: Any) -> Path:
    """Plays more games of the cell, as another process would, which reads the code
    again.
    """
    code_sha256.cache_clear()
    fixed = {"environment": "lamp", "method": "hopeful", "model": "reference"}
    (cell,) = pddlego_local.run(
        config_dir=lamp / "conf", **(fixed | options), games=games
    )
    return cell


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (
            "lamp.py",
            (
                r"other code in lamp\.py: choose another `name`, .*put the old version"
                r" back"
            ),
        ),
        ("hopeful/method.py", r"other code in hopeful/method\.py"),
        ("words.py", r"other code in words\.py"),
        ("levels.yaml", r"other code in levels\.yaml"),
        ("hopeful/rules/new.py", r"other code in hopeful/rules/new\.py"),
        ("hopeful/prompts/ask.jinja", r"other prompts: choose another `name`"),
        ("unrelated.py", ""),
        ("data.csv", ""),
        ("hopeful/__pycache__/method.pyc", ""),
        ("conf/environment/other.yaml", ""),
    ],
)
def test_a_cell_goes_on_with_the_code_that_it_was_begun_with(
    lamp: Path, file: str, told: str
) -> None:
    with (lamp / "lamp.py").open("a", encoding="utf-8") as game:
        game.write("\n\ndef later() -> None:\n    import words\n")
    for new in ("words.py", "unrelated.py"):
        (lamp / new).touch()
    cell = play(lamp)
    (lamp / file).parent.mkdir(exist_ok=True)
    with (lamp / file).open("a", encoding="utf-8") as changed:
        changed.write("\n")
    if told:
        with pytest.raises(ConfigError, match=told):
            play(lamp, "0-3")
        assert len(pddlego_local.load(cell)) == 2
        assert play(lamp, "0-3", name="another").parent.name == "another"
    else:
        assert play(lamp, "0-3") == cell and len(pddlego_local.load(cell)) == 4


def test_a_record_names_the_versions_of_the_packages_that_play_the_game(
    lamp: Path,
) -> None:
    plain = read_run(play(lamp, name="plain")).starts[0].packages
    assert plain and "bulb" not in plain
    with (lamp / "lamp.py").open("a", encoding="utf-8") as game:
        game.write("\n\nLamp.versions = lambda lamp: {'bulb': '1.2'}\n")
    sys.modules.pop("lamp", None)
    packages = read_run(play(lamp, name="versioned")).starts[0].packages
    assert packages == plain | {"bulb": "1.2"}


def test_the_code_is_recorded_for_extensions_alone(lamp: Path) -> None:
    own = read_run(play(lamp)).code_sha256
    assert own and [*own] == ["hopeful/__init__.py", "hopeful/method.py", "lamp.py"]
    with_our_method = read_run(play(lamp, method="pddl_edit")).code_sha256
    assert with_our_method and [*with_our_method] == ["lamp.py"]
    ours = play(lamp, environment="coin", method="pddl_edit")
    assert b"code" not in (ours / "run.json").read_bytes()
