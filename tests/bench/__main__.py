"""`make bench`: what the parts cost, side by side in one run, as tables and as JSON."""

import argparse
import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pddlego_local.provenance import provenance
from tests.bench.decode import decode_bench
from tests.bench.games import games_bench
from tests.bench.solve import solve_bench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/bench.json"))
    parser.add_argument("--repeats", type=int, default=15, help="solves per task and way")
    given = parser.parse_args()
    results: dict[str, object] = {"provenance": provenance()}
    for title, measure in (
        ("games", games_bench),
        ("one solve, median ms", lambda: solve_bench(given.repeats)),
        ("decoding on the vLLM CPU engine, random model", decode_bench),
    ):
        rows = measure()
        results[title] = rows
        _print(title, rows)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(results, indent=2) + "\n")
    print(f"written: {given.out}")


def _print(title: str, rows: list[dict[str, object]]) -> None:
    table = Table(*rows[0], title=title)
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
