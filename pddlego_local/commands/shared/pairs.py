"""Input and output of `check` and `plan`: (domain, problem) pairs from two files or
JSON lines.

Several threads may process the pairs. Only a few pairs are read ahead of the results.
"""

import argparse
import contextlib
import io
import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from pddlego_local.commands.shared.options import as_error, path
from pddlego_local.core.errors import ConfigError

UNREADABLE = "unreadable"  # the key of an output line whose input line holds no pair
MOST_AHEAD = 32
"""Items per worker that are read before the first of them has its result."""

Work = Callable[[str, str], dict[str, Any]]
"""Takes the texts of a domain and of a problem, and returns their output line."""
S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True)
class Pair:
    """A domain and a problem. If they come from a JSON line, `line` is its number, and
    `unreadable` says why it holds no pair, "" if it holds one.
    """

    id: Any
    domain: str = ""
    problem: str = ""
    line: int = 0
    unreadable: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("domain", nargs="?", type=path, help="a domain file")
    add("problem", nargs="?", type=path, help="a problem file")
    add("--jsonl", metavar="FILE", help='lines {"id", "domain", "problem"}; - is stdin')
    add("--out", type=path, metavar="FILE", help="write JSON lines to FILE")


@contextlib.contextmanager
def pairs_of(arguments: argparse.Namespace) -> Iterator[Iterator[Pair]]:
    """Opens the one pair, or the pairs of the JSON lines, which are read as they are
    needed. Raises ConfigError for wrong arguments.
    """
    if arguments.jsonl and arguments.domain:
        raise ConfigError("give either DOMAIN and PROBLEM or --jsonl, not both")
    if arguments.jsonl:
        with lines_of(arguments.jsonl, arguments.out, "--jsonl ") as lines:
            yield (_pair(line, n) for n, line in enumerate(lines, 1) if line.strip())
    elif arguments.domain and arguments.problem:
        domain = text_of(arguments.domain)
        problem = text_of(arguments.problem)
        yield iter([Pair(str(arguments.problem), domain, problem)])
    else:
        raise ConfigError(
            "give a DOMAIN and a PROBLEM file, or --jsonl FILE (- for stdin)"
        )


def output_lines(
    work: Work, pairs: Iterable[Pair], workers: int = 1
) -> Iterator[dict[str, Any]]:
    """Yields an output line for each pair, in order: the result of `work`, or why the
    line holds no pair.
    """

    def output_line(pair: Pair) -> dict[str, Any]:
        if pair.unreadable:
            return {"id": pair.id, "line": pair.line, UNREADABLE: pair.unreadable}
        return {"id": pair.id, **work(pair.domain, pair.problem)}

    if workers == 1:  # then each result comes before the next line is read
        return map(output_line, pairs)
    return in_order(output_line, pairs, workers)


def in_order(work: Callable[[S], T], things: Iterable[S], workers: int) -> Iterator[T]:
    """Yields `work(thing)` for each of `things`, in their order, computed by `workers`
    threads.

    `things` may be endless. Raises the error of the first thing that failed.
    """
    most_pending = MOST_AHEAD * workers
    pool = ThreadPoolExecutor(workers)
    pending: deque[Future[T]] = deque()
    try:
        for thing in things:
            pending.append(pool.submit(work, thing))
            while pending and (len(pending) > most_pending or pending[0].done()):
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def write_lines(results: Iterable[Mapping[str, Any]], out: Path | None) -> int:
    """Writes one JSON object per line and flushes each line. Returns 0, or 2 if an
    input line held no pair, which is reported at the end.
    """
    unreadable: list[Mapping[str, Any]] = []
    with contextlib.ExitStack() as stack:
        file: IO[str] = sys.stdout
        if out:
            file = stack.enter_context(out.open("w", encoding="utf-8"))
        for result in results:
            if UNREADABLE in result:
                unreadable.append(result)
            line = json.dumps(result, ensure_ascii=file.isatty())
            # UTF-8 has no bytes for a lone surrogate, which is written as an escape.
            line = line.encode("utf-8", "backslashreplace").decode()
            print(line, file=file, flush=True)
    if not unreadable:
        return 0
    first = unreadable[0]
    print(
        f"pddlego: {len(unreadable)} lines could not be read and have no verdict;"
        f" the first: line {first['line']} {first[UNREADABLE]}",
        file=sys.stderr,
    )
    return ConfigError.exit_code


@contextlib.contextmanager
def lines_of(file: str, out: Path | None, option: str = "") -> Iterator[IO[str]]:
    """Opens the lines of a file, "-" for standard input. `option` is the command-line
    option before the file's name. Raises ConfigError for an unreadable file, or if
    `out` would overwrite it.
    """
    if file == "-":
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="replace")
        yield sys.stdin
        return
    with contextlib.suppress(OSError):  # one of the two files does not exist
        if out is not None and out.samefile(file):
            reads = option.strip() or "this command"
            raise ConfigError(
                f"--out {out} is the file that {reads} reads: name another file"
            )
    with as_error(ConfigError, f"{option}{file}"):
        lines = path(file).open(encoding="utf-8-sig", errors="replace")
    with lines:
        yield lines


def _pair(line: str, number: int) -> Pair:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Pair(None, line=number, unreadable=f"is not JSON: {error}")
    if not isinstance(given, dict):
        return Pair(None, line=number, unreadable="is not a JSON object")
    id_ = given.get("id")
    for key in ("domain", "problem"):
        if not isinstance(given.get(key), str):
            fault = f'has no "{key}" that is a string of PDDL'
            return Pair(id_, line=number, unreadable=fault)
    return Pair(id_, given["domain"], given["problem"], number)


def text_of(path: Path) -> str:
    """Returns the text of a file. Raises ConfigError if it cannot be read."""
    with as_error(ConfigError, path):
        return path.read_text(encoding="utf-8", errors="replace")
