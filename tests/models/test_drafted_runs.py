"""Whole runs with drafts, by the random model in process: continued, shown,
reported.
"""

from pathlib import Path

import pytest

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Completion, Grammar, Messages, Prefix, Sampling
from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import read_events, read_rows
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.models.random import RandomModel
from pddlego_local.models.transformers import TransformersModel
from pddlego_local.runner.cell import CellResult
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.given import give
from tools.chaos.sweeps import without_clocks

DRAFTS = ["decoding.reason=draft", "decoding.draft_tokens=20", "decoding.max_tokens=60"]


def play(out: Path, *overrides: str, games: str = "0-1") -> CellResult:
    fixed = ["model=random", "decoding=typed", "run.concurrency=1", "run.retries=0"]
    return run_cell(
        compose_cell([*fixed, *DRAFTS, f"run.out={out}", f"games={games}", *overrides])
    )


def rows(result: CellResult) -> list[EpisodeRow]:
    found = read_rows(result.folder / "episodes.jsonl")
    return sorted(map(without_clocks, found), key=lambda row: row.game)


def calls(result: CellResult) -> list[Call]:
    paths = sorted((result.folder / "transcripts").glob("*.jsonl"))
    return [
        event
        for path in paths
        for event in read_events(path)
        if isinstance(event, Call)
    ]


def written(result: CellResult) -> list[list[tuple[str, int]]]:
    return [
        [(stage.text, stage.completion_tokens) for stage in call.stages]
        for call in calls(result)
    ]


class Faltering(TransformersModel):
    """Fails once: at its third draft, or at an answer after its second."""

    def falter(self, *, at_draft: bool) -> None:
        self.drafts, self.at_draft, self.faltered = 0, at_draft, False

    def complete(
        self,
        messages: Messages,
        grammar: Grammar | None,
        sampling: Sampling,
        prefix: Prefix | None = None,
    ) -> Completion:
        self.drafts += grammar is None
        due = self.drafts == (3 if self.at_draft else 2)
        if due and self.at_draft is (grammar is None) and not self.faltered:
            self.faltered = True
            raise ModelFault("gone for a moment")
        return super().complete(messages, grammar, sampling, prefix)


@pytest.mark.parametrize("at_draft", [True, False])
def test_a_run_broken_off_at_a_draft_ends_as_if_undisturbed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_draft: bool
) -> None:
    whole = play(tmp_path / "whole")
    random = RandomModel()
    model = Faltering(weights=random.weights, dtype="float32", engine=random.engine)
    model.falter(at_draft=at_draft)
    with monkeypatch.context() as patch:
        give(model, patch)
        broken = play(tmp_path / "broken")
        assert len(broken.faults) == 1 and broken.played == 1
    continued = play(tmp_path / "broken")
    assert (continued.faults, continued.played) == ([], 1)
    assert rows(continued) == rows(whole)
    assert written(continued) == written(whole)
