"""Our side of worker.py: starts the process, talks to it, and never waits for ever."""

import json
import os
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any

import pydantic

from pddlego_local.core.errors import EnvironmentFault, MissingPart, UnsolvableGame
from pddlego_local.environments.alfworld.installation import find_environment, python

WORKER = Path(__file__).with_name("worker.py")
# A fixed hash seed and one thread: nothing may depend on the process. The package makes the folder
# that ALFWORLD_DATA names; one that is always there keeps it from touching a data set.
VARIABLES = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ALFWORLD_DATA": "/",
}
Seconds = Annotated[float, pydantic.Field(gt=0)]


@pydantic.dataclasses.dataclass(
    config=pydantic.ConfigDict(extra="forbid"), kw_only=True, frozen=True
)
class Limits:
    """Wall-clock seconds after which a process that has not answered is killed."""

    start_s: Seconds = 120
    load_s: Seconds = 60
    step_s: Seconds = 30


@dataclass(frozen=True)
class AlfworldGame:
    """All that the engine needs of one game: the rules, the texts' grammar, and the problem.
    `task_type` ends in "+slice" where a slice is asked for; `floor_plan` is ALFRED's name of the
    room, "" where nobody says it."""

    task_type: str
    domain: str
    grammar: str
    problem: str
    floor_plan: str = ""


@dataclass(frozen=True)
class Reply:
    """What the game answered: its text, the commands it offers, and whether it is won."""

    text: str
    commands: tuple[str, ...]
    won: bool


class GameProcess:
    """One process, started when it is first needed and again after a fault. Not thread-safe. It
    ends with `close`, with this object, and with our own process, however that ends."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._running: _Running | None = None
        self._loaded: AlfworldGame | None = None

    def begin(self, game: AlfworldGame) -> Reply:
        """The first reply of the game; the game that was begun last only has to be reset. Raises
        UnsolvableGame, EnvironmentFault, MissingPart."""
        if self._running is None:
            try:
                self._running = _Running()
            except OSError as error:
                raise EnvironmentFault(
                    f"ALFWorld's process could not be started: {error}"
                ) from None
            self._ask(None, self._limits.start_s)
        if game == self._loaded:
            return self._play({"reset": True}, self._limits.load_s)
        self._loaded = None
        texts = {"domain": game.domain, "grammar": game.grammar, "problem": game.problem}
        reply = self._play({"load": texts}, self._limits.load_s)
        self._loaded = game
        return reply

    def step(self, command: str) -> Reply:
        """Raises EnvironmentFault, also if no game has begun since the last fault."""
        if self._loaded is None:
            raise EnvironmentFault("ALFWorld: a command came before any game was begun")
        return self._play({"step": command}, self._limits.step_s)

    def close(self) -> None:
        """Kills the process and waits until it is gone; any number of calls."""
        if self._running is not None:
            self._running.end()
        self._running = self._loaded = None

    def _play(self, request: dict[str, Any], limit_s: float) -> Reply:
        answer = self._ask(request, limit_s)
        return Reply(answer["text"], tuple(answer["commands"]), answer["won"])

    def _ask(self, request: dict[str, Any] | None, limit_s: float) -> dict[str, Any]:
        """Its answer to the request; to None, what it says once it has started."""
        assert self._running is not None
        try:
            line = b"" if request is None else json.dumps(request).encode() + b"\n"
            answer: dict[str, Any] = json.loads(self._running.exchange(line, limit_s))
        except _Silent as silence:
            doing = next(iter(request)) if request else "start"
            self.close()
            raise EnvironmentFault(f"ALFWorld's process failed in {doing!r}: {silence}") from None
        except BaseException:  # interrupted: what it answers next would not be to our question
            self.close()
            raise
        if "missing" in answer:
            self.close()
            raise MissingPart(f"ALFWorld cannot be played: {answer['missing']}")
        if "unsolvable" in answer:
            raise UnsolvableGame(answer["unsolvable"])
        return answer


def unwinnable(games: Sequence[Path]) -> list[Path]:
    """Those of the `game.tw-pddl` files whose walkthrough does not win, as the engine plays it.
    Raises EnvironmentFault if the engine dies or hangs, MissingPart if it is not installed."""
    with closing(GameProcess(Limits())) as process:
        return [file for file in games if not _won(process, json.loads(file.read_text()))]


def _won(process: GameProcess, game: dict[str, str]) -> bool:
    texts = (game["pddl_domain"], game["grammar"], game["pddl_problem"])
    reply = process.begin(AlfworldGame("", *texts))
    for command in game["walkthrough"]:
        reply = process.step(command)
    return reply.won


class _Silent(Exception):
    """The process ended, or took too long."""


class _Running:
    """A process and its pipes; `end` kills it, as does the end of this object."""

    def __init__(self) -> None:
        interpreter = python(find_environment())
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        # A session of its own keeps Ctrl-C for us, who then end it in order. -P: the script's own
        # folder may have modules that would hide packages.
        self._process = subprocess.Popen(
            [interpreter, "-s", "-P", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=os.environ | VARIABLES,
            cwd="/",
            start_new_session=True,
        )
        self.end = weakref.finalize(self, _end, self._process, self._stderr)

    def exchange(self, request: bytes, limit_s: float) -> bytes:
        """Sends the request and returns the next line; a process that takes longer is killed."""
        assert self._process.stdin and self._process.stdout
        deadline = time.monotonic() + limit_s
        killer = threading.Timer(limit_s, self._process.kill)
        killer.daemon = True
        killer.start()
        try:
            with suppress(BrokenPipeError):  # it is dead; standard output will say so too
                self._process.stdin.write(request)
                self._process.stdin.flush()
            line = self._process.stdout.readline()
        finally:
            killer.cancel()
        if line.endswith(b"\n"):
            return line
        late = time.monotonic() >= deadline
        raise _Silent(f"no answer within {limit_s:g} s" if late else self._last_words())

    def _last_words(self) -> str:
        self._process.wait()
        self._stderr.seek(0)
        *_, last = ["", *self._stderr.read().decode(errors="replace").strip().splitlines()]
        status = f"it ended with status {self._process.returncode}"
        return f"{status}: {last}" if last else status


def _end(process: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
