"""The command that tests the promise of the upper rungs: it finds a broken promise, and
goes on.
"""

import json
import sys
from pathlib import Path

import pytest

from pddlego_local.decoding.forms import EDIT, PDDL, PROBLEM
from pddlego_local.episode.reading import answer as reading
from pddlego_local.planner import FastDownward
from tools.bench import proof
from tools.bench.played import played


@pytest.fixture(scope="module")
def known() -> proof.Known:
    """The questions of one game: for both files, for a problem alone, and for edits."""
    every = [
        [
            asked.question
            for asked in played("coin", [0], "grounded", f"method={method}")
        ]
        for method in proof.IN_GAMES
    ]
    assert [asked[0].form for asked in every] == [PDDL, PROBLEM, EDIT]
    return every


def test_answers_that_run_out_of_names_keep_the_promise(planner: FastDownward) -> None:
    crowded = [proof.crowded()]
    rows = [
        proof.answer_row(number, 0, crowded, planner, "logits") for number in range(8)
    ]
    assert not [row["why"] for row in rows if "why" in row]


def test_a_broken_promise_is_found(
    known: proof.Known, planner: FastDownward, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here nothing that an answer says twice is removed from it."""
    monkeypatch.setattr(reading, "without_repetition", lambda answer, _: answer)
    rows = (
        proof.answer_row(number, 0, known, planner, "logits")
        for number in range(10, 60)
    )
    wrong = next(row for row in rows if "why" in row)
    assert wrong["outcome"] == "refused" and "duplicate objects" in wrong["why"]
    assert wrong["domain"] and wrong["problem"]


def test_the_command_goes_on_where_it_was_interrupted(
    known: proof.Known,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "rows.jsonl"
    monkeypatch.setattr(proof, "questions", lambda: known)

    def command(*words: str) -> list[dict[str, object]]:
        monkeypatch.setattr(sys, "argv", ["proof", "--out", str(out), *words])
        proof.main()
        return [
            json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()
        ]

    whole = command("-n", "4")
    assert [row["n"] for row in whole] == [0, 1, 2, 3]
    lines = out.read_text(encoding="utf-8").splitlines(keepends=True)
    out.write_text("".join(lines[:2]) + lines[2][:30], encoding="utf-8")
    assert command("-n", "4") == whole
    assert "4 answers" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="another --seed"):
        command("-n", "4", "--seed", "1")
