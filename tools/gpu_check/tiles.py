"""Measures with which tiles a batch-invariant server multiplies matrices fastest, and
writes a table for serving/matmul_tiles.py.

    python -m tools.gpu_check.tiles --out tiles.json [--seconds 300]

The shapes are those of models with 8, 14 and 32 billion parameters. It needs torch and
triton alone. Each measurement is a JSON line on standard output as soon as it is made.
The table has the shapes that were finished in time, and the last line has its hash and
names the shapes that were not reached. With --device cpu, Triton's interpreter
rehearses tiny shapes. Exit codes: 0 done, 1 a wrong product, 2 bad usage, 4 there is no
triton or no GPU.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

CANNOT = 4
Tell = Callable[[Mapping[str, object]], None]


class Tiles(NamedTuple):
    """How a product is divided: rows, columns, and summands of one step; then the warps
    and pipeline stages of a program.
    """

    block_m: int
    block_n: int
    block_k: int
    warps: int
    stages: int


class Shape(NamedTuple):
    """The weight of a linear layer: n outputs and k inputs."""

    layer: str
    n: int
    k: int


@dataclass(frozen=True)
class Measured:
    """The time of one product. `same_bits` says whether its rows are those of a product
    with many rows, bit for bit.
    """

    tiles: Tiles
    rows: int
    microseconds: float
    same_bits: bool


@dataclass(frozen=True)
class Sizes:
    """What is measured. `ROWS` are the numbers of tokens that are computed at once; the
    last one stands for the reading of prompts.
    """

    shapes: Sequence[Shape]
    rows: Sequence[int]
    candidates: Sequence[Tiles]
    dtype: str


# What vLLM uses for every shape that its own table does not have, in bfloat16.
DEFAULT = Tiles(128, 128, 64, 8, 3)
GPU = Sizes(
    shapes=(
        Shape("8B o", 4096, 4096),
        Shape("8B qkv", 6144, 4096),
        Shape("Qwen3 8B down", 4096, 12288),
        Shape("Qwen3 8B gate and up", 24576, 4096),
        Shape("Llama 8B down", 4096, 14336),
        Shape("Llama 8B gate and up", 28672, 4096),
        Shape("14B o", 5120, 5120),
        Shape("14B qkv", 7168, 5120),
        Shape("14B down", 5120, 17408),
        Shape("14B gate and up", 34816, 5120),
        Shape("32B o", 5120, 8192),
        Shape("32B qkv", 10240, 5120),
        Shape("32B down", 5120, 25600),
        Shape("32B gate and up", 51200, 5120),
        Shape("Qwen3 8B head", 151936, 4096),
        Shape("Llama 8B head", 128256, 4096),
        Shape("14B and 32B head", 151936, 5120),
    ),
    rows=(1, 16, 32, 64, 256, 2048),
    # On Hopper, Triton multiplies tiles of fewer than 64 rows with other instructions,
    # which may give other bits: so there are small tiles of 64 rows, too.
    candidates=(
        DEFAULT,
        Tiles(16, 64, 128, 4, 4),
        Tiles(16, 128, 128, 4, 3),
        Tiles(16, 32, 128, 4, 5),
        Tiles(32, 64, 128, 4, 4),
        Tiles(64, 16, 128, 4, 4),
        Tiles(64, 32, 128, 4, 4),
        Tiles(64, 64, 128, 4, 4),
        Tiles(64, 128, 128, 4, 3),
        Tiles(128, 128, 128, 8, 2),
        Tiles(16, 64, 64, 4, 5),
        Tiles(16, 128, 64, 4, 5),
        Tiles(32, 128, 64, 4, 4),
        Tiles(64, 32, 64, 4, 5),
        Tiles(64, 64, 64, 4, 5),
        Tiles(64, 128, 64, 4, 4),
    ),
    dtype="bfloat16",
)
REHEARSAL = Sizes(
    shapes=(Shape("small", 64, 48), Shape("smaller", 32, 32)),
    rows=(1, 8),
    candidates=(Tiles(16, 32, 16, 1, 1), Tiles(16, 16, 16, 1, 1)),
    dtype="float32",
)
SMALL_ROWS = 64
"""Up to this many rows, small tiles are tried; for more they would only be slow."""


def worth_trying(tiles: Tiles, rows: int) -> bool:
    return rows <= SMALL_ROWS or tiles.block_m >= min(64, rows)


def chosen(measured: Sequence[Measured], rows: Sequence[int]) -> list[Measured] | None:
    """Returns the fastest tiles for each number of rows; None if one has none.

    All of a shape have the same block_k, and give the same bits: otherwise an answer
    would depend on how many others are written at the same time. Of several values of
    block_k, the one with the smallest sum of times, each relative to the best, is
    taken.
    """
    best = {
        many: min((one.microseconds for one in measured if one.rows == many), default=0)
        for many in rows
    }
    found: list[tuple[float, list[Measured]]] = []
    for block_k in sorted({one.tiles.block_k for one in measured}):
        usable = [
            one for one in measured if one.same_bits and one.tiles.block_k == block_k
        ]
        fastest = [
            min(
                (one for one in usable if one.rows == many),
                key=lambda one: one.microseconds,
                default=None,
            )
            for many in rows
        ]
        complete = [one for one in fastest if one]
        if len(complete) == len(rows):
            times = [one.microseconds / best[one.rows] for one in complete]
            found.append((sum(times), complete))
    return min(found, key=lambda pair: pair[0])[1] if found else None


def as_table(
    family: str, where: Mapping[str, str], found: Mapping[Shape, Sequence[Measured]]
) -> dict[str, Any]:
    """Returns the table of serving/matmul_tiles.py. `family` is vLLM's name of the kind
    of card; `where` says on what it was measured.
    """
    shapes = []
    for shape, fastest in found.items():
        buckets = []
        for one in fastest:
            tiles = one.tiles._asdict()
            del tiles["block_k"]
            buckets.append({"rows": one.rows, **tiles})
        block_k = fastest[0].tiles.block_k
        shapes.append({**shape._asdict(), "block_k": block_k, "buckets": buckets})
    return {"family": family, "measured_on": dict(where), "shapes": shapes}


class Bench:
    """Multiplies and takes times on a device."""

    def __init__(self, device: str, sizes: Sizes) -> None:
        import torch

        from tools.gpu_check.tile_kernel import product

        self._torch, self._product = torch, product
        self._device, self._dtype = device, getattr(torch, sizes.dtype)
        self._is_cuda = device == "cuda"
        self._programs = 2
        if self._is_cuda:
            card = torch.cuda.get_device_properties(0)
            self._programs = card.multi_processor_count

    def drawn(self, rows: int, columns: int) -> Any:
        """Returns a matrix of random numbers, the same one each time."""
        generator = self._torch.Generator(self._device).manual_seed(rows + columns)
        return self._torch.randn(
            (rows, columns),
            generator=generator,
            device=self._device,
            dtype=self._dtype,
        )

    def times(self, given: Any, weight: Any, tiles: Tiles) -> Any:
        return self._product(given, weight, tiles, self._programs)

    def plain(self, given: Any, weight: Any) -> Any:
        return self._torch.nn.functional.linear(given, weight)

    def microseconds(self, work: Callable[[], object]) -> float:
        if self._is_cuda:
            from triton.testing import do_bench

            return 1000 * float(do_bench(work, warmup=5, rep=15, return_mode="median"))
        began = time.perf_counter()
        work()
        return 1e6 * (time.perf_counter() - began)

    def is_close(self, one: Any, other: Any) -> bool:
        size = float(other.float().abs().max())
        return float((one.float() - other.float()).abs().max()) < 0.02 * size

    def equal(self, one: Any, other: Any) -> bool:
        return bool(self._torch.equal(one, other))


class WrongProduct(Exception):
    """The kernel computed something else than torch."""


def measure(
    bench: Bench, shape: Shape, sizes: Sizes, left: Callable[[], float], tell: Tell
) -> list[Measured] | None:
    """Measures one shape and tells a line for each number of rows; None if the time was
    over before the last one.
    """
    most = sizes.rows[-1]
    weight, given = bench.drawn(shape.n, shape.k), bench.drawn(most, shape.k)
    references: dict[int, Any] = {}
    found: list[Measured] = []
    for rows in sizes.rows:
        some = given[:rows]
        right = bench.plain(some, weight)
        plain = bench.microseconds(lambda some=some: bench.plain(some, weight))  # type: ignore[misc]
        here: list[Measured] = []
        for tiles in sizes.candidates:
            if not worth_trying(tiles, rows) and tiles != DEFAULT:
                continue
            if left() <= 0:
                return None
            result = bench.times(some, weight, tiles)
            if not bench.is_close(result, right):
                raise WrongProduct(f"{shape} with {rows} rows and {tiles}")
            if tiles.block_k not in references:
                largest = max(
                    (one for one in sizes.candidates if one.block_k == tiles.block_k),
                    key=lambda one: one.block_m * one.block_n,
                )
                references[tiles.block_k] = bench.times(given, weight, largest)
            same = bench.equal(result, references[tiles.block_k][:rows])
            took = bench.microseconds(
                lambda some=some, tiles=tiles: bench.times(some, weight, tiles)  # type: ignore[misc]
            )
            here.append(Measured(tiles, rows, took, same))
        tell(_line(shape, rows, plain, here))
        found += here
    return found


def _line(
    shape: Shape, rows: int, plain: float, here: Sequence[Measured]
) -> dict[str, object]:
    """Returns what is told of one number of rows; speeds are relative to torch."""
    usable = [one for one in here if one.same_bits] or list(here)
    best = min(usable, key=lambda one: one.microseconds)
    default = [one.microseconds for one in here if one.tiles == DEFAULT]
    return {
        "what": "product",
        **shape._asdict(),
        "rows": rows,
        "torch_us": round(plain, 1),
        "default_us": round(default[0], 1) if default else None,
        "best_us": round(best.microseconds, 1),
        "default_speed": round(plain / default[0], 2) if default else None,
        "best_speed": round(plain / best.microseconds, 2),
        "best": list(best.tiles),
        "other_bits": sum(not one.same_bits for one in here),
    }


def sweep(
    bench: Bench,
    sizes: Sizes,
    left: Callable[[], float],
    tell: Tell,
) -> Iterator[tuple[Shape, list[Measured]]]:
    """Yields the fastest tiles of each shape that is finished in time."""
    for shape in sizes.shapes:
        measured = measure(bench, shape, sizes, left, tell)
        if measured is None:
            return
        if fastest := chosen(measured, sizes.rows):
            yield shape, fastest


def obstacle(device: str) -> str:
    """Returns why nothing can be measured here; "" if something can."""
    for package in ("torch", "triton"):
        if not importlib.util.find_spec(package):
            return f"{package} is not installed in {sys.executable}"
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        return "torch sees no CUDA GPU"
    return ""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the table's file")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    given = parser.parse_args(arguments)
    began = time.monotonic()

    def tell(line: Mapping[str, object]) -> None:
        print(json.dumps(line), flush=True)

    if given.device == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"
    if why := obstacle(given.device):
        tell({"what": "nothing", "said": why})
        return CANNOT
    sizes = GPU if given.device == "cuda" else REHEARSAL
    family, where = _card(given.device)
    if not family:
        tell({"what": "nothing", "said": f"vLLM has no tables for {where['card']}"})
        return CANNOT
    found: dict[Shape, list[Measured]] = {}
    wrong = ""
    try:
        bench = Bench(given.device, sizes)
        for shape, fastest in sweep(
            bench, sizes, lambda: began + given.seconds - time.monotonic(), tell
        ):
            found[shape] = fastest
            _write(given.out, as_table(family, where, found))
    except WrongProduct as error:
        wrong = str(error)
    digest = hashlib.sha256(given.out.read_bytes()).hexdigest() if found else None
    tell(
        {
            "what": "table",
            "shapes": len(found),
            "not_reached": [one.layer for one in sizes.shapes if one not in found],
            "wrong": wrong,
            "sha256": digest,
            "seconds": round(time.monotonic() - began, 1),
        }
    )
    return int(bool(wrong))


def _card(device: str) -> tuple[str, dict[str, str]]:
    """Returns vLLM's name of the kind of card, and what the table was measured on."""
    import torch
    import triton

    versions = {"torch": torch.__version__, "triton": triton.__version__}
    if device == "cpu":
        return "rehearsal", {"card": "cpu", **versions}
    # As vLLM 0.32.0 divides them; it has no table for other cards.
    families = {
        (8, 9): "ada",
        (9, 0): "hopper",
        (10, 0): "blackwell",
        (10, 3): "blackwell",
        (12, 0): "sm120",
        (12, 1): "sm120",
    }
    family = families.get(torch.cuda.get_device_capability(), "")
    return family, {"card": torch.cuda.get_device_name(), **versions}


def _write(file: Path, table: Mapping[str, Any]) -> None:
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
