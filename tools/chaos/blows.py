"""The blows to a running sweep: processes are killed, frozen or sent signals, the disk
is full, or a second run starts.

A blow finds its target among the processes of the running client, or reports that there
is none.
"""

import random
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tools.chaos.processes import Kind, below, named, running, started_by
from tools.chaos.sweeps import Sweep

END_S = 1800.0  # a client that has not ended by then hangs
SOON_S = 2.0  # time to wait for a target: a planner's task takes only milliseconds
FROZEN_S = 1.0
FILE_BYTES = 20_000  # the simulated disk is full when one file has at most this size


@dataclass
class Playing:
    """A running sweep: the client that plays it now, and where it writes."""

    sweep: Sweep
    out: Path
    log: Path
    client: subprocess.Popen[bytes]
    random: random.Random

    def ended(self) -> int:
        """Returns the client's exit code. Raises subprocess.TimeoutExpired if it
        hangs.
        """
        return self.client.wait(END_S)


SIGNALS = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1),
    *(signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE),
    *(signal.SIGALRM, signal.SIGXCPU, signal.SIGPROF, signal.SIGVTALRM),
)

Blow = Callable[[Playing], str]
"""Returns the immediate effect, or "" if there is no target at present."""


def kill_client(playing: Playing) -> str:
    playing.client.kill()
    playing.ended()
    return "killed"


Act = Callable[[Playing, psutil.Process], str]
"""Strikes a process, and returns the immediate effect, such as "killed"."""


def on(target: str, act: Act, which: str = "any") -> Blow:
    """Returns a blow on one process of a kind (`TARGETS`): a random one, or the
    first.
    """

    def strike(playing: Playing) -> str:
        victim = _found(playing, target, which)
        if victim is None:
            return ""
        try:
            return act(playing, victim)
        except psutil.NoSuchProcess:
            return ""

    return strike


def kill(playing: Playing, victim: psutil.Process) -> str:
    victim.kill()
    return f"killed {victim.pid}"


def signalled(playing: Playing, victim: psutil.Process) -> str:
    number = playing.random.choice(SIGNALS)
    victim.send_signal(number)
    return f"{number.name} to {victim.pid}"


def frozen(playing: Playing, victim: psutil.Process) -> str:
    victim.suspend()
    time.sleep(FROZEN_S)
    victim.resume()
    return f"{victim.pid} frozen for {FROZEN_S:g} s"


def _found(playing: Playing, target: str, which: str = "any") -> psutil.Process | None:
    """Returns one process of a kind as soon as there is one; None if there is none
    soon.
    """
    deadline = time.monotonic() + SOON_S
    while not (found := below(playing.client.pid, TARGETS[target])):
        if time.monotonic() > deadline or playing.client.poll() is not None:
            return None
    return found[0] if which == "first" else playing.random.choice(found)


def fill_disk(playing: Playing) -> str:
    """Limits the size of the client's files, so that its writes fail as if the disk
    were full.

    This is the soft limit; the planner's processes set their own.
    """
    size = playing.random.randrange(FILE_BYTES)
    hard = psutil.RLIM_INFINITY
    with suppress(psutil.NoSuchProcess):
        psutil.Process(playing.client.pid).rlimit(psutil.RLIMIT_FSIZE, (size, hard))
        code = playing.ended()
        return f"no file above {size} bytes: ended with {code}"
    return ""


def run_again(playing: Playing) -> str:
    """Starts the same command while it runs. One of the two goes on."""
    first, log = playing.client, playing.log.with_name("second.log")
    second = playing.sweep.start(playing.out, log)
    deadline = time.monotonic() + END_S
    while first.poll() is None and second.poll() is None:
        if time.monotonic() > deadline:
            raise subprocess.TimeoutExpired(second.args, END_S)
        time.sleep(0.05)
    if second.poll() is None:
        who, ended, other, ended_log = "first", first, second, playing.log
    else:
        who, ended, other, ended_log = "second", second, first, log
    playing.client = other
    if ended.returncode == 0:
        return f"the {who} finished"
    words = " ".join(ended_log.read_text(encoding="utf-8").split())
    if ended.returncode == 2 and "being played by another process" in words:
        return f"the {who} was refused"
    return f"the {who} ended with {ended.returncode}"


PLANNER = "planner/worker.py"
TARGETS: dict[str, Kind] = {
    "planner worker": running(PLANNER),
    "planner's task": started_by(PLANNER),
    "Java": named("java"),
    "ALFWorld": running("alfworld/worker.py"),
    "server front end": running("serve"),  # vLLM's command
    "engine": named("VLLM::Engine"),
    "launcher": running("launch.py"),
}
SIMULATED: dict[str, Blow] = {
    "client": kill_client,
    "planner worker": on("planner worker", kill, "first"),
    "planner's task": on("planner's task", kill),
    "signal to planner worker": on("planner worker", signalled, "first"),
    "signal to planner's task": on("planner's task", signalled),
    "frozen planner worker": on("planner worker", frozen),
    "frozen planner's task": on("planner's task", frozen),
    "Java": on("Java", kill),
    "ALFWorld": on("ALFWorld", kill),
    "full disk": fill_disk,
    "second run": run_again,
}
SERVED: dict[str, Blow] = {
    "server front end": on("server front end", kill, "first"),
    "engine": on("engine", kill),
    "launcher": on("launcher", kill),
    "client": kill_client,
}
