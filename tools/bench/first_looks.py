"""What a model made of first looks, by rung and layout: the experiment "first_looks" as a table.

    python -m tools.bench.first_looks RUNS

RUNS is a folder of recorded runs. An answer is finished unless it was cut; of all answers, those
are accepted that the planner's translator took, be there a plan or not. "sampled" are an answer's
tokens without those that were forced. Shares have their Wilson interval at 95 %.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from pddlego_local.report.statistics.rates import Rate
from pddlego_local.report.text import rate
from tools.bench.markdown import table

COLUMNS = ("rung", "layout", "finished", "accepted", "with a plan", "sampled, mean")
ACCEPTED = ("solved", "goal_already_true", "unsolvable", "timeout", "out_of_memory")

Row = Mapping[str, Any]
"""A line of episodes.jsonl; also of an earlier format, which these few keys are the same in."""


def cells(runs: Path) -> Iterator[tuple[tuple[str, str], list[Row]]]:
    """((rung, layout), rows of the games that a model was asked in) of every cell."""
    for path in sorted(runs.rglob("run.json")):
        decoding = json.loads(path.read_text())["identity"]["decoding"]
        ended = path.parent / "episodes.jsonl"
        lines = ended.read_text().splitlines() if ended.exists() else []
        asked = [row for row in map(json.loads, lines) if row["calls"]]
        if asked:
            yield (decoding["rung"], decoding.get("layout", "any")), asked


def row_of(arm: tuple[str, str], rows: Sequence[Row]) -> Iterator[object]:
    causes = sum((Counter(row["causes"]) for row in rows), Counter[str]())
    answers = causes.total()
    sampled = [row["completion_tokens"] - row.get("forced_tokens", 0) for row in rows]
    yield from arm
    yield rate(Rate(answers - causes["truncated"], answers))
    yield rate(Rate(sum(causes[cause] for cause in ACCEPTED), answers))
    yield rate(Rate(causes["solved"], answers))
    yield f"{fmean(sampled):.0f} (median {median(sampled):.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("runs", type=Path)
    given = parser.parse_args()
    found = list(cells(given.runs))
    if not found:
        raise SystemExit(f"error: {given.runs} holds no run in which a model was asked")
    print(table(COLUMNS, (row_of(arm, rows) for arm, rows in found)))


if __name__ == "__main__":
    main()
