"""Starts worker.py as a process, sends it requests, and limits how long it waits for
each answer.
"""

import json
import os
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any

import pydantic

from pddlego_local.core.errors import EnvironmentFault, MissingPart, UnsolvableGame
from pddlego_local.core.nouns import Observation
from pddlego_local.environments.alfworld.installation import find_environment, python

WORKER = Path(__file__).with_name("worker.py")
# A fixed hash seed and one thread: nothing may depend on the process. The package makes
# the folder that ALFWORLD_DATA names; a folder that always exists keeps it from
# touching a data set.
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
    """Everything that the engine needs of one game: the rules, the grammar of the
    texts, and the problem. `task_type` ends in "+slice" if the task asks for a slice.
    `floor_plan` is ALFRED's name of the room, or "" if it is unknown.
    """

    task_type: str
    domain: str
    grammar: str
    problem: str
    floor_plan: str = ""


class GameProcess:
    """One process, which is started when it is first needed and again after a fault. It
    is not thread-safe. It ends with `close`, with this object, and with our own
    process, however that ends.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._running: subprocess.Popen[bytes] | None = None
        self._has_begun = False

    def begin(self, game: AlfworldGame) -> Observation:
        """Starts a game and returns its first observation. Raises UnsolvableGame,
        EnvironmentFault or MissingPart.
        """
        self._has_begun = False
        if self._running is None:
            try:
                self._start()
            except OSError as why:
                raise EnvironmentFault(
                    f"ALFWorld's process could not be started: {why}"
                ) from None
            self._ask({}, self._limits.start_s)
        texts = {
            "domain": game.domain,
            "grammar": game.grammar,
            "problem": game.problem,
        }
        answer = self._ask({"load": texts}, self._limits.load_s)
        self._has_begun = True
        return _observed(answer)

    def step(self, command: str) -> Observation:
        """Returns the game's answer. Raises EnvironmentFault, also if no game has begun
        since the last fault.
        """
        return _observed(self._ask_of_game({"step": command}))

    def facts(self, predicates: Sequence[str]) -> list[list[str]]:
        """Returns what is true in the game, as far as these predicates of ALFWorld's
        own domain say it. Raises EnvironmentFault.
        """
        facts: list[list[str]] = self._ask_of_game({"facts": [*predicates]})["facts"]
        return facts

    def _ask_of_game(self, request: dict[str, Any]) -> dict[str, Any]:
        if not self._has_begun:
            raise EnvironmentFault(
                "ALFWorld: a command came before any game was started"
            )
        return self._ask(request, self._limits.step_s)

    def close(self) -> None:
        """Kills the process and waits until it has ended. It may be called any number
        of times.
        """
        if self._running is not None:
            self._end()
        self._running, self._has_begun = None, False

    def _start(self) -> None:
        interpreter = python(find_environment())
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `_end`
        # In a separate session, Ctrl-C reaches only our process, which then ends this
        # one in order. -P: modules in the script's own folder could hide packages.
        self._running = subprocess.Popen(
            [interpreter, "-s", "-P", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=os.environ | VARIABLES,
            cwd="/",
            start_new_session=True,
        )
        self._end = weakref.finalize(self, _end, self._running, self._stderr)

    def _ask(self, request: dict[str, Any], limit_s: float) -> dict[str, Any]:
        """Returns the answer to the request. An empty request returns the message that
        the process sends when it has started.
        """
        try:
            answer: dict[str, Any] = json.loads(self._exchange(request, limit_s))
        except BaseException:
            # After an interruption, the next answer would be to this request.
            self.close()
            raise
        if "missing" in answer:
            self.close()
            raise MissingPart(f"ALFWorld cannot be played: {answer['missing']}")
        if "unsolvable" in answer:
            raise UnsolvableGame(answer["unsolvable"])
        return answer

    def _exchange(self, request: dict[str, Any], limit_s: float) -> bytes:
        """Sends the request and returns the next line. Kills a process that takes
        longer than the limit.
        """
        process = self._running
        assert process and process.stdin and process.stdout
        deadline = time.monotonic() + limit_s
        killer = threading.Timer(limit_s, process.kill)
        killer.daemon = True
        killer.start()
        try:
            with suppress(BrokenPipeError):  # it has ended, which reading will show too
                if request:
                    process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
            line = process.stdout.readline()
        finally:
            killer.cancel()
        if line.endswith(b"\n"):
            return line
        late = time.monotonic() >= deadline
        reason = (
            f"no answer within {limit_s:g} s" if late else self._exit_reason(process)
        )
        doing = next(iter(request), "start")
        raise EnvironmentFault(f"ALFWorld's process failed in {doing!r}: {reason}")

    def _exit_reason(self, process: subprocess.Popen[bytes]) -> str:
        process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        status = f"it ended with status {process.returncode}"
        return f"{status}: {lines[-1]}" if lines else status


def _observed(answer: dict[str, Any]) -> Observation:
    return Observation(
        answer["text"], success=answer["won"], commands=tuple(answer["commands"])
    )


def _end(process: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()
