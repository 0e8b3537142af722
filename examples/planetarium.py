"""Turns rows of Planetarium (arXiv 2407.03321) into folders of described worlds.

    python planetarium.py train-00000-of-00001.parquet DOMAINS OUT --limit 100
    pddlego run environment=described environment.folder=OUT/gripper games=0-9

The rows are the parquet file of the dataset BatsResearch/planetarium on the hub, or the
same rows as JSON lines. A line may also be an answer of the hub's rows API. DOMAINS is
the folder planetarium/domains of github.com/BatsResearch/planetarium: one PDDL file for
each domain.

A row's text describes the problem only. The domain's text is made from the domain file
by this project's rules. A row is left out if its text is abstract: "stack the blocks
into a single stack" fits many problems, and plans are judged by one gold problem, in
which each block has its place. The columns are those of the dataset's card and of
dataset_generator.py.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from converting import (
    LeftOut,
    Row,
    arguments,
    check_gold,
    convert_all,
    rows_with,
    text_in,
    with_heads,
    write,
)

from pddlego_local.environments.described.wording import rules_in_words

ABSTRACT = ("init_is_abstract", "goal_is_abstract")
COLUMNS = ("id", "domain", "problem_pddl", "natural_language", *ABSTRACT)


def read(path: Path) -> Iterator[Row]:
    """Yields the rows of a parquet file, or of a file of JSON lines."""
    if path.suffix == ".parquet":
        import pandas

        yield from pandas.read_parquet(path).to_dict("records")
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        page = json.loads(line)
        if "rows" in page:
            yield from [entry["row"] for entry in page["rows"]]
        else:
            yield page


def convert(row: Row, domains: Path, out: Path) -> None:
    """Writes the four files of a world. Raises LeftOut if the row cannot be
    converted.
    """
    text = text_in(row, "natural_language")
    problem = text_in(row, "problem_pddl")
    if any(row[column] for column in ABSTRACT):
        raise LeftOut("the text is abstract")
    source = domains / f"{row['domain']}.pddl"
    if source not in domains.glob("*.pddl"):
        raise LeftOut(f"unknown domain: there is no file {source}")
    domain = source.read_text(encoding="utf-8")
    check_gold(domain, problem)
    name = f"p{row['id']:06}"
    files = {
        "domain.pddl": domain,
        f"{name}_domain.txt": with_heads(rules_in_words(domain, {}), domain),
        f"{name}_problem.txt": text,
        f"{name}.pddl": problem,
    }
    write(out / row["domain"], files)


if __name__ == "__main__":
    given = arguments("Planetarium's rows as described worlds", "domains")
    rows = rows_with(COLUMNS, read, given.rows)
    convert_all(
        rows, lambda row: convert(row, given.domains, given.out), given.limit, "domain"
    )
