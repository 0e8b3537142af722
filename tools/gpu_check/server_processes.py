"""Inspects a server that the check started: its processes, and pages that no client
requests.
"""

import contextlib
import os
import subprocess
import time
import urllib.request

import psutil

from pddlego_local.models.vllm.model import VllmModel


def group_of(process: subprocess.Popen[bytes] | int) -> list[psutil.Process]:
    group = process if isinstance(process, int) else process.pid
    members = []
    for candidate in psutil.process_iter():
        try:
            if (
                os.getpgid(candidate.pid) == group
                and candidate.status() != psutil.STATUS_ZOMBIE
            ):
                members.append(candidate)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return members


def seconds_by_process(group: int) -> dict[str, float]:
    """Returns the CPU seconds so far of this process, the server's front end and its
    engine.
    """
    own = psutil.Process().cpu_times()
    found = {"client": own.user + own.system, "API server": 0.0, "engine": 0.0}
    for process in group_of(group):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            front = (
                process.pid == group
                or "apiserver" in "".join(process.cmdline()).lower()
            )
            found["API server" if front else "engine"] += times.user + times.system
    return found


def wait_until_gone(group: int) -> list[psutil.Process]:
    for _ in range(6000):
        if not (left := group_of(group)):
            return []
        time.sleep(0.1)
    return left


def request(model: VllmModel, path: str, data: bytes | None = None) -> str:
    server = model._managed
    assert server is not None
    url = server.url.removesuffix("v1") + path
    headers = {"Authorization": f"Bearer {server.api_key}"}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as response:
        return str(response.read().decode())
