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


def killing(target: str, which: str = "any") -> Blow:
    """Returns a blow that kills one process of a kind (`TARGETS`): a random one, or the
    first.
    """

    def strike(playing: Playing) -> str:
        if victim := _found(playing, target, which):
            with suppress(psutil.NoSuchProcess):
                victim.kill()
                return f"killed {victim.pid}"
        return ""

    return strike


def signalling(target: str, which: str = "any") -> Blow:
    """Returns a blow that sends a process of a kind a signal that may end it."""

    def strike(playing: Playing) -> str:
        number = playing.random.choice(SIGNALS)
        if victim := _found(playing, target, which):
            with suppress(psutil.NoSuchProcess):
                victim.send_signal(number)
                return f"{number.name} to {victim.pid}"
        return ""

    return strike


def freezing(target: str) -> Blow:
    """Returns a blow that stops a process of a kind for a second."""

    def strike(playing: Playing) -> str:
        if victim := _found(playing, target):
            with suppress(psutil.NoSuchProcess):
                victim.suspend()
                time.sleep(FROZEN_S)
                victim.resume()
                return f"{victim.pid} frozen for {FROZEN_S:g} s"
        return ""

    return strike


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
    who, ended, other = ("second", second, first)
    if second.poll() is None:
        who, ended, other = ("first", first, second)
    playing.client = other
    text = (
        log.read_text(encoding="utf-8")
        if who == "second"
        else playing.log.read_text(encoding="utf-8")
    )
    refused = ended.returncode == 2 and "being played by another process" in " ".join(
        text.split()
    )
    if refused or ended.returncode == 0:
        return f"the {who} was refused" if refused else f"the {who} finished"
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
    "planner worker": killing("planner worker", "first"),
    "planner's task": killing("planner's task"),
    "signal to planner worker": signalling("planner worker", "first"),
    "signal to planner's task": signalling("planner's task"),
    "frozen planner worker": freezing("planner worker"),
    "frozen planner's task": freezing("planner's task"),
    "Java": killing("Java"),
    "ALFWorld": killing("ALFWorld"),
    "full disk": fill_disk,
    "second run": run_again,
}
SERVED: dict[str, Blow] = {
    "server front end": killing("server front end", "first"),
    "engine": killing("engine"),
    "launcher": killing("launcher"),
    "client": kill_client,
}
