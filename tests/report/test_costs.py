"""The cost of answers: every request counts, with its prompt."""

import functools
from pathlib import Path

import pytest

from pddlego_local.core.record.events import Call
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord, find_cells
from pddlego_local.report.costs import cost_of
from pddlego_local.report.numbers import report_numbers
from pddlego_local.report.text import cell_text
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.planted import plant, wins
from tests.rows import call, stage

sent = functools.partial(stage, prompt_tokens=100)
REJECTED = [sent("rejected", "a"), sent("rejected", "b")]
CALLS: dict[str, tuple[list[Call], int, int]] = {
    "one answer": ([call()], 1, 100),
    "two answers": ([call(), call(retry=1)], 2, 200),
    "candidates of one request": ([call(of=3, sample=n) for n in range(3)], 1, 100),
    "stages": ([call(stages=(sent("objects"), sent("facts", prompt_tokens=120)))],
               2, 220),
    "candidates in stages": ([call(of=2, sample=n, stages=(sent("x"), sent("y")))
                              for n in range(2)], 4, 400),
    "the third try": ([call(text="c", stages=tuple(REJECTED))], 3, 300),
    "all tries rejected": ([call(text="b", stages=tuple(REJECTED))], 2, 200),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_every_request_counts(
    played: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    calls, requests, prompt_tokens = CALLS[name]
    cell = find_cells([played])[0]

    def events(_cell: CellRecord, _row: EpisodeRow) -> tuple[list[Call], str]:
        return calls, ""

    monkeypatch.setattr(CellRecord, "events", events)
    found = cost_of(cell)
    assert found.requests == requests * found.episodes
    assert found.prompt_tokens == prompt_tokens * found.episodes
    assert found.completion_tokens == sum(c.completion_tokens for c in calls) * (
        found.episodes
    )


def test_seconds_need_one_episode_at_a_time(tmp_path: Path) -> None:
    options = ["model=reference", "decoding=free", "games=1,2", "environment.rooms=5"]
    found = {}
    for concurrency in (1, 4):
        words = [f"name=n{concurrency}", f"run.out={tmp_path}"]
        config = compose_cell([*options, *words, f"run.concurrency={concurrency}"])
        run_cell(config)
        (cell,) = find_cells([tmp_path / f"n{concurrency}"])
        found[concurrency] = cost_of(cell)
    assert found[1].seconds is not None
    assert found[4].seconds is None
    assert found[1].requests == found[4].requests > 0


def test_the_rate_at_which_sixteen_tries_are_used_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reject = "decoding.reject={rung:grounded,tries:16}"
    plant(tmp_path, "decoding=free", reject, outcomes=wins([], range(4)))
    rejected = tuple(stage("rejected", str(number)) for number in range(16))
    used_up = [call(text="15", stages=rejected), call(text="yes", stages=rejected[:15])]
    by_game = {0: used_up, 1: used_up[1:]}

    def events(_cell: CellRecord, row: EpisodeRow) -> tuple[list[Call], str]:
        return by_game.get(row.game, used_up[1:] * 2), ""

    monkeypatch.setattr(CellRecord, "events", events)
    (found,) = report_numbers(find_cells([tmp_path])).cells
    answers, games = found.tries_used_up, found.games_with_tries_used_up
    assert (answers.k, answers.n, games.k, games.n) == (1, 7, 1, 4)
    assert cell_text(found)["answers with all tries rejected"].startswith("14.3 %")
