"""`pddlego`, and other programs in Python, in a process of its own."""

import os
import signal
import subprocess
import sys
from typing import Any

COMMAND = (sys.executable, "-m", "pddlego_local")
_PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def ran(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """What becomes of Python with these words: its exit code, and what it prints."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, encoding="utf-8", **(_PIPES | options))


def start(*words: str, **options: Any) -> subprocess.Popen[str]:
    """A process group of its own, as a terminal's foreground job is."""
    return subprocess.Popen(
        [*COMMAND, *words],
        encoding="utf-8",
        start_new_session=True,
        **(_PIPES | options),
    )


def interrupt(process: subprocess.Popen[str]) -> None:
    """As Ctrl-C in a terminal does: all of the foreground job are sent the signal."""
    os.killpg(process.pid, signal.SIGINT)


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and what was told on stderr."""
    with process:
        _, told = process.communicate()
    return process.returncode, told
