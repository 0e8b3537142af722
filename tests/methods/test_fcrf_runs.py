"""Whole runs of FCRF: what is learnt between trials, undisturbed, side by side, and
killed.
"""

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import GrammarIgnored
from pddlego_local.core.nouns import Completion, Sampling
from pddlego_local.core.record.folder import read_rows
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.decoding.question import AnyQuestion, Drawn
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.report.text import report_markdown
from pddlego_local.runner import run
from pddlego_local.runner.config import compose_cell
from tests.given import give
from tests.report.test_report import report
from tools.chaos.sweeps import without_clocks


class Pupil(ReferenceFormalizer):
    """Fails every game as often as its first look says (0 to 3 times), then plays
    perfectly.

    What it says as a mentor is a digest of all that it was told: whatever depends on
    the order of episodes changes it, and with it all that follows.
    """

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        first = question.messages[0].content
        if question.form.name != "move":
            return self._says({"text": hashlib.sha256(first.encode()).hexdigest()})
        look = question.context.memory[0].text.encode()
        if first.count("\nTrial:\n") < hashlib.sha256(look).digest()[0] % 4:
            return self._says({"kind": "think", "text": "I am stuck."})
        return super().answer(question, sampling)

    def _says(self, answer: dict[str, str]) -> Drawn:
        return Drawn(Completion(json.dumps(answer), "stop", 0, 0, 0.0))


class Killed(Pupil):
    """Stops the run at its n-th answer."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        object.__setattr__(self, "left", [None] * answers)

    def answer(self, question: AnyQuestion, sampling: Sampling) -> Drawn:
        left: list[None] = self.left  # type: ignore[attr-defined]
        if not left:
            raise GrammarIgnored("killed")
        left.pop()
        return super().answer(question, sampling)


def whole_run(
    out: Path, monkeypatch: pytest.MonkeyPatch, model: Any, *further: str
) -> list[EpisodeRow]:
    give(model, monkeypatch)
    difficulty = "method.difficulty=[{tasks: '.*', objects: 2, operations: 2}]"
    overrides = [
        "method=fcrf",
        difficulty,
        "environment.rooms=5",
        "games='3,5-7,15'",
        "trials=4",
    ]
    with contextlib.closing(model):
        run.run_cell(compose_cell([*overrides, f"run.out={out}", *further]))
    (file,) = out.rglob("episodes.jsonl")
    rows = [without_clocks(row) for row in read_rows(file)]
    return sorted(rows, key=lambda row: (row.trial, row.game))


def test_what_is_learnt_depends_neither_on_concurrency_nor_on_being_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = whole_run(tmp_path / "one", monkeypatch, Pupil(), "run.concurrency=1")
    assert len(rows) == 20
    assert "fcrf uses in each game what it learned" in report_markdown(
        report(tmp_path / "one")
    )
    assert {row.outcome for row in rows} == {
        "repeated_action",
        "success",
        "solved_before",
    }
    assert [row.task_type for row in rows if "lesson" in row.notes] == ["5 rooms"] * 5
    (deep,) = tmp_path.rglob("transcripts/15-2.jsonl")
    assert "These lessons were learnt" in deep.read_text(encoding="utf-8")

    assert (
        whole_run(tmp_path / "four", monkeypatch, Pupil(), "run.concurrency=4") == rows
    )

    # between two games of one trial: what the first taught must not reach the second
    played = 0
    for stop in [(1, 6), (2, 15)]:
        upto = sum(row.calls for row in rows if (row.trial, row.game) < stop)
        with pytest.raises(GrammarIgnored):
            whole_run(
                tmp_path / "k", monkeypatch, Killed(upto - played), "run.concurrency=1"
            )
        played = upto
    (file,) = (tmp_path / "k").rglob("episodes.jsonl")
    assert max((row.trial, row.game) for row in read_rows(file)) == (2, 7)
    assert whole_run(tmp_path / "k", monkeypatch, Pupil()) == rows
