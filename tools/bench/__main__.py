"""`make bench`: measures the cost of solving, masks and decoding; prints tables and
writes JSON.

    python -m tools.bench [--only solve,mask]

The servers are vLLM on the CPU with the random model, where masks and requests cost
most.
"""

import argparse
import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.table import Table

from pddlego_local.core.console import literal_console
from pddlego_local.models.random import RandomVllmModel
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import Server
from pddlego_local.runner.provenance import provenance
from tools.bench.answers import answers_bench
from tools.bench.decode import decode_rows, first_token_rows
from tools.bench.mask import mask_bench
from tools.bench.solve import solve_bench

TOKENS = {
    1: 2_000,
    8: 16_000,
    32: 40_000,
}  # per turn, by number of simultaneous answers


def served() -> VllmModel:
    server = Server(
        env=Path(os.environ.get("PDDLEGO_SERVING_ENV", ".venv-serving")),
        device="cpu",
        kv_cache_gib=1,
        variables={"OMP_NUM_THREADS": "1"},
    )
    return RandomVllmModel(dtype="float32", context_tokens=8192, server=server)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/bench.json"))
    parser.add_argument(
        "--repeats", type=int, default=15, help="solves per task and planner"
    )
    parser.add_argument(
        "--only", default="", help="benchmarks to run, such as solve,mask"
    )
    given = parser.parse_args()
    results: dict[str, object] = {"provenance": provenance()}
    with contextlib.closing(served()) as model:
        benches: dict[str, Callable[[], Iterator[dict[str, object]]]] = {
            "solve": lambda: solve_bench(given.repeats),
            "mask": mask_bench,
            "first token": lambda: first_token_rows(model, turns=25),
            "decode": lambda: decode_rows(model, TOKENS, turns=2),
            "answers": lambda: answers_bench(model),
        }
        for name in given.only.split(",") if given.only else benches:
            results[name] = rows = list(benches[name]())
            table = Table(*rows[0], title=name)
            for row in rows:
                table.add_row(*map(str, row.values()))
            literal_console().print(table)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print(f"written: {given.out}")


if __name__ == "__main__":
    main()
