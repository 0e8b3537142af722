"""What a reader of a transcript sees of tokens, stages and rollbacks."""

from pathlib import Path

import pytest

from pddlego_local.cli import run
from pddlego_local.core.formats import to_json
from pddlego_local.core.nouns import Sampling
from pddlego_local.core.record.events import DrawnStage
from tests.rows import call


def test_forced_tokens_and_rollbacks_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    types = DrawnStage("types", "", Sampling(), "", "(:types a a)", "stop", 9, 12, 0.5)
    again = DrawnStage(
        "types", "", Sampling(), "(:types a", " b)", "stop", 9, 8, 0.5, drop=3, forced_tokens=5
    )
    (tmp_path / "transcripts").mkdir()
    transcript = tmp_path / "transcripts" / "1-0.jsonl"
    event = call(completion_tokens=20, forced_tokens=5, stages=(types, again))
    transcript.write_text(to_json(event) + "\n" + to_json(call(forced_tokens=0)) + "\n")
    assert run(["show", str(tmp_path), "1"]) == 0
    shown = capsys.readouterr().out
    assert "20 tokens of which 5 forced, 0.50 s" in shown
    assert "stages, tokens: types 12, ↩ types 8 (5 forced)" in shown
    assert "10 tokens, 0.50 s" in shown
