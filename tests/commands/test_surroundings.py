"""What a bad day does to a command: one sentence and an exit code, never a
traceback.
"""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pddlego_local import cli
from tests.pddlego import Pddlego
from tests.processes import ran, start

PDDLEGO = f"{sys.executable} -m pddlego_local"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"{PDDLEGO} read answer.txt >&-", "standard output is closed"),
        (f"{PDDLEGO} read - <&-", "standard input is closed"),
        (f"{PDDLEGO} check --jsonl - <&-", "standard input is closed"),
        (f"{PDDLEGO} mcp <&-", "standard input is closed"),
        (
            f"mkdir gone; cd gone; rmdir ../gone; {PDDLEGO} read -",
            "the working folder no",
        ),
        (
            f"{PDDLEGO} check --jsonl - 0>other.txt",
            "leave standard input and output open",
        ),
        (
            f"printf '{PDDLEGO} read answer.txt\\r\\n' > s.sh; sh s.sh",
            "ends with a carriage return",
        ),
    ],
)
def test_streams_and_folders_that_are_gone(
    tmp_path: Path, line: str, told: str
) -> None:
    (tmp_path / "answer.txt").write_text("(define (domain d))", "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    ended = subprocess.run(
        ["sh", "-c", line],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        encoding="utf-8",
    )
    assert ended.returncode in (2, 3)
    assert told in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_closed_streams_that_a_command_does_not_need(tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text("no files", "utf-8")
    line = f"{PDDLEGO} read {tmp_path / 'answer.txt'} <&- 2>&-"
    ended = subprocess.run(["sh", "-c", line], capture_output=True, encoding="utf-8")
    assert ended.returncode == 1
    assert ended.stdout


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "HOME"])
def test_a_cache_that_cannot_be_written(
    pddlego: Pddlego, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv(variable, "/dev/null/nowhere")
    words = ("run", "model=random", "games=7", f"run.out={tmp_path}")
    assert "set XDG_CACHE_HOME to a folder" in pddlego(*words, code=3).err


def test_no_more_threads(
    pddlego: Pddlego, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    words = ("run", "model=reference", "games=7", f"run.out={tmp_path}")
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert "no more threads" in pddlego(*words, code=3).err


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "the memory is exhausted"),
        (OSError(errno.EMFILE, "Too many open files"), "open files (ulimit -n)"),
        (
            BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
            "ulimit -u",
        ),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "ulimit -u"),
    ],
)
def test_limits_of_the_machine(
    pddlego: Pddlego, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "_dispatch", fail)
    monkeypatch.setattr(cli, "_stop_writing", lambda: None)
    assert told in pddlego("doctor", code=3).err


@pytest.mark.parametrize(
    ("group", "target"),
    [
        ("model", "os.system"),
        ("method", "subprocess.Popen"),
        ("planner", "builtins.eval"),
    ],
)
def test_a_target_that_hydra_refuses(pddlego: Pddlego, group: str, target: str) -> None:
    said = pddlego(
        "run", "model=reference", f"{group}._target_={target}", "--dry-run", code=2
    )
    assert "blocklisted" in said.err
    assert said.err.startswith(f"error: {group}: ")


def test_many_interrupts(tmp_path: Path) -> None:
    words = ("model=random", "decoding.max_tokens=200", "games=0-99")
    process = start("run", f"run.out={tmp_path}", *words, stderr=subprocess.PIPE)
    while not list(tmp_path.rglob("*.partial")) and process.poll() is None:
        time.sleep(0.05)
    for _ in range(40):
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    _, said = process.communicate()
    assert process.returncode in (130, -signal.SIGINT)
    assert "interrupted" in said
    assert "Traceback" not in said


def test_an_interrupt_while_the_program_is_imported() -> None:
    program = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'pddlego_local.cli':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from pddlego_local.__main__ import main\n"
        "main()"
    )
    done = ran("-c", program)
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr == ""
