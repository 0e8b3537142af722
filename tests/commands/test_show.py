"""What a reader of a transcript sees of tokens, stages and rollbacks."""

from pathlib import Path

from pddlego_local.core.formats import to_json
from tests.pddlego import Pddlego
from tests.rows import call, stage


def test_forced_tokens_and_rollbacks_are_shown(tmp_path: Path, pddlego: Pddlego) -> None:
    types = stage(text="(:types a a)", completion_tokens=12)
    again = stage(before="(:types a", text=" b)", completion_tokens=8, drop=3, forced_tokens=5)
    (tmp_path / "transcripts").mkdir()
    transcript = tmp_path / "transcripts" / "1-0.jsonl"
    event = call(completion_tokens=20, forced_tokens=5, stages=(types, again))
    transcript.write_text(
        to_json(event) + "\n" + to_json(call(forced_tokens=0)) + "\n", encoding="utf-8"
    )
    shown, told = pddlego("show", tmp_path, 1, code=1)  # the transcript has no end
    assert f"{transcript} has no end: a part of the episode is lost" in told
    assert "20 tokens of which 5 forced, 0.50 s" in shown
    assert "stages, tokens: types 12, ↩ types 8 (5 forced)" in shown
    assert "10 tokens, 0.50 s" in shown


def test_an_episode_of_the_only_cell_below_a_run(tmp_path: Path, pddlego: Pddlego) -> None:
    for cell in ("a", "b"):
        (tmp_path / "runs" / cell / "transcripts").mkdir(parents=True)
        (tmp_path / "runs" / cell / "transcripts" / "7-0.jsonl").write_text(
            to_json(call()) + "\n", encoding="utf-8"
        )
        if cell == "a":
            for folder in ("runs", "runs/a"):
                pddlego("show", tmp_path / folder, 7, code=1)
            assert "there are: 7-0" in pddlego("show", tmp_path / "runs", 8, code=2).err
    told = pddlego("show", tmp_path / "runs", 7, code=2).err
    assert f"holds 2 cells; name one, such as {tmp_path}/runs/a" in told
