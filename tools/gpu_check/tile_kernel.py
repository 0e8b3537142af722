"""The matrix product of a batch-invariant server, as one Triton kernel.

Its loops are those of Triton's tutorial on persistent matrix products (09), on which
vLLM's `matmul_kernel_persistent` is built: each program takes tiles of the result one
after the other, and adds the products of a tile in the same order, however many rows
there are. So what is measured here holds for vLLM's kernel.
"""

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def _place(tile, in_group, tiles_m, GROUP_M: tl.constexpr):  # type: ignore[no-untyped-def]
    group = tile // in_group
    first_m = group * GROUP_M
    rows = min(tiles_m - first_m, GROUP_M)
    return first_m + tile % rows, (tile % in_group) // rows


@triton.jit  # type: ignore[untyped-decorator]
def _kernel(  # type: ignore[no-untyped-def]
    a,
    b,
    c,
    M,
    N,
    K,
    stride_am,
    stride_bn,
    stride_cm,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * tiles_n
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        at_m, at_n = _place(tile, in_group, tiles_m, GROUP_M)
        rows = at_m * BLOCK_M + tl.arange(0, BLOCK_M)
        columns = at_n * BLOCK_N + tl.arange(0, BLOCK_N)
        from_m = tl.where(rows < M, rows, 0)
        from_n = tl.where(columns < N, columns, 0)
        # As in vLLM's kernel, so that the compiler reads memory in the same way.
        from_m = tl.max_contiguous(tl.multiple_of(from_m, BLOCK_M), BLOCK_M)
        from_n = tl.max_contiguous(tl.multiple_of(from_n, BLOCK_N), BLOCK_N)
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for step in range(tl.cdiv(K, BLOCK_K)):
            inner = step * BLOCK_K + tl.arange(0, BLOCK_K)
            left = tl.load(
                a + from_m[:, None] * stride_am + inner[None, :],
                mask=inner[None, :] < K,
                other=0.0,
            )
            right = tl.load(
                b + from_n[None, :] * stride_bn + inner[:, None],
                mask=inner[:, None] < K,
                other=0.0,
            )
            total = tl.dot(left, right, total)
        to = c + rows[:, None] * stride_cm + columns[None, :]
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        tl.store(to, total.to(c.dtype.element_ty), mask=inside)


def product(
    given: torch.Tensor, weight: torch.Tensor, tiles: Any, programs: int
) -> torch.Tensor:
    """Returns `given` (rows, k) times the transpose of `weight` (n, k), none of which
    may have 2**31 numbers or more.

    `tiles` has the fields of `tools.gpu_check.tiles.Tiles`; `programs` is the number of
    the GPU's multiprocessors.
    """
    (rows, k), n = given.shape, len(weight)
    result = torch.empty((rows, n), device=given.device, dtype=given.dtype)
    count = triton.cdiv(rows, tiles.block_m) * triton.cdiv(n, tiles.block_n)
    _kernel[(min(programs, count),)](
        given,
        weight,
        result,
        rows,
        n,
        k,
        given.stride(0),
        weight.stride(0),
        result.stride(0),
        BLOCK_M=tiles.block_m,
        BLOCK_N=tiles.block_n,
        BLOCK_K=tiles.block_k,
        GROUP_M=8,
        PROGRAMS=programs,
        num_warps=tiles.warps,
        num_stages=tiles.stages,
    )
    return result
