"""The sweep of tiles: what it chooses, what it tells, and the table that a server
reads.
"""

import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.resources import folder
from pddlego_local.models.random import make_random_llama
from pddlego_local.models.vllm.model import VllmModel
from pddlego_local.models.vllm.settings import PATCHED_VLLM, Server
from tests.models.test_vllm_settings import (
    H100,
    LAUNCH,
    plant_gpus,
    serving_environment,
    serving_module,
)
from tools.gpu_check.tiles import (
    DEFAULT,
    GPU,
    REHEARSAL,
    Bench,
    Measured,
    Shape,
    Tiles,
    WrongProduct,
    as_table,
    chosen,
    main,
    measure,
    worth_trying,
)

TABLE = serving_module("matmul_tiles")
SMALL, LARGE = Tiles(16, 64, 128, 4, 4), Tiles(128, 128, 128, 8, 2)


def measured(of: Tiles, rows: int, us: float, same_bits: bool = True) -> Measured:
    return Measured(of, rows, us, same_bits)


def test_the_fastest_tiles_are_chosen_for_each_number_of_rows() -> None:
    found = [
        measured(SMALL, 1, 10),
        measured(LARGE, 1, 40),
        measured(SMALL, 64, 90),
        measured(LARGE, 64, 50),
    ]
    best = chosen(found, [1, 64])
    assert best and [one.tiles for one in best] == [SMALL, LARGE]


def test_all_tiles_of_a_shape_add_in_the_same_steps() -> None:
    """Otherwise an answer would depend on how many rows are computed with it."""
    found = [
        measured(DEFAULT, 1, 9),  # the fastest, in steps of 64
        measured(SMALL, 1, 10),
        measured(DEFAULT, 64, 99),
        measured(LARGE, 64, 50),
    ]
    best = chosen(found, [1, 64])
    assert best and {one.tiles.block_k for one in best} == {128}


def test_tiles_with_other_bits_are_not_chosen() -> None:
    found = [
        measured(SMALL, 1, 10, same_bits=False),
        measured(LARGE, 1, 40),
    ]
    best = chosen(found, [1])
    assert best and best[0].tiles == LARGE
    assert chosen(found[:1], [1]) is None
    assert chosen(found, [1, 64]) is None


def test_vllms_own_tiles_are_always_measured() -> None:
    assert DEFAULT in GPU.candidates
    for rows in GPU.rows:
        tried = [one for one in GPU.candidates if worth_trying(one, rows)]
        assert {one.block_k for one in tried} == {64, 128}


class Clock(Bench):
    """A bench that computes nothing: each product takes a time of its tiles."""

    def __init__(self, wrong: bool = False) -> None:
        self._wrong = wrong
        self.works = 0

    def drawn(self, rows: int, columns: int) -> Any:
        return range(rows)

    def times(self, given: Any, weight: Any, of: Tiles) -> Any:
        return given

    def plain(self, given: Any, weight: Any) -> Any:
        return given

    def microseconds(self, work: Callable[[], object]) -> float:
        self.works += 1
        return float(self.works)

    def is_close(self, one: Any, other: Any) -> bool:
        return not self._wrong

    def equal(self, one: Any, other: Any) -> bool:
        return list(one) == list(other)


def test_each_number_of_rows_is_told_when_it_is_measured() -> None:
    shape, lines = REHEARSAL.shapes[0], []

    def tell(line: Any) -> None:
        lines.append((line, clock.works))

    clock = Clock()
    found = measure(clock, shape, REHEARSAL, lambda: 1, tell)
    assert found and len(found) == len(REHEARSAL.candidates) * len(REHEARSAL.rows)
    # One of torch and one of each candidate, before each line.
    assert [works for _, works in lines] == [3, 6]
    assert {line["rows"] for line, _ in lines} == set(REHEARSAL.rows)


def test_a_shape_is_given_up_when_the_time_is_over() -> None:
    left = iter([1, 1, 1, 0])
    found = measure(
        Clock(), REHEARSAL.shapes[0], REHEARSAL, lambda: next(left), lambda line: None
    )
    assert found is None


def test_a_wrong_product_stops_the_sweep() -> None:
    with pytest.raises(WrongProduct):
        measure(
            Clock(wrong=True),
            REHEARSAL.shapes[0],
            REHEARSAL,
            lambda: 1,
            lambda line: None,
        )


def test_without_triton_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name: None if name == "triton" else find(name),
    )
    assert main(["--out", str(tmp_path / "table.json")]) == 4
    line = json.loads(capsys.readouterr().out)
    assert "triton is not installed" in line["said"]
    assert not (tmp_path / "table.json").exists()


def test_a_server_reads_the_table_that_a_sweep_writes(tmp_path: Path) -> None:
    best = [measured(SMALL, 1, 10), measured(LARGE, 2048, 50)]
    table = as_table("hopper", {"card": "H100"}, {Shape("o", 4096, 4096): best})
    file = tmp_path / "tiles.json"
    file.write_text(json.dumps(table), encoding="utf-8")
    (shape,) = TABLE.read_table(file)["shapes"]
    assert (shape["n"], shape["k"], shape["block_k"]) == (4096, 4096, 128)
    assert [bucket["rows"] for bucket in shape["buckets"]] == [1, 2048]
    for spoiled in ({}, {**table, "family": ""}, {**table, "shapes": [{"n": 1}]}):
        file.write_text(json.dumps(spoiled), encoding="utf-8")
        with pytest.raises(ValueError, match="is no table"):
            TABLE.read_table(file)
    shape["buckets"].reverse()
    file.write_text(json.dumps({**table, "shapes": [shape]}), encoding="utf-8")
    with pytest.raises(ValueError, match="is no table"):
        TABLE.read_table(file)


def test_no_table_ships_and_without_one_nothing_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not list(folder("serving").glob("*.json"))
    monkeypatch.delenv(TABLE.VARIABLE, raising=False)
    TABLE.use_table()  # imports no vLLM, which is not here


def test_a_table_reaches_the_server_and_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tiles.json"
    file.write_text("{}", encoding="utf-8")
    weights = make_random_llama(tmp_path / "weights", seed=1)
    env = serving_environment(tmp_path, "vllm", f"{PATCHED_VLLM}+cu130")
    plant_gpus(tmp_path, monkeypatch, H100)

    def model(table: Path | None) -> VllmModel:
        server = Server(env=env, matmul_tiles=table)
        return VllmModel(weights=str(weights), server=server)

    assert "matmul_tiles_sha256" not in model(None).identity()
    first = model(file).identity()["matmul_tiles_sha256"]
    file.write_text("{} ", encoding="utf-8")
    assert model(file).identity()["matmul_tiles_sha256"] != first
    with pytest.raises(ConfigError, match=r"matmul_tiles: .* cannot be read"):
        model(tmp_path / "absent.json").identity()

    monkeypatch.setenv(TABLE.VARIABLE, "/from/outside")
    options = LAUNCH.parse(model(file).launch_arguments())
    environment = LAUNCH.server_environment(options)
    assert environment[TABLE.VARIABLE] == str(file)
    copied = environment["VLLM_RAY_EXTRA_ENV_VARS_TO_COPY"].split(",")
    assert {"PYTHONPATH", TABLE.VARIABLE} <= set(copied)
    options = LAUNCH.parse(model(None).launch_arguments())
    assert TABLE.VARIABLE not in LAUNCH.server_environment(options)
    assert os.environ[TABLE.VARIABLE] == "/from/outside"


@pytest.mark.parametrize(
    ("version", "settings"),
    [
        ("0.33.0", {}),
        (PATCHED_VLLM, {"batch_invariant": False}),
        (PATCHED_VLLM, {"url": "http://127.0.0.1:1/v1"}),
    ],
)
def test_a_table_that_no_server_would_use_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    settings: dict[str, Any],
) -> None:
    plant_gpus(tmp_path, monkeypatch, H100)
    env = serving_environment(tmp_path, "vllm", version)
    server = Server(env=env, matmul_tiles=tmp_path / "tiles.json", **settings)
    with pytest.raises(ConfigError, match=r"matmul_tiles: only a batch-invariant"):
        server.is_batch_invariant()
