"""vLLM multiplies with the tiles of a measured table, for the table's shapes alone."""

import json
from pathlib import Path

import pytest

from tests.serving.served import told_by_vllm
from tools.gpu_check.tiles import Measured, Shape, Tiles, as_table

SMALL, LARGE = Tiles(16, 64, 128, 4, 5), Tiles(128, 128, 128, 8, 2)


def test_vllm_takes_the_tiles_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = [Measured(SMALL, 64, 10, True), Measured(LARGE, 2048, 50, True)]
    table = as_table("hopper", {}, {Shape("8B o", 4096, 4096): best})
    file = tmp_path / "tiles.json"
    file.write_text(json.dumps(table), encoding="utf-8")
    monkeypatch.setenv("PDDLEGO_MATMUL_TILES", str(file))
    asked = [(1, 4096, 4096), (65, 4096, 4096), (9999, 4096, 4096), (1, 6144, 4096)]
    few, more, most, other = told_by_vllm("tiles_by_vllm.py", asked)
    assert few == {
        "BLOCK_SIZE_M": 16,
        "BLOCK_SIZE_N": 64,
        "BLOCK_SIZE_K": 128,
        "GROUP_SIZE_M": 8,
        "num_warps": 4,
        "num_stages": 5,
    }
    assert more == most
    assert (more["BLOCK_SIZE_M"], more["BLOCK_SIZE_K"]) == (128, 128)
    assert other == {"BLOCK_SIZE_M": 128}
