"""Tiles for the matrix products of batch-invariant servers, from a measured table.

vLLM computes every unquantized linear layer of a batch-invariant server with one Triton
kernel. Its own table has tiles for the shapes of a few models; all others get tiles for
large matrices, which leave most of a GPU idle when a few answers are written.
`python -m tools.gpu_check.tiles` measures a table for the shapes of models with 8, 14
and 32 billion parameters. A server uses it if the environment variable
PDDLEGO_MATMUL_TILES names its file, which `serving/launch.py --matmul-tiles FILE` sets.

Other tiles add the same numbers in another order. So a table changes answers, as
another GPU does, and its hash belongs to what identifies a model's results.

The names of vLLM that are used here are those of the version that vllm_patches.py is
made for.
"""

import json
import os
from pathlib import Path
from typing import Any

VARIABLE = "PDDLEGO_MATMUL_TILES"


def use_table() -> None:
    """Adds the table's shapes to vLLM's own. Does nothing if no table is named.

    vLLM calls the plugin in each process before it looks up any tiles. Raises OSError
    or ValueError for a file that is no table: the server does not start then.
    """
    if file := os.environ.get(VARIABLE):
        from vllm.model_executor.determinism import batch_invariant_configs as configs

        table = read_table(Path(file))
        cards = configs._BATCH_INVARIANT_MATMUL_TUNED_CONFIGS
        shapes = cards.setdefault(table["family"], {})
        for shape in table["shapes"]:
            buckets = tuple(
                (
                    bucket["rows"],
                    configs._MatmulMConfig(
                        block_m=bucket["block_m"],
                        block_n=bucket["block_n"],
                        num_warps=bucket["warps"],
                        num_stages=bucket["stages"],
                    ),
                )
                for bucket in shape["buckets"]
            )
            shapes[shape["n"], shape["k"]] = configs._MatmulShapeConfig(
                block_k=shape["block_k"], m_buckets=buckets
            )


def read_table(file: Path) -> dict[str, Any]:
    """Returns a table of tools/gpu_check/tiles.py. Raises ValueError for another file.

    The rows of each shape's buckets must ascend, because vLLM takes the first bucket
    with enough rows.
    """
    table = json.loads(file.read_text(encoding="utf-8"))
    try:
        rows = [
            [bucket["rows"] for bucket in one["buckets"]] for one in table["shapes"]
        ]
        complete = bool(table["family"]) and all(rows)
    except (KeyError, TypeError):
        complete = False
    if not complete or any(one != sorted(set(one)) for one in rows):
        raise ValueError(f"{file} is no table of tools/gpu_check/tiles.py")
    return dict(table)
