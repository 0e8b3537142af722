"""The warm process that translates and searches: a script that is run by path, never imported.

This is the only file that imports Fast Downward's translator, which is GPL-3.0. The rest of the
package talks to this process over a socket (its standard input and output) and shares no code with
it.

The process imports the translator once and then serves tasks one after another. A task is a line
with a JSON list, and the reply is a JSON object. Every task gets a child process with limits on
address space, CPU time and wall time. The child translates and then *becomes* the search binary, so
that one set of limits covers both. SAS text, plan and log are in anonymous memory, never in a
folder that two tasks share.

Fast Downward's own driver is not used because it starts Python twice and writes three files for
each task. With the driver, solving takes 117 ms for a house of 6 rooms and 277 ms for one of 50
things, most of which is translation (medians of 9, `make bench`).

No process outlives its parent: the kernel kills the child with this process, and this process ends
when its standard input closes or its parent is gone. Usage: worker.py SETTINGS_AS_JSON
"""

import ctypes
import errno
import gc
import io
import json
import math
import mmap
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TextIO

SEARCH_OUT_OF_MEMORY = 22  # exit codes of Fast Downward
SEARCH_UNSUPPORTED = 34
PR_SET_PDEATHSIG = 1
LOG_CHARACTERS = 4000
NOTE = re.compile(r"Warning: |.*! Generating unsolvable task\.\.\.$")  # printed by the translator
RESERVE_BYTES = 8 << 20  # freed when memory runs out, so that this can still be reported

libc = ctypes.CDLL(None)
parent = os.getppid()


class Settings(NamedTuple):
    """The settings of all tasks: see `FastDownward` and `Limits`."""

    package_folder: str
    binary: str
    search: str
    fallback: str
    wall_s: float
    cpu_s: float
    memory_mb: int


class Files(NamedTuple):
    """File descriptors of one task's anonymous files."""

    sas: int
    plan: int
    log: int
    report: int


def main() -> None:
    settings = Settings(**json.loads(sys.argv[1]))
    sys.path.insert(0, settings.package_folder)
    from fast_downward.translate import main, options

    assert main  # loaded once, before the forks
    options.set_options(["domain", "problem"])
    gc.disable()  # tasks are short, and the collector would copy all pages shared with children
    gc.freeze()
    signal.signal(signal.SIGALRM, look_for_parent)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    while (task := sys.stdin.buffer.readline()).endswith(b"\n"):
        print(json.dumps(solve(task, settings)), flush=True)


def look_for_parent(*_signal: object) -> None:
    if os.getppid() != parent:
        os._exit(0)


def solve(task: bytes, settings: Settings) -> dict[str, Any]:
    """Translates and searches. Uses the fallback if the search does not support the task."""
    deadline = time.monotonic() + settings.wall_s
    files = Files(*map(os.memfd_create, Files._fields))

    def work() -> NoReturn:
        translate_and_search(task, deadline, settings, files)

    first = fork_confined(work, settings.cpu_s, settings, files)
    code, stopped, cpu_time_s = wait_for(first, settings.cpu_s)
    if code == SEARCH_UNSUPPORTED and settings.fallback:
        left_s = settings.cpu_s - cpu_time_s
        again = fork_confined(
            lambda: search(settings.fallback, deadline, settings, files), left_s, settings, files
        )
        code, stopped, _ = wait_for(again, left_s)
    report: dict[str, Any] = json.loads(read_all(files.report) or "{}")
    log = "" if code == 0 else read_all(files.log)
    if len(log) > LOG_CHARACTERS:  # the start says what was read, the end what went wrong
        log = f"{log[: LOG_CHARACTERS // 2]}\n{log[-LOG_CHARACTERS // 2 :]}"
    plan = read_all(files.plan)
    for descriptor in files:
        os.close(descriptor)
    return report | {"code": code, "stopped": stopped, "log": log, "plan": plan}


def read_all(descriptor: int) -> str:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode("utf-8", "replace")


def fork_confined(
    work: Callable[[], NoReturn], cpu_limit_s: float, settings: Settings, files: Files
) -> int:
    """Forks a child that does `work` within the limits. Returns its process id."""
    worker = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            confine(worker, max(1, math.ceil(cpu_limit_s)), settings.memory_mb << 20, files)
            work()
        except MemoryError:
            os._exit(SEARCH_OUT_OF_MEMORY)
        finally:
            os._exit(1)
    return child


def confine(worker: int, cpu_limit_s: int, memory_bytes: int, files: Files) -> None:
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != worker:  # the worker died before the line above
        os._exit(1)
    for kind, soft, hard in (
        (resource.RLIMIT_AS, memory_bytes, memory_bytes),
        (resource.RLIMIT_FSIZE, memory_bytes, memory_bytes),
        (resource.RLIMIT_CPU, cpu_limit_s, cpu_limit_s + 1),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        ceiling = resource.getrlimit(kind)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(kind, (soft, hard))
    os.dup2(files.sas, 0)
    os.dup2(files.log, 1)
    os.dup2(files.log, 2)


def die_at(deadline: float) -> None:
    """Makes SIGALRM end the process at the deadline. The search binary inherits the timer."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, max(deadline - time.monotonic(), 1e-6))


def wait_for(child: int, cpu_limit_s: float) -> tuple[int, str, float]:
    """Returns exit status (negative: signal), exceeded limit ("" if none) and CPU seconds."""
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    cpu_time_s = usage.ru_utime + usage.ru_stime
    stopped = "wall" if code == -signal.SIGALRM else ""
    if not stopped and (code == -signal.SIGXCPU or (code < 0 and cpu_time_s >= cpu_limit_s)):
        stopped = "cpu"
    return code, stopped, cpu_time_s


def translate_and_search(
    task: bytes, deadline: float, settings: Settings, files: Files
) -> NoReturn:
    die_at(deadline)
    output = sys.stdout = sys.stderr = io.StringIO()
    reserve = mmap.mmap(-1, RESERVE_BYTES)  # counts against the limit, but is never touched
    error, message = "", ""
    try:
        with open(files.sas, "w", closefd=False, encoding="utf-8") as sas:
            translate(sas, *json.loads(task))
    except BaseException as fault:  # the translator raises SystemExit and worse on bad input
        reserve.close()
        out_of_space = isinstance(fault, OSError) and fault.errno in (errno.ENOMEM, errno.EFBIG)
        error = "MemoryError" if out_of_space else type(fault).__name__
        message = str(fault)[:LOG_CHARACTERS]
    notes = [line[:400] for line in output.getvalue().splitlines() if NOTE.match(line)][:20]
    with open(files.report, "w", closefd=False, encoding="utf-8") as report:
        json.dump({"error": error, "message": message, "notes": notes}, report)
    if error:
        os._exit(0)
    search(settings.search, deadline, settings, files)


def translate(sas: TextIO, domain: str, problem: str) -> None:
    """Writes the task as SAS text. Raises whatever the translator raises."""
    from fast_downward.translate import main, normalize, pddl_parser
    from fast_downward.translate.pddl_parser import lisp_parser, parsing_functions

    lists = []
    for name, text in (("domain", domain), ("problem", problem)):
        try:
            lists.append(lisp_parser.parse_nested_list(io.StringIO(text, newline=None)))
        except pddl_parser.ParseError as error:
            raise pddl_parser.ParseError(f"Could not parse {name} file: {error}") from None
    task = parsing_functions.parse_task(*lists)
    normalize.normalize(task)
    main.pddl_to_sas(task).output(sas)


def search(configuration: str, deadline: float, settings: Settings, files: Files) -> NoReturn:
    die_at(deadline)
    os.lseek(0, 0, os.SEEK_SET)
    os.set_inheritable(files.plan, True)
    plan = f"/proc/self/fd/{files.plan}"
    arguments = ["--search", configuration, "--internal-plan-file", plan]
    os.execv(settings.binary, [settings.binary, *arguments])


if __name__ == "__main__":
    main()
