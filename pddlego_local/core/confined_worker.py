"""The process behind `confined.Confined`: a script that is run by path, never imported.

It imports the modules that its requests need, and then serves requests one after
another. A request is a line with a JSON object, and the reply is another. Each request
is carried out in a forked child with limits on CPU time, wall time and address space,
so that no text can stop the next request.

No process outlives its parent: this process ends as soon as its standard input closes
or its parent is gone, also while a child works, and the kernel then kills the child.
Usage: confined_worker.py SETTINGS_AS_JSON
"""

import ctypes
import errno
import gc
import importlib
import json
import math
import mmap
import os
import re
import resource
import select
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
OUT_OF_MEMORY = 22  # exit code of a child
LOOK_FOR_PARENT_S = 1.0
RESERVE_BYTES = 8 << 20  # freed when work fails, so that this can still be reported
MOST_OF_MEMORY = 0.75  # of the limit: whatever fails above this share lacked memory

libc = ctypes.CDLL(None)
parent = os.getppid()


def main() -> None:
    settings = json.loads(sys.argv[1])
    sys.path[:] = settings["path"]
    for module in settings["modules"]:
        importlib.import_module(module)
    gc.freeze()  # else the collector of a child would copy all pages
    while line := wait_for_line():
        reply = carry_out(json.loads(line))
        print(json.dumps(reply), flush=True)


def wait_for_line() -> bytes:
    ready = list[int]()
    while not ready:
        ready, _, _ = select.select([0], [], [], LOOK_FOR_PARENT_S)
        if not ready and os.getppid() != parent:
            return b""
    line = sys.stdin.buffer.readline()
    return line if line.endswith(b"\n") else b""


def carry_out(request: dict[str, Any]) -> dict[str, Any]:
    """Returns what the child replied, or "ended", the reason why it did not reply."""
    reader, writer = os.pipe()
    worker = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            confine(worker, request["limits"])
            reply = json.dumps(replied(request))
            write_all(writer, reply.encode())
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except BaseException:
            os._exit(1)
        os._exit(0)
    os.close(writer)
    received = read_reply(reader)
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        answer: dict[str, Any] = json.loads(received)
        return answer
    cpu_s = usage.ru_utime + usage.ru_stime
    used_up = cpu_s >= request["limits"].get("cpu_s", math.inf)
    return {"ended": reason(code, used_up=used_up)}


def reason(code: int, *, used_up: bool) -> str:
    if code == OUT_OF_MEMORY:
        return "memory"
    if code == -signal.SIGALRM:
        return "wall"
    by_signal = code < 0
    if code == -signal.SIGXCPU or (by_signal and used_up):
        return "cpu"
    return signal.Signals(-code).name if by_signal else f"exit code {code}"


def read_reply(reader: int) -> bytes:
    """Reads until the child closes the pipe. Ends this process if nobody waits for the
    reply.
    """
    reply = b""
    with os.fdopen(reader, "rb", buffering=0) as file:
        while True:
            ready, _, _ = select.select([0, reader], [], [], LOOK_FOR_PARENT_S)
            # The next request only comes after the reply: there, the input has closed.
            if 0 in ready or os.getppid() != parent:
                os._exit(0)
            if reader in ready:
                part = file.read(1 << 16)
                if not part:
                    return reply
                reply += part


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def confine(worker: int, limits: dict[str, float]) -> None:
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != worker:  # the worker died before the line above
        os._exit(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # both belong to the worker
        os.dup2(nothing, stream)
    restrict(resource.RLIMIT_CORE, 0, 0)
    if "cpu_s" in limits:
        cpu_s = max(1, math.ceil(limits["cpu_s"]))
        restrict(resource.RLIMIT_CPU, cpu_s, cpu_s + 1)
    if "memory_mb" in limits:
        memory_bytes = int(limits["memory_mb"]) << 20
        restrict(resource.RLIMIT_AS, memory_bytes, memory_bytes)
    if "wall_s" in limits:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limits["wall_s"])


def restrict(kind: int, soft: int, hard: int) -> None:
    ceiling = resource.getrlimit(kind)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft = min(soft, ceiling)
        hard = min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


def replied(request: dict[str, Any]) -> dict[str, Any]:
    """Carries the request out. An error of the project travels as its name and its
    words. Raises MemoryError.
    """
    from pddlego_local.core.errors import PddlegoError

    reserve = mmap.mmap(-1, RESERVE_BYTES)
    try:
        module = importlib.import_module(request["module"])
        work = getattr(module, request["work"])
        return {"value": work(*request["arguments"])}
    except PddlegoError as error:
        return {"error": type(error).__name__, "words": str(error)}
    except Exception as error:
        reserve.close()
        if lacks_memory(error, request["limits"].get("memory_mb", math.inf)):
            raise MemoryError from error
        traceback.print_exc()
        return {"error": "", "words": f"{type(error).__name__}: {error}"}


def lacks_memory(error: BaseException | None, memory_mb: float) -> bool:
    """Says whether an error came from a lack of memory, which libraries report in many
    ways.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = re.search(r"VmPeak:\s*(\d+) kB", status)
    peak_mb = int(peak[1]) >> 10 if peak else 0
    if peak_mb > MOST_OF_MEMORY * memory_mb:
        return True
    while error is not None:
        out_of_space = isinstance(error, OSError) and error.errno == errno.ENOMEM
        if out_of_space or isinstance(error, MemoryError | SystemError):
            return True
        error = error.__cause__ or error.__context__
    return False


if __name__ == "__main__":
    main()
