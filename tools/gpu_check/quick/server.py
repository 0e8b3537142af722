"""A vLLM server that the check starts with serving/launch.py, and its processes."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tools.gpu_check.quick.timing import Deadline, Failed

LAUNCHER = Path(__file__).parents[3] / "serving" / "launch.py"
_LAST_BYTES = 3_000
_END_S = 15.0  # the launcher gives its server five seconds before it kills it


class Said(NamedTuple):
    """The text of an answer, and the number of its tokens."""

    text: str
    tokens: int


class Server:
    """A server, which starts at once; `wait` returns when it answers.

    The launcher ends its server when this process closes its input or dies.
    """

    def __init__(
        self,
        model: Path,
        env: Path,
        log: Path,
        arguments: Sequence[str],
        extra: Sequence[str],
        variables: Mapping[str, str],
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self._url = f"http://127.0.0.1:{port}"
        self._key = secrets.token_urlsafe(16)
        self._log = log
        command = [sys.executable, str(LAUNCHER), str(model), "--name", "model"]
        command += ["--env", str(env), "--port", str(port), "--until-stdin-closes"]
        environment = {
            **os.environ,
            **variables,
            "VLLM_API_KEY": self._key,
            "VLLM_SERVER_DEV_MODE": "1",  # for /reset_prefix_cache
        }
        with log.open("wb") as file:
            self._launcher = subprocess.Popen(
                [*command, *arguments, "--", *extra],
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    def wait(self, deadline: Deadline) -> None:
        """Waits until the server answers. Raises OutOfTime, and Failed if it dies."""
        while not self._answers():
            if not self.alive():
                raise Failed(f"the server ended: {self.last_words()}")
            time.sleep(min(0.2, deadline.left()))

    def alive(self) -> bool:
        return self._launcher.poll() is None

    def last_words(self) -> str:
        """Returns the end of the log in one line."""
        end = self._log.read_bytes()[-_LAST_BYTES:]
        return " ".join(end.decode(errors="replace").split())[-800:]

    def ask(self, path: str, body: Mapping[str, Any], deadline: Deadline) -> Said:
        """Sends a request for one answer. Raises Failed if it has none."""
        whole = {"model": "model", **body}
        answer = json.loads(self._request(f"v1/{path}", whole, deadline.left()))
        (choice,) = answer["choices"]
        text = choice["text"] if "text" in choice else choice["message"]["content"]
        return Said(text or "", answer["usage"]["completion_tokens"])

    def forget(self, deadline: Deadline) -> None:
        """Empties the prefix cache."""
        self._request("reset_prefix_cache", {}, deadline.left())

    def _answers(self) -> bool:
        try:
            self._request("v1/models", None, 2)
        except Failed:
            return False
        return True

    def _request(
        self, path: str, body: Mapping[str, Any] | None, seconds: float
    ) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        headers = {
            "Authorization": f"Bearer {self._key}",
            "Content-Type": "application/json",
        }
        request = urllib.request.Request(f"{self._url}/{path}", data, headers)
        try:
            with urllib.request.urlopen(request, timeout=seconds) as response:
                return bytes(response.read())
        except urllib.error.HTTPError as error:
            said = error.read()[:500].decode(errors="replace")
            raise Failed(f"HTTP {error.code}: {said}") from None
        except OSError as error:
            raise Failed(f"no response: {error}") from None

    def group(self) -> int:
        """Returns the process group of the server. Raises Failed before its start."""
        for line in self._log.read_bytes().splitlines():
            if line.startswith(b"Process group: "):
                return int(line.split()[-1])
        raise Failed("the launcher has not started a server")

    def close(self) -> None:
        """Ends the server, by force if it does not end by itself."""
        assert self._launcher.stdin
        self._launcher.stdin.close()
        try:
            self._launcher.wait(_END_S)
        except subprocess.TimeoutExpired:
            os.killpg(self._launcher.pid, signal.SIGKILL)
            self._launcher.wait()
            for process in members(self.group()):
                os.kill(process, signal.SIGKILL)


def members(group: int) -> list[int]:
    """Returns the processes of a group that have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        state, _, its_group = stat.rpartition(")")[2].split()[:3]
        if int(its_group) == group and state != "Z":
            found.append(int(folder.name))
    return sorted(found)
