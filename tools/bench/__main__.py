"""`make bench`: what the parts cost, side by side in one run, as tables and as JSON."""

import argparse
import contextlib
import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pddlego_local.runner.provenance import provenance
from tools.bench.decode import decode_bench, serve
from tools.bench.games import games_bench
from tools.bench.mask import mask_bench
from tools.bench.slots import Asked, slots_bench
from tools.bench.solve import solve_bench
from tools.bench.stages import first_token_bench, stage_bench


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/bench.json"))
    parser.add_argument("--repeats", type=int, default=15, help="solves per task and way")
    given = parser.parse_args()
    results: dict[str, object] = {"provenance": provenance()}
    server = serve()
    with contextlib.closing(server):
        for title, measure in (
            ("games", games_bench),
            ("one solve, median ms", lambda: solve_bench(given.repeats)),
            ("a sweep's slots", lambda: slots_bench(Asked(games=128), ["together"])),
            ('masks of the rung "syntax" at 150,000 tokens', mask_bench),
            ("stages of the upper rungs at 150,000 tokens", stage_bench),
            ("first token, vLLM CPU engine", lambda: first_token_bench(server)),
            ("decoding on the vLLM CPU engine, random model", lambda: decode_bench(server)),
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
