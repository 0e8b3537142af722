"""What `check` and `plan` share: (domain, problem) pairs from two files or from JSON lines."""

import argparse
import contextlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pddlego_local.errors import ConfigError


@dataclass(frozen=True)
class Pair:
    id: Any
    domain: str
    problem: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("domain", nargs="?", type=Path, help="a domain file")
    parser.add_argument("problem", nargs="?", type=Path, help="a problem file")
    parser.add_argument(
        "--jsonl", metavar="FILE", help='lines {"id", "domain", "problem"}; - is stdin'
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write JSON lines there")


def read_pairs(given: argparse.Namespace) -> Iterator[Pair]:
    """Raises ConfigError naming file and line, or the missing argument."""
    if given.jsonl and given.domain:
        raise ConfigError("give either DOMAIN and PROBLEM or --jsonl, not both")
    if given.jsonl:
        yield from _from_json_lines(given.jsonl)
    elif given.domain and given.problem:
        yield Pair(str(given.problem), _read(given.domain), _read(given.problem))
    else:
        raise ConfigError(
            "give a DOMAIN and a PROBLEM file, or --jsonl FILE (- for standard input)"
        )


def write_lines(results: Iterable[Mapping[str, Any]], out: Path | None) -> None:
    """One JSON object a line, flushed line by line."""
    with _writable(out) as file:
        for result in results:
            print(json.dumps(result, ensure_ascii=False), file=file, flush=True)


def _from_json_lines(name: str) -> Iterator[Pair]:
    with contextlib.ExitStack() as stack:
        try:
            lines = (
                sys.stdin if name == "-" else stack.enter_context(Path(name).open(encoding="utf-8"))
            )
        except OSError as error:
            raise ConfigError(f"--jsonl {name}: {error.strerror}") from error
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
            except ValueError as error:
                raise ConfigError(f"{name} line {number} is not JSON: {error}") from error
            if not isinstance(entry, dict):
                raise ConfigError(f"{name} line {number} is not a JSON object")
            for key in ("domain", "problem"):
                if not isinstance(entry.get(key), str):
                    raise ConfigError(f'{name} line {number}: "{key}" must be a string of PDDL')
            yield Pair(entry.get("id"), entry["domain"], entry["problem"])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error


@contextlib.contextmanager
def _writable(out: Path | None) -> Iterator[IO[str]]:
    if out is None:
        yield sys.stdout
        return
    try:
        with out.open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise ConfigError(f"--out {out}: {error.strerror}") from error
