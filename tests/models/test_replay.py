"""Recorded answers given again: through whole runs, in real games, with stages and samples."""

from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.core.nouns import Sampling
from pddlego_local.core.record.events import Call
from pddlego_local.core.record.folder import read_events
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.models.replay import Replay
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.episode.drawing import RandomLogits
from tests.given import give
from tests.questions import QUESTION


def record(out: Path, monkeypatch: pytest.MonkeyPatch, model: Any, *overrides: str) -> list[Call]:
    """The calls of one cell's only game."""
    give(model, monkeypatch)
    config = compose_cell([f"run.out={out}", "games=1", "environment.rooms=5", *overrides])
    result = run_cell(config)
    assert not result.faults
    (transcript,) = result.folder.glob("transcripts/*.jsonl")
    return [event for event in read_events(transcript) if isinstance(event, Call)]


def replayed(out: Path, monkeypatch: pytest.MonkeyPatch, of: str, *overrides: str) -> Any:
    model = compose_cell(["model=replay", f"model.run={out}", f"model.of={of}", *overrides])
    return record(out.parent / f"again-{of}", monkeypatch, model.build("model"), *overrides)


@pytest.mark.parametrize(
    ("rung", "best_of", "reason"),
    [
        ("grounded", 1, "none"),
        ("typed", 2, "none"),
        ("syntax", 2, "none"),
        ("syntax", 1, "none"),
        ("syntax", 2, "draft"),
        ("grounded", 1, "draft"),
    ],
)
def test_a_replay_is_the_run_again_drafts_stages_and_samples_included(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rung: str, best_of: int, reason: str
) -> None:
    decoding = [f"decoding={rung}", f"decoding.best_of={best_of}", "decoding.max_tokens=3000"]
    decoding += [f"decoding.reason={reason}", "decoding.draft_tokens=50"]
    before = record(
        tmp_path / "runs", monkeypatch, RandomLogits(1), "model=random", "seed=3", *decoding
    )
    assert any(call.stages for call in before) is (rung != "syntax" or reason == "draft")
    assert all(bool(call.draft) is (reason == "draft") for call in before)
    again = replayed(tmp_path / "runs", monkeypatch, "random", "seed=3", *decoding)
    assert again == before


def test_cells_below_one_folder_do_not_answer_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two models were asked the very same, and one of them on two rungs."""
    out = tmp_path / "runs"
    perfect = record(out, monkeypatch, ReferenceFormalizer(), "model=reference", "decoding=json")
    random = {
        rung: record(out, monkeypatch, RandomLogits(1), "model=random", f"decoding={rung}")
        for rung in ("json", "syntax")
    }
    assert perfect[0].messages == random["json"][0].messages
    for of, rung, before in (
        ("reference", "json", perfect),
        ("random", "json", random["json"]),
        ("random", "syntax", random["syntax"]),
    ):
        again = replayed(out, monkeypatch, of, f"decoding={rung}", "name=" + rung)
        assert [call.text for call in again] == [call.text for call in before]
    with pytest.raises(ConfigError, match=r"several models.*model\.of=random\|reference"):
        Replay(run=out, rung="json", layout="line").preflight()
    with pytest.raises(ConfigError, match=r"no transcripts of nobody"):
        Replay(run=out, rung="json", layout="line", of="nobody").preflight()
    with pytest.raises(ConfigError, match="no transcripts"):
        Replay(run=tmp_path / "nowhere", rung="json").preflight()


def test_a_run_with_drafts_does_not_answer_for_the_one_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, rung = tmp_path / "runs", "decoding=json"
    ways = {reason: [rung, f"decoding.reason={reason}"] for reason in ("none", "draft")}
    before = {
        reason: record(out, monkeypatch, RandomLogits(1), "model=random", *way)
        for reason, way in ways.items()
    }
    for reason, way in ways.items():
        again = replayed(out, monkeypatch, "random", *way, f"name={reason}")
        assert [call.stages for call in again] == [call.stages for call in before[reason]]


WAYS = {
    "layout": (["decoding=syntax"], ["decoding=syntax", "decoding.layout=any"]),
    "goal": (["decoding=grounded"], ["decoding=grounded", "decoding.goal=any"]),
    "stage limits": (["decoding=typed"], ["decoding=typed", "+decoding.stage_tokens.types=5"]),
}


@pytest.mark.parametrize("difference", WAYS)
def test_cells_that_differ_in_what_no_request_shows_do_not_answer_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, difference: str
) -> None:
    one, other = ([*way, "decoding.max_tokens=400"] for way in WAYS[difference])
    before = record(tmp_path / "runs", monkeypatch, RandomLogits(1), "model=random", *one)
    with pytest.raises(ConfigError, match="no transcripts of random"):
        replayed(tmp_path / "runs", monkeypatch, "random", *other)
    # Another model in the other cell: whose answer is whose shows.
    record(tmp_path / "runs", monkeypatch, RandomLogits(2), "model=random", *other)
    assert replayed(tmp_path / "runs", monkeypatch, "random", *one) == before


def test_one_model_with_two_settings_is_not_replayed_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in (1, 2):
        weights = ["model=random", f"model.seed={seed}", "decoding=json"]
        record(tmp_path / "runs", monkeypatch, RandomLogits(seed), *weights)
    with pytest.raises(ConfigError, match="several settings of the model; choose the folder"):
        replayed(tmp_path / "runs", monkeypatch, "random", "decoding=json")


def test_what_was_never_asked_has_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path, monkeypatch, ReferenceFormalizer(), "model=reference")
    with pytest.raises(ModelFault, match="no transcript"):
        Replay(run=tmp_path, rung="syntax", layout="line").answer(QUESTION, Sampling())
