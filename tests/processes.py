"""`pddlego` in a process of its own, for tests that signal it or watch it."""

import os
import signal
import subprocess
import sys
from typing import Any

COMMAND = (sys.executable, "-m", "pddlego_local")


def start(*words: str, **options: Any) -> subprocess.Popen[str]:
    """A process group of its own, as a terminal's foreground job is."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [*COMMAND, *words], text=True, start_new_session=True, **(pipes | options)
    )


def interrupt(process: subprocess.Popen[str]) -> None:
    """As Ctrl-C in a terminal does: all of the foreground job are sent the signal."""
    os.killpg(process.pid, signal.SIGINT)


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and what was told on stderr."""
    with process:
        _, told = process.communicate()
    return process.returncode, told
