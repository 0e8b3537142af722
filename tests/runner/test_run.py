"""Whole runs as a user starts them: killed, continued, faulty, refused."""

import hashlib
import itertools
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from pddlego_local.cli import run
from pddlego_local.core import errors
from pddlego_local.core.nouns import Observation, Sampling
from pddlego_local.core.record.events import Unsolvable
from pddlego_local.core.record.folder import read_events, read_rows
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.decoding.question import AnyQuestion, Drawn
from pddlego_local.environments.alfworld.process import GameProcess
from pddlego_local.environments.coin.game import Coin
from pddlego_local.models.card import TRAINING_MAPS
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.models.scripted import Scripted
from pddlego_local.runner import run as runner
from pddlego_local.runner.cell import CellResult
from pddlego_local.runner.config import compose_cell
from tests.environments.test_alfworld_data import DataSet
from tests.given import give
from tests.pddlego import Pddlego
from tests.processes import finish, start
from tools.chaos.sweeps import rows_of, wrong_records


def played(out: Path, *overrides: str, games: str) -> int:
    """In this process: the exit code."""
    return run(["run", f"run.out={out}", f"games={games}", *overrides])


def played_cell(out: Path, *overrides: str) -> CellResult:
    """One cell, in this process: its result."""
    return runner.run_cell(compose_cell([f"run.out={out}", *overrides]))


def left_over(out: Path) -> list[psutil.Process]:
    """Processes that any run into `out` started and that still live."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("PDDLEGO_TEST_MARK") == str(out):
                found.append(process)
        except psutil.Error:
            continue
    return found


def gone(out: Path, within_s: float = 600) -> bool:
    deadline = time.monotonic() + within_s
    while left_over(out):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def rows(out: Path) -> list[EpisodeRow]:
    """Rows of all cells below `out` without what a clock says, sorted by game."""
    found = itertools.chain.from_iterable(rows_of(out).values())
    return sorted(found, key=lambda row: (row.game, row.trial))


def games_played(out: Path) -> list[int]:
    return [row.game for row in rows(out)]


def outcomes(out: Path) -> list[str]:
    return [row.outcome for row in rows(out)]


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_killed_twice_and_continued_a_sweep_ends_as_if_undisturbed(
    tmp_path: Path,
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    sweep, games = ("-m", "environment.rooms=3,5"), "0-9"
    assert played(whole, *sweep, games=games) == 0
    cut_short, mark = 0, {**os.environ, "PDDLEGO_TEST_MARK": str(killed)}
    for rows_before_kill in (1, 13):
        process = start("run", f"run.out={killed}", f"games={games}", *sweep, env=mark)
        while len(rows(killed)) < rows_before_kill and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        finish(process)
        assert gone(killed)
        cut_short += len(rows(killed)) < 20
    assert cut_short
    assert played(killed, *sweep, games=games) == 0
    assert rows(killed) == rows(whole)
    assert games_played(whole) == sorted([*range(10), *range(10)])
    assert wrong_records(killed) == []


def test_a_finished_run_is_not_played_again_and_more_games_are_added(
    tmp_path: Path, pddlego: Pddlego
) -> None:
    assert played(tmp_path, games="0,1") == 0
    (file,) = tmp_path.rglob("episodes.jsonl")
    before = file.read_bytes()
    printed = pddlego("run", f"run.out={tmp_path}", "games=0,1").err
    assert "0 episodes to play, 2 done" in printed.replace("\n", " ")
    assert file.read_bytes() == before
    assert played(tmp_path, games="0-3") == 0
    assert file.read_bytes().startswith(before) and len(read_rows(file)) == 4
    starts = json_of(file.parent / "run.json")["starts"]
    assert [start["config"]["games"] for start in starts] == ["0,1", "0-3"]


def test_a_sweep_plays_every_cell_and_the_record_holds_what_is_needed(
    tmp_path: Path,
) -> None:
    assert played(tmp_path, "-m", "environment.rooms=3,5", "seed=0,1", games="0,1") == 0
    cells = sorted(tmp_path.rglob("run.json"))
    assert len(cells) == 4
    record = json_of(cells[0])
    assert record["labels"]["model"] == "reference"
    assert record["grammar_sha256"] and record["prompt_sha256"]
    (start,) = record["starts"]
    assert start["packages"]["outlines"] and "commit" in start and "dirty" in start
    assert ("committed" in start) == (start["commit"] is not None)
    assert start.get("committed", "") <= start["began"]
    assert start["config"]["environment"]["rooms"] in (3, 5)


class Flaky(ReferenceFormalizer):
    """Fails on one game's calls the first `failures` times."""

    def __init__(self, error: Exception, failures: int) -> None:
        super().__init__()
        object.__setattr__(self, "left", [error] * failures)

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        left: list[Exception] = self.left  # type: ignore[attr-defined]
        look = question.context.memory[0].text
        if left and "South you see a closed patio door. To the West" in look:
            raise left.pop()
        return super().answer(question, sampling)


def play(tmp_path: Path, model: object, monkeypatch: pytest.MonkeyPatch) -> CellResult:
    give(model, monkeypatch)
    monkeypatch.setattr("pddlego_local.runner.cell.MOST_WAIT_S", 0)
    return played_cell(tmp_path, "games=0-2", "run.retries=2")


def test_a_passing_fault_costs_a_retry_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = play(tmp_path, Flaky(errors.ModelFault("gone"), 2), monkeypatch)
    assert result.faults == [] and result.played == 3
    assert outcomes(tmp_path) == ["success"] * 3


def test_a_lasting_fault_is_reported_not_scored_and_played_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = play(tmp_path, Flaky(errors.ModelFault("gone"), 99), monkeypatch)
    assert result.faults == ["game 1, trial 0: ModelFault: gone"]
    assert games_played(tmp_path) == [0, 2]
    (faults,) = tmp_path.rglob("faults.jsonl")
    assert json_of(faults)["message"] == "gone"
    result = play(tmp_path, ReferenceFormalizer(), monkeypatch)
    assert result.played == 1
    assert games_played(tmp_path) == [0, 1, 2]


def test_a_grammar_that_does_not_compile_costs_its_episode_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = errors.GrammarFault(
        "The grammar 'facts' does not compile: too deep.", "start: ((("
    )
    result = play(tmp_path, Flaky(bad, 1), monkeypatch)  # one more try would find none
    (kept,) = tmp_path.rglob("1-0.lark")
    (fault,) = result.faults
    assert fault == f"game 1, trial 0: GrammarFault: {bad} Its text is in {kept}."
    assert kept.read_text(encoding="utf-8") == "start: ((("
    assert games_played(tmp_path) == [0, 2]
    assert play(tmp_path, ReferenceFormalizer(), monkeypatch).played == 1


def test_an_episode_that_outgrows_the_context_ends_and_is_recorded_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Scripted(["no PDDL", errors.PromptTooLong("no room")])
    give(first, monkeypatch)
    assert played_cell(tmp_path, "games=1", "decoding=free").faults == []
    assert outcomes(tmp_path) == ["context_exceeded"]
    never = Scripted([errors.PromptTooLong("no room")])
    give(never, monkeypatch)
    with pytest.raises(errors.PromptTooLong):
        played_cell(tmp_path, "games=2", "decoding=free")


def test_games_on_a_map_of_the_models_training_are_marked(tmp_path: Path) -> None:
    """A list beside the weights says so; the record names the list."""
    weights = make_random_llama(tmp_path / "weights", seed=1)
    environment = Coin(rooms=3)
    maps = dict[int, str]()
    for game in range(4):
        environment.reset(game)
        maps[game] = environment.map
    (weights / TRAINING_MAPS).write_text(f"# maps\n{maps[0]}\n", encoding="utf-8")
    result = played_cell(
        tmp_path,
        "environment.rooms=3",
        "games=0-3",
        "model=transformers",
        f"model.weights={weights}",
        "decoding=free",
        "decoding.max_tokens=4",
        "method.rounds=1",
    )
    assert {row.game: row.map for row in rows(tmp_path)} == maps
    seen = {row.game: row.map_seen for row in rows(tmp_path)}
    assert seen == {game: maps[game] == maps[0] for game in maps}
    assert set(seen.values()) == {True, False}
    listed = hashlib.sha256((weights / "training_maps.txt").read_bytes()).hexdigest()
    model = json_of(result.folder / "run.json")["model"]
    assert model["training_maps_sha256"] == listed


@pytest.mark.alfworld
@pytest.mark.parametrize("signal_sent", [signal.SIGKILL, signal.SIGSTOP])
def test_a_game_that_crashes_or_hangs_costs_its_episode_a_retry_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signal_sent: signal.Signals
) -> None:
    """ALFWorld's process is killed, or stopped, at the twelfth command."""
    commands = 0

    def step(self: GameProcess, command: str) -> Observation:
        nonlocal commands
        commands += 1
        if commands == 12:
            assert self._running
            os.kill(self._running.pid, signal_sent)
        return plain(self, command)

    plain = GameProcess.step
    monkeypatch.setattr(GameProcess, "step", step)
    cell = ["environment=alfworld", "games=0-2", "run.concurrency=1"]
    result = played_cell(tmp_path, *cell, "environment.limits.step_s=8")
    assert result.faults == [] and result.played == 3
    assert outcomes(tmp_path) == ["success"] * 3
    assert commands > 12


@pytest.mark.alfworld
def test_a_game_that_nobody_can_win_is_named_and_the_others_are_played(
    tmp_path: Path,
) -> None:
    data = DataSet(tmp_path / "alfworld")
    data.add("pick_and_place_simple", solvable=False)
    data.add("pick_and_place_simple", seed=1)
    cell = ["environment=alfworld_real", f"environment.data={data.root}", "games=0-1"]
    result = played_cell(tmp_path, *cell)
    rows = read_rows(result.folder / "episodes.jsonl")
    assert sorted(row.outcome for row in rows) == ["success", "unsolvable_game"]
    (lost,) = (row for row in rows if not row.success)
    events = read_events(result.folder / "transcripts" / f"{lost.game}-0.jsonl")
    assert isinstance(events[0], Unsolvable) and "no solution" in events[0].message


COIN = "pddlego_local.environments.coin.game.Coin"


def broken_at(*games: int, error: BaseException) -> type[Coin]:
    """Coin, whose code fails in some games, as that of an environment of one's own
    may.
    """

    class Broken(Coin):
        def reset(self, seed: int) -> Observation:
            if seed in games:
                raise error
            return super().reset(seed)

    return Broken


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize(
    "error",
    [
        KeyError("no such room"),
        SystemExit(0),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "a lone \ud800"),
        Unprintable(),
        OSError("two\nlines"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_an_episode_raises_is_a_fault_of_that_episode(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pddlego: Pddlego,
    error: BaseException,
) -> None:
    kind = type(error).__name__
    with monkeypatch.context() as patch:
        patch.setattr(COIN, broken_at(1, error=error))
        told = pddlego("run", f"run.out={tmp_path}", "games=0-2", code=3).err
    (faults,) = tmp_path.rglob("faults.jsonl")
    (line,) = faults.read_text(encoding="utf-8").splitlines()  # and was not tried again
    fault = json.loads(line)
    assert (fault["fault"], fault["game"]) == (kind, 1)
    assert fault["traceback"].startswith("Traceback")
    assert "in reset" in fault["traceback"]
    (sentence,) = [line for line in told.splitlines() if "infrastructure fault" in line]
    assert f"game 1, trial 0: {kind}: " in sentence and str(faults) in sentence
    assert games_played(tmp_path) == [0, 2]
    monkeypatch.setattr(COIN, broken_at(error=error))
    assert played(tmp_path, games="0-2") == 0
    assert outcomes(tmp_path) == ["success"] * 3


def test_ten_equal_exceptions_end_their_cell_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pddlego: Pddlego
) -> None:
    broken = broken_at(*range(1, 30), error=KeyError("no such room"))
    monkeypatch.setattr(COIN, broken)
    words = ("-m", f"run.out={tmp_path}", "games=0-24", "environment.rooms=3,5")
    told = pddlego("run", *words, "run.concurrency=1", code=3).err
    faults = [path.read_bytes() for path in tmp_path.rglob("faults.jsonl")]
    assert [lines.count(b"\n") for lines in faults] == [10, 10]
    assert "given up after 10 episodes with KeyError in test_run.py, line" in told
    assert "48 episodes are left" in " ".join(told.split())
    assert games_played(tmp_path) == [0, 0]


def test_ten_different_exceptions_end_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors_by_game = [type(f"Error{game}", (Exception,), {}) for game in range(12)]

    class Broken(Coin):
        def reset(self, seed: int) -> Observation:
            raise errors_by_game[seed]("each another")

    monkeypatch.setattr(COIN, Broken)
    result = played_cell(tmp_path, "games=0-11")
    assert (len(result.faults), result.left) == (12, 0)
