"""Every way of asking on real tokenizers and chat templates, with either backend, as a table; and
how many tokens vLLM says its cache holds, over what models/memory.py says of it.

    python -m tools.bench.families [--only qwen3] [--backends transformers,vllm] [--limit 600]

Weights are random, in each family's architecture. PDDLEGO_DATA holds the tokenizers.
"""

import argparse
import contextlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from pddlego_local.core.errors import PddlegoError
from pddlego_local.models.memory import shape_found
from pddlego_local.models.transformers import TransformersModel
from pddlego_local.models.vllm.model import VllmModel
from tests.models.asking import CPU
from tests.models.families import FAMILIES, MAY_ANSWER_AT_ONCE, Family, make_family
from tests.models.whole_line import CHECKS, Line
from tests.serving.served import served, serving
from tools.bench.markdown import table

CONTEXT_TOKENS = 8_192


def in_process(weights: Path, family: Family) -> TransformersModel:
    return TransformersModel(weights=str(weights), thinking=family.thinking, engine=CPU)


def behind_vllm(weights: Path, family: Family) -> VllmModel:
    server = serving(extra_arguments=family.arguments)
    return served(weights, server, family.thinking, CONTEXT_TOKENS, family.served_in)


BACKENDS: Mapping[str, Callable[[Path, Family], Any]] = {
    "transformers": in_process,
    "vllm": behind_vllm,
}


def results(name: str, backend: str, limit: int) -> Iterator[str]:
    """What each check says of a family: "passes" or the reason why not."""
    family = FAMILIES[name]
    with tempfile.TemporaryDirectory() as place:
        folder = make_family(Path(place) / name, name)
        tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        with contextlib.closing(BACKENDS[backend](folder, family)) as model:
            for told, check in CHECKS.items():
                try:
                    check(Line(model, tokenizer, family.thinking, limit))
                    found = "passes"
                except (AssertionError, PddlegoError) as error:
                    print(error, file=sys.stderr)
                    found = (str(error).strip() or type(error).__name__).splitlines()[0]
                print(f"{name}, {backend}, {told}: {found}", file=sys.stderr, flush=True)
                yield found
            yield _cache(folder, model) if backend == "vllm" else "–"


def _cache(folder: Path, model: VllmModel) -> str:
    """Tokens of its cache as vLLM counts them, over ours. Prompts are read whole on a CPU."""
    assert model._managed is not None
    said = re.search(r"KV cache size: ([\d,]+) tokens", model._managed.log_text())
    answer = shape_found(folder, model.dtype).cache(CONTEXT_TOKENS)
    ours = model.server.kv_cache_gib * 1024**3 * CONTEXT_TOKENS // answer
    return f"{int(said[1].replace(',', '')) / ours:.3f} of {ours:,}" if said else "not said"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", default=",".join(MAY_ANSWER_AT_ONCE), help="names of families")
    parser.add_argument("--backends", default=",".join(BACKENDS))
    parser.add_argument("--limit", type=int, default=600, help="tokens of an answer on a rung")
    given = parser.parse_args()
    rows = [
        [name, backend, *results(name, backend, given.limit)]
        for backend in given.backends.split(",")
        for name in given.only.split(",")
    ]
    print(table(["tokenizer", "backend", *CHECKS, "cache, vLLM's tokens over ours"], rows))


if __name__ == "__main__":
    main()
