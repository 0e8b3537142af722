"""ALFWorld's process: what becomes of it, and of us, when it dies, hangs, or lacks a
part.

A quarter of a minute.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from pddlego_local.core.errors import EnvironmentFault, MissingPart
from pddlego_local.environments.alfworld.game import Alfworld
from pddlego_local.environments.alfworld.installation import (
    find_environment,
    find_package,
)
from pddlego_local.environments.alfworld.process import Limits
from pddlego_local.planner.warm import find_fast_downward

HEAT = ("pick_heat_then_place_in_recep",)
# Plays with one more environment in a process of its own; says the worker's id, and
# waits.
PLAYER = """
import sys
from pddlego_local.environments.alfworld.game import Alfworld
game = Alfworld()
game.reset(0)
print(game._process._running.pid, flush=True)
sys.stdin.read()
"""


def worker(game: Alfworld) -> psutil.Process:
    assert game._process._running is not None
    return psutil.Process(game._process._running.pid)


def test_a_killed_process_is_a_fault_and_the_next_reset_starts_another(
    heat: Alfworld,
) -> None:
    first = heat.reset(0)
    worker(heat).kill()
    with pytest.raises(EnvironmentFault, match=r"'step'.*status -9"):
        heat.step("look")
    with pytest.raises(EnvironmentFault, match="before any game"):
        heat.step("look")
    assert heat.reset(0) == first


@pytest.mark.parametrize("request_kind", ["step", "load"])
def test_a_process_that_hangs_is_killed(request_kind: str) -> None:
    game = Alfworld(task_types=HEAT, limits=Limits(start_s=600, load_s=600))
    game.reset(0)
    game._process._limits = Limits(load_s=0.3, step_s=0.3)
    process = worker(game)
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(
        EnvironmentFault, match=f"'{request_kind}': no answer within 0.3 s"
    ):
        game.step("look") if request_kind == "step" else game.reset(1)
    assert not process.is_running()


def test_close_leaves_no_process() -> None:
    game = Alfworld()
    game.close()
    game.reset(0)
    process = worker(game)
    game.close()
    game.close()
    assert not process.is_running()
    dropped = Alfworld()
    dropped.reset(0)
    process = worker(dropped)
    del dropped
    assert not process.is_running()


@pytest.mark.parametrize("end", [signal.SIGKILL, None])
def test_no_process_outlives_ours(end: signal.Signals | None) -> None:
    player = subprocess.Popen(
        [sys.executable, "-c", PLAYER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert player.stdin and player.stdout
    process = psutil.Process(int(player.stdout.readline()))
    if end:
        player.send_signal(end)
    player.communicate()
    process.wait(10)
    assert not process.is_running()


def test_a_missing_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "textworld.py").write_text("import no_such_package", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(MissingPart, match=r"'no_such_package'.*make alfworld"):
        Alfworld().reset(0)


def test_a_missing_environment_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PDDLEGO_ALFWORLD_ENV", str(tmp_path))
    with pytest.raises(MissingPart, match=f"{tmp_path}.*make alfworld"):
        Alfworld().reset(0)


def test_a_translator_that_another_package_wrote_over_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`fast-downward.translate` installs files of the same names, which ALFWorld cannot
    use.
    """
    mixed = tmp_path / "fast_downward"
    mixed.mkdir()
    for file in (find_package().parent / "fast_downward").iterdir():
        if file.is_file():
            (mixed / file.name).symlink_to(file)
    (mixed / "translate").symlink_to(
        find_fast_downward().translator / "fast_downward/translate"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(MissingPart, match="fast-downward-textworld is damaged"):
        Alfworld().reset(0)


def test_the_package_makes_no_folder_where_the_data_set_should_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Importing it makes the folder that ALFWORLD_DATA names."""
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "unmade"))
    game = Alfworld()
    game.reset(0)
    game.close()
    assert not (tmp_path / "unmade").exists()


def test_its_environment_may_be_named_as_seen_from_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ALFWorld's process runs in another folder."""
    monkeypatch.setenv("PDDLEGO_ALFWORLD_ENV", os.path.relpath(find_environment()))
    game = Alfworld()
    assert game.reset(0).text
    game.close()
