"""Work for tests of `core.confined`, which finds it by its name."""

import os
import signal
import subprocess
import sys
import time

from pddlego_local.core.errors import ConfigError, GrammarFault


def doubled(number: int) -> int:
    return 2 * number


def echoed(text: str) -> str:
    return text


def process_id() -> int:
    return os.getppid()


def spin() -> None:
    while True:
        pass


def sleep() -> None:
    time.sleep(3600)


def fill() -> int:
    return len("x" * (1 << 40))


def fill_slowly() -> None:
    everything = []
    while True:
        everything.append(bytes(1 << 20))


def fill_below_another_error() -> None:
    try:
        fill_slowly()
    except MemoryError:
        raise ImportError("a library says something else") from None


def nest() -> None:
    nest()


def refuse() -> None:
    raise ConfigError("domain: no")


def refuse_a_grammar() -> None:
    raise GrammarFault("it does not compile", "start: x")


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def leave() -> None:
    sys.exit(5)


def print_much() -> str:
    print("x" * 100_000)
    subprocess.run(["echo", "more"], check=True)
    return sys.stdin.read()


def result_that_is_no_json() -> object:
    return object()
