"""Input and output of `check` and `plan`: (domain, problem) pairs from two files or
JSON lines.

Several threads may process the pairs. Only a few pairs are read ahead of the results.
"""

import argparse
import contextlib
import functools
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
from pddlego_local.core.errors import ConfigError, InfrastructureError

FAULT = "unreadable"  # the key of an output line whose input line holds no pair
MOST_AHEAD = (
    32  # items per worker that are read before the first of them has its result
)

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """A pair of files. `place` is where it was read, such as "pairs.jsonl line 3".
    `unreadable` says why the line holds no pair, "" if it holds one.
    """

    id: Any
    domain: str
    problem: str
    place: str
    line: int = 0
    unreadable: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("domain", nargs="?", type=path, help="a domain file")
    add("problem", nargs="?", type=path, help="a problem file")
    add("--jsonl", metavar="FILE", help='lines {"id", "domain", "problem"}; - is stdin')
    add("--out", type=path, metavar="FILE", help="write JSON lines to FILE")


@contextlib.contextmanager
def entries_of(arguments: argparse.Namespace) -> Iterator[Iterator[Entry]]:
    """Opens the one pair, or the pairs of the JSON lines, which are read as they are
    needed. Raises ConfigError for wrong arguments.
    """
    if arguments.jsonl and arguments.domain:
        raise ConfigError("give either DOMAIN and PROBLEM or --jsonl, not both")
    if arguments.jsonl:
        with lines_of(arguments.jsonl, arguments.out, "--jsonl ") as lines:
            yield _entries(arguments.jsonl, lines)
    elif arguments.domain and arguments.problem:
        place = str(arguments.problem)
        yield iter(
            [Entry(place, text_of(arguments.domain), text_of(arguments.problem), place)]
        )
    else:
        raise ConfigError(
            "give a DOMAIN and a PROBLEM file, or --jsonl FILE (- for stdin)"
        )


def answer_lines(
    work: Callable[[str, str], dict[str, Any]],
    entries: Iterable[Entry],
    workers: int = 1,
) -> Iterator[dict[str, Any]]:
    """Yields an output line for each entry, in order: the result of `work`, or why the
    entry holds no pair. Raises an InfrastructureError of `work` with the entry's place.
    """
    answer = functools.partial(_answer_line, work)
    return map(answer, entries) if workers == 1 else in_order(answer, entries, workers)


def _answer_line(
    work: Callable[[str, str], dict[str, Any]], entry: Entry
) -> dict[str, Any]:
    if entry.unreadable:
        return {"id": entry.id, "line": entry.line, FAULT: entry.unreadable}
    try:
        return {"id": entry.id, **work(entry.domain, entry.problem)}
    except InfrastructureError as error:
        raise type(error)(f"{entry.place}: {error}") from error


def in_order(work: Callable[[S], T], things: Iterable[S], workers: int) -> Iterator[T]:
    """Yields `work(thing)` for each of `things`, in their order, computed by `workers`
    threads.

    `things` may be endless. Raises the error of the first thing that failed.
    """
    pool, pending = ThreadPoolExecutor(workers), deque[Future[T]]()
    try:
        for thing in things:
            pending.append(pool.submit(work, thing))
            while pending and (
                len(pending) > MOST_AHEAD * workers or pending[0].done()
            ):
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def write_lines(results: Iterable[Mapping[str, Any]], out: Path | None) -> int:
    """Writes one JSON object per line and flushes each line. Returns 0, or 2 if an
    input line held no pair, which is reported at the end.
    """
    unreadable = list[Mapping[str, Any]]()
    with (
        out.open("w", encoding="utf-8") if out else contextlib.nullcontext(sys.stdout)
    ) as file:
        for result in results:
            unreadable += [result] * (FAULT in result)
            line = json.dumps(result, ensure_ascii=file.isatty())
            line = line.encode(
                "utf-8", "backslashreplace"
            ).decode()  # for a lone surrogate
            print(line, file=file, flush=True)
    if unreadable:
        first = unreadable[0]
        print(
            f"pddlego: {len(unreadable)} lines could not be read and have no verdict;"
            f" the first: line {first['line']} {first[FAULT]}",
            file=sys.stderr,
        )
    return ConfigError.exit_code if unreadable else 0


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


def _entries(name: str, lines: Iterable[str]) -> Iterator[Entry]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _entry(line, number, f"{name} line {number}")


def _entry(line: str, number: int, place: str) -> Entry:
    try:
        pair = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Entry(None, "", "", place, number, f"is not JSON: {error}")
    if not isinstance(pair, dict):
        return Entry(None, "", "", place, number, "is not a JSON object")
    id_ = pair.get("id")
    for key in ("domain", "problem"):
        if not isinstance(pair.get(key), str):
            return Entry(
                id_, "", "", place, number, f'has no "{key}" that is a string of PDDL'
            )
    return Entry(id_, pair["domain"], pair["problem"], place, number)


def text_of(path: Path) -> str:
    """Returns the text of a file. Raises ConfigError if it cannot be read."""
    with as_error(ConfigError, path):
        return path.read_text(encoding="utf-8", errors="replace")
