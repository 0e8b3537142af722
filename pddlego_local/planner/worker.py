"""The warm process that translates and searches: a script that is run by path, never
imported.

This is the only file of the package that imports Fast Downward's translator, which is
GPL-3.0. The rest of the package talks to this process over a socket (its standard input
and output) and shares no code with it.

The process imports the translator once and then serves tasks one after another. A task
is a line with a JSON list, and the reply is a JSON object. Every task gets a child
process with limits on address space, CPU time and wall time. The child translates and
then *becomes* the search binary, so that one set of limits covers both. SAS text, plan
and log are in anonymous memory, never in a folder that two tasks share.

Fast Downward's own driver is not used because it starts Python twice and writes three
files for each task. With the driver, solving takes 117 ms for a house of 6 rooms and
277 ms for one of 50 things, most of which is translation (medians of 9, `make bench`).

No process outlives its parent: the kernel kills the child with this process, and this
process ends when its standard input closes or its parent is gone.

A reply says which limit of ours ended the child, and this is never read from a signal
alone, which anybody may have sent. The wall-clock limit is this process's own: it
counts the time of its beats, so time in which the machine or the child was frozen does
not count. For the CPU limit, the child must have used the time. Usage: worker.py
SETTINGS_AS_JSON
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
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TextIO

SEARCH_OUT_OF_MEMORY = 22  # exit codes of Fast Downward
SEARCH_OUT_OF_TIME = 23  # it received SIGXCPU
SEARCH_UNSUPPORTED = 34
NOT_BEGUN = 99  # exit code of a child that could not do its work
PR_SET_PDEATHSIG = 1
LOG_CHARACTERS = 4000
MOST_NOTES = 20
LONGEST_NOTE = 400
# Lines that the translator prints.
NOTE = re.compile(r"Warning: |.*! Generating unsolvable task\.\.\.$")
RESERVE_BYTES = 8 << 20  # freed when memory runs out, so that this can be reported
BEAT_S = 0.25
# A beat that comes later was held up: this process or the machine was frozen.
LONGEST_BEAT_S = 1.0
# The kernel ends a process by the CPU time that it has sampled. What it has measured
# then differs: a loop with a limit of 1 s was ended after 0.89 s.
CPU_SHARE = 0.5

libc = ctypes.CDLL(None)
here = os.getpid()
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
    # tasks are short, and the collector would copy all pages shared with children
    gc.disable()
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # no KeyboardInterrupt in it
    signal.signal(signal.SIGALRM, beat)
    signal.setitimer(signal.ITIMER_REAL, BEAT_S, BEAT_S)
    while (task := sys.stdin.buffer.readline()).endswith(b"\n"):
        print(json.dumps(solve(task, settings)), flush=True)


class Watch:
    """The wall-clock limit of one task. `child` is the process that works on it, 0 if
    none does.
    """

    def __init__(self, wall_s: float) -> None:
        self.child = 0
        self.is_over = False
        self._left_s = wall_s
        self._last_s = time.monotonic()

    def beat(self) -> None:
        """Kills the child at its limit. Time in which it could not run does not
        count.
        """
        now_s = time.monotonic()
        passed_s = min(now_s - self._last_s, LONGEST_BEAT_S)
        self._last_s = now_s
        if not self.child or is_stopped(self.child):
            return
        self._left_s -= passed_s
        if self._left_s <= 0:
            self.is_over = True
            os.kill(self.child, signal.SIGKILL)


watch = Watch(math.inf)


def beat(*_signal: object) -> None:
    """Ends this process if its parent is gone, and the child if its time is over."""
    if os.getpid() != here:  # a child that has just been forked
        return
    if os.getppid() != parent:
        os._exit(0)
    watch.beat()


def is_stopped(process: int) -> bool:
    """Whether a signal such as SIGSTOP has stopped this process."""
    stat = Path(f"/proc/{process}/stat").read_bytes()
    _, _, fields = stat.rpartition(b") ")  # after the name, which may hold anything
    return fields.startswith((b"T", b"t"))


def solve(task: bytes, settings: Settings) -> dict[str, Any]:
    """Translates and searches. Uses the fallback if the search does not support the
    task.
    """
    global watch
    watch = Watch(settings.wall_s)
    files = Files(*map(os.memfd_create, Files._fields))

    def work() -> NoReturn:
        translate_and_search(task, settings, files)

    def search_once_more() -> NoReturn:
        search(settings.fallback, settings, files)

    end = confined(work, settings.cpu_s, settings, files)
    if end.code == SEARCH_UNSUPPORTED and settings.fallback:
        left_s = settings.cpu_s - end.cpu_time_s
        end = confined(search_once_more, left_s, settings, files)
    report: dict[str, Any] = json.loads(read_all(files.report) or "{}")
    log = "" if end.code == 0 else read_all(files.log)
    if len(log) > LOG_CHARACTERS:
        # The start says what was read, and the end what went wrong.
        half = LOG_CHARACTERS // 2
        log = f"{log[:half]}\n{log[-half:]}"
    plan = read_all(files.plan)
    for descriptor in files:
        os.close(descriptor)
    return {
        **report,
        "code": end.code,
        "stopped": end.stopped,
        "log": log,
        "plan": plan,
    }


def read_all(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0).decode("utf-8", "replace")


class End(NamedTuple):
    """How a child ended: its exit status (negative: the signal that ended it), the
    limit of ours that ended it ("wall", "cpu", or "" for none), and its CPU seconds.
    """

    code: int
    stopped: str
    cpu_time_s: float


def confined(
    work: Callable[[], NoReturn], cpu_limit_s: float, settings: Settings, files: Files
) -> End:
    """Does `work` in a child within the limits."""
    whole_s = max(1, math.ceil(cpu_limit_s))
    worker = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            confine(worker, whole_s, settings.memory_mb << 20, files)
            work()
        except BaseException as fault:
            if is_out_of_memory(fault):
                os._exit(SEARCH_OUT_OF_MEMORY)
            os.write(files.log, f"{type(fault).__name__}: {fault}".encode())
        finally:
            os._exit(NOT_BEGUN)
    watch.child = child
    # The number of the child is not used again until wait4.
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    watch.child = 0
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    cpu_time_s = usage.ru_utime + usage.ru_stime
    by_cpu_limit = code in (SEARCH_OUT_OF_TIME, -signal.SIGXCPU, -signal.SIGKILL)
    if watch.is_over and code == -signal.SIGKILL:
        return End(code, "wall", cpu_time_s)
    if by_cpu_limit and cpu_time_s >= CPU_SHARE * whole_s:
        return End(code, "cpu", cpu_time_s)
    return End(code, "", cpu_time_s)


def confine(worker: int, cpu_limit_s: int, memory_bytes: int, files: Files) -> None:
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != worker:  # the worker died before the line above
        os._exit(1)
    # warm.py has checked that these limits may be so high.
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit_s, cpu_limit_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(files.sas, 0)
    os.dup2(files.log, 1)
    os.dup2(files.log, 2)


def translate_and_search(task: bytes, settings: Settings, files: Files) -> NoReturn:
    output = sys.stdout = sys.stderr = io.StringIO()
    reserve = mmap.mmap(-1, RESERVE_BYTES)  # counts, but is never touched
    error = message = ""
    try:
        with open(files.sas, "w", closefd=False, encoding="utf-8") as sas:
            translate(sas, *json.loads(task))
    except BaseException as fault:  # SystemExit and worse, on bad input
        reserve.close()
        error = "MemoryError" if is_out_of_memory(fault) else type(fault).__name__
        message = str(fault)[:LOG_CHARACTERS]
    lines = output.getvalue().splitlines()
    notes = [line[:LONGEST_NOTE] for line in lines if NOTE.match(line)]
    told = {"error": error, "message": message, "notes": notes[:MOST_NOTES]}
    with open(files.report, "w", closefd=False, encoding="utf-8") as report:
        json.dump(told, report)
    if error:
        os._exit(0)
    search(settings.search, settings, files)


def is_out_of_memory(fault: BaseException) -> bool:
    """Whether a limit of memory, or of the size of the anonymous files, was reached."""
    if isinstance(fault, OSError):
        return fault.errno in (errno.ENOMEM, errno.EFBIG)
    return isinstance(fault, MemoryError)


def translate(sas: TextIO, domain: str, problem: str) -> None:
    """Writes the task as SAS text. Raises whatever the translator raises."""
    from fast_downward.translate import main, normalize, pddl_parser
    from fast_downward.translate.pddl_parser import lisp_parser, parsing_functions

    lists = []
    for name, text in (("domain", domain), ("problem", problem)):
        try:
            lines = io.StringIO(text, newline=None)
            lists.append(lisp_parser.parse_nested_list(lines))
        except pddl_parser.ParseError as error:
            raise pddl_parser.ParseError(
                f"Could not parse {name} file: {error}"
            ) from None
    task = parsing_functions.parse_task(*lists)
    normalize.normalize(task)
    main.pddl_to_sas(task).output(sas)


def search(configuration: str, settings: Settings, files: Files) -> NoReturn:
    os.lseek(0, 0, os.SEEK_SET)
    os.set_inheritable(files.plan, True)
    plan = f"/proc/self/fd/{files.plan}"
    arguments = ["--search", configuration, "--internal-plan-file", plan]
    os.execv(settings.binary, [settings.binary, *arguments])


if __name__ == "__main__":
    main()
