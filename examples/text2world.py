"""Turns rows of Text2World (arXiv 2502.13092) into the domain files of described
worlds.

    python text2world.py our_benchmark.json OUT --limit 10

The rows are the file pddl_benchmark/our_benchmark.json of
github.com/Aaron617/text2world. Each row has a text (`corrected_description`) and a gold
domain (`pddl_domain`), but no problem: the benchmark compares domains. Each row becomes
a folder, OUT/ID_NAME, with domain.pddl and p01_domain.txt, which ends with the action
heads of the gold domain.

With your own p01_problem.txt, `pddlego formalize OUT/ID_NAME` writes PDDL for the text.
With your own p01.pddl, too, the folder is a game of environment=described, and its two
gold files can be the "gold" of a line for `pddlego score`. Text2World's own scores are
not computed here.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from converting import (
    Row,
    arguments,
    check_gold,
    convert_all,
    rows_with,
    text_in,
    with_heads,
    write,
)

from pddlego_local.pddl.files import read_domain
from pddlego_local.pddl.reader import read as read_pddl

COLUMNS = ("id", "pddl_domain", "corrected_description")


def read(path: Path) -> Iterator[Row]:
    """Yields the rows of a JSON list."""
    yield from json.loads(path.read_text(encoding="utf-8"))


def convert(row: Row, out: Path) -> None:
    """Writes a domain and its text. Raises LeftOut if the row cannot be converted."""
    text = text_in(row, "corrected_description")
    domain = text_in(row, "pddl_domain")
    word = read_domain(read_pddl(domain)).word
    name = str(word or "unnamed")
    check_gold(
        domain, f"(define (problem empty) (:domain {name}) (:init) (:goal (and)))"
    )
    spelled = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    folder = out / f"{row['id']:03}_{spelled}"
    files = {"domain.pddl": domain, "p01_domain.txt": with_heads(text, domain)}
    write(folder, files)


if __name__ == "__main__":
    given = arguments("Text2World's rows as domains with their texts")
    rows = rows_with(COLUMNS, read, given.rows)
    convert_all(rows, lambda row: convert(row, given.out), given.limit)
