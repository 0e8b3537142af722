"""`pddlego sample`: each answer is on disk as soon as it ends, whatever becomes of the
others.
"""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.processes import finish, start
from tests.sweeping import VARIABLE

QUICK = ["sample", "model=reference", "decoding=free", "environment.rooms=3"]


def ids(path: Path) -> list[int]:
    """The ids of the whole lines."""
    text = path.read_text(encoding="utf-8")
    whole, _, _ = text.rpartition("\n")
    return [json.loads(line)["id"] for line in whole.splitlines()]


@pytest.mark.parametrize("signal_sent", [signal.SIGINT, signal.SIGTERM])
def test_answers_that_ended_are_kept_while_one_never_ends(
    tmp_path: Path, signal_sent: signal.Signals
) -> None:
    out, gate = tmp_path / "answers", tmp_path / "gate"
    gate.touch()
    words = [*QUICK, "model._target_=tests.sweeping.Waiting", "run.concurrency=2"]
    variables = {**os.environ, VARIABLE: str(gate)}
    with out.open("w", encoding="utf-8") as file:
        process = start(*words, "-n", "5", stdout=file, env=variables)
    while len(ids(out)) < 4:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal_sent)
    code, told = finish(process)
    assert code == 130
    assert "interrupted" in told
    assert "Traceback" not in told
    assert sorted(ids(out)) == [0, 2, 3, 4]


def test_an_answer_in_the_making_in_this_process_is_no_hindrance(
    tmp_path: Path,
) -> None:
    """Torch aborts a process that ends while it computes, or is waited for."""
    out = tmp_path / "answers"
    words = ["sample", "model=random", "decoding=free", "decoding.max_tokens=300"]
    with out.open("w", encoding="utf-8") as file:
        process = start(*words, "-n", "999", stdout=file)
    while not ids(out):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    code, told = finish(process)
    assert code == 130, told
    assert len(ids(out)) < 999
    assert out.read_bytes().endswith(b"\n")
