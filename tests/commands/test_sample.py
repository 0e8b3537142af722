"""`pddlego sample`: each answer is on disk as soon as it ends, whatever becomes of the others."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.cli import run
from tests.commands.waiting import VARIABLE

QUICK = ["sample", "model=reference", "decoding=free", "environment.rooms=3"]


def start(out: Path, gate: Path, count: int) -> subprocess.Popen[str]:
    words = [*QUICK, "model._target_=tests.commands.waiting.Waiting", "run.concurrency=2"]
    return subprocess.Popen(
        [sys.executable, "-m", "pddlego_local", *words, "-n", str(count), "--out", str(out)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, VARIABLE: str(gate)},
    )


def lines(path: Path) -> list[dict[str, Any]]:
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


@pytest.mark.parametrize("signal_sent", [signal.SIGINT, signal.SIGTERM])
def test_answers_that_ended_are_kept_while_one_never_ends(
    tmp_path: Path, signal_sent: signal.Signals
) -> None:
    out, gate = tmp_path / "answers", tmp_path / "gate"
    gate.touch()
    process = start(out, gate, count=5)
    while len(lines(out)) < 4:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal_sent)
    _, told = process.communicate()
    assert process.returncode == 130 and "interrupted" in told and "Traceback" not in told
    assert sorted(line["id"] for line in lines(out)) == [0, 2, 3, 4]
    kept = out.read_bytes()
    gate.unlink()
    again = start(out, gate, count=7)
    _, told = again.communicate()
    assert (again.returncode == 0 and "7/7" in told) or "100%" in told
    assert out.read_bytes().startswith(kept)
    assert sorted(line["id"] for line in lines(out)[4:]) == [1, 5, 6]


def test_an_answer_in_the_making_in_this_process_is_no_hindrance(tmp_path: Path) -> None:
    """Torch aborts a process that ends while it computes, or is waited for."""
    out = tmp_path / "answers"
    words = ["sample", "model=random", "decoding=free", "decoding.max_tokens=300"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pddlego_local", *words, "-n", "999", "--out", str(out)],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not lines(out):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    assert process.returncode == 130, told
    assert 0 < len(lines(out)) < 999 and out.read_bytes().endswith(b"\n")


def test_a_line_cut_short_is_drawn_again_and_what_is_there_is_not(tmp_path: Path) -> None:
    out = tmp_path / "answers"
    assert run([*QUICK, "-n", "3", "--out", str(out)]) == 0
    whole = out.read_bytes()
    out.write_bytes(whole[:-40])
    assert run([*QUICK, "-n", "3", "--out", str(out)]) == 0
    assert sorted(out.read_bytes().splitlines()) == sorted(whole.splitlines())
    complete = out.read_bytes()
    assert run([*QUICK, "-n", "3", "--out", str(out)]) == 0
    assert out.read_bytes() == complete


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (["decoding.temperature=0.5"], "line 1 has cell coin-pddlego_plus-reference-free-s0-"),
        (["games=1,0"], "line 1 has game 0 and not 1"),
    ],
)
def test_answers_to_different_questions_do_not_mix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], other: list[str], said: str
) -> None:
    out = tmp_path / "answers"
    assert run([*QUICK, "-n", "1", "games=0,1", "--out", str(out)]) == 0
    before = out.read_bytes()
    assert run([*QUICK, "-n", "2", *other, "--out", str(out)]) == 2
    told = capsys.readouterr().err
    assert said in told and "name a new file" in told and out.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [("{}\n", "line 1 is no answer"), ("x\n", "line 1 is not JSON")],
)
def test_a_file_of_something_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, said: str
) -> None:
    out = tmp_path / "answers"
    out.write_text(content)
    assert run([*QUICK, "-n", "1", "--out", str(out)]) == 2
    assert said in capsys.readouterr().err
    assert out.read_text() == content
