"""Random named layouts: each with Triton's description of it, a shape, and our layout."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from tritium.layout import LinearLayout
from tritium.layout.amd import dot_operand_mfma, dot_operand_wmma, mfma, wmma
from tritium.layout.distributed import blocked, dot_operand_fma, dot_operand_mma, mma, slice_of
from tritium.layout.shared import nvmma_shared, swizzled_shared

__all__ = ["KINDS", "Named", "of_kind"]


class Named(NamedTuple):
    """`make()` is our layout; `description` and `shape` are what `TritonOracle.layout` takes."""

    description: list[Any]
    shape: list[int]
    make: Any

    def ours(self) -> LinearLayout:
        layout: LinearLayout = self.make(self.shape)
        return layout


def power(rng: random.Random, low: int, high: int) -> int:
    return 1 << rng.randint(low, high)


def spread(rng: random.Random, bits: int, rank: int) -> list[int]:
    """2 ** bits as a product of `rank` factors."""
    out = [1] * rank
    for _ in range(bits):
        out[rng.randrange(rank)] *= 2
    return out


def cluster(rng: random.Random, rank: int) -> list[list[int]]:
    first, last = [1] + [0] * (rank - 1), [0] * (rank - 1) + [1]
    return rng.choice([[], [], [], [first], [last], [[0] * rank], [first, [2 * c for c in first]]])


def without(vectors: Sequence[Sequence[int]], dim: int) -> list[list[int]]:
    return [[0 if i == dim else c for i, c in enumerate(v)] for v in vectors]


def _blocked(rng: random.Random, rank: int) -> list[Any]:
    order = rng.sample(range(rank), rank)
    sizes = [spread(rng, rng.randint(0, 4), rank), spread(rng, 5, rank), spread(rng, rng.randint(0, 3), rank)]
    return [*sizes, order, cluster(rng, rank)]


def random_blocked(rng: random.Random) -> Named:
    rank = rng.randint(1, 3)
    a = _blocked(rng, rank)
    return Named(["BlockedLayout", *a], [power(rng, 0, 7) for _ in range(rank)], lambda shape: blocked(shape, *a))


def random_slice(rng: random.Random) -> Named:
    rank = rng.randint(2, 3)
    a, dim = _blocked(rng, rank), rng.randrange(rank)
    shape = [power(rng, 0, 7) for _ in range(rank - 1)]
    description = ["SliceLayout", dim, ["BlockedLayout", *a]]
    return Named(description, shape, lambda shape: slice_of(shape, dim, lambda whole: blocked(whole, *a)))


def random_dot_fma(rng: random.Random) -> Named:
    rank, operand = rng.randint(2, 3), rng.randint(0, 1)
    a = _blocked(rng, rank)
    a[4] = without(a[4], rank - 1 if operand == 0 else rank - 2)
    shape = [power(rng, 0, 7) for _ in range(rank)]
    description = ["DotOperandLayout", operand, ["BlockedLayout", *a], 0]
    return Named(description, shape, lambda shape: dot_operand_fma(shape, operand, *a))


def _mma(rng: random.Random, instr: list[int]) -> tuple[list[Any], list[int]]:
    rank = rng.choice([2, 2, 3])
    shape = [power(rng, 3, 7) for _ in range(2)]
    a = [spread(rng, rng.randint(0, 3), rank), [1] * (rank - 2) + instr, cluster(rng, rank)]
    return a, [power(rng, 0, 3)] * (rank - 2) + shape


def random_mma(rng: random.Random) -> Named:
    (warps, instr, blocks), shape = _mma(rng, [16, 8])
    description = ["NVMMADistributedLayout", [2, 0], warps, instr, blocks]
    return Named(description, shape, lambda shape: mma(shape, 2, warps, instr, blocks))


def random_dot_mma(rng: random.Random, f64: bool = False) -> Named:
    (warps, instr, blocks), shape = _mma(rng, [8, 8] if f64 else [16, 8])
    operand, width = rng.randint(0, 1), 1 if f64 else power(rng, 0, 3)
    k = len(shape) - 1 if operand == 0 else len(shape) - 2
    description = ["DotOperandLayout", operand, ["NVMMADistributedLayout", [2, 0], warps, instr, blocks], width]
    b = without(blocks, k)
    return Named(description, shape, lambda shape: dot_operand_mma(shape, operand, width, 2, warps, instr, b))


def random_dot_f64(rng: random.Random) -> Named:
    return random_dot_mma(rng, f64=True)


def _wgmma(rng: random.Random) -> tuple[list[Any], list[int]]:
    instr = [16, power(rng, 3, 8), power(rng, 3, 5)]
    return [[4 * power(rng, 0, 1), power(rng, 0, 1)], instr, cluster(rng, 2)], [power(rng, 5, 8), power(rng, 3, 8)]


def random_wgmma(rng: random.Random) -> Named:
    a, shape = _wgmma(rng)
    return Named(["NVMMADistributedLayout", [3, 0], *a], shape, lambda shape: mma(shape, 3, *a))


def random_dot_wgmma(rng: random.Random) -> Named:
    (warps, instr, blocks), shape = _wgmma(rng)
    width, b = power(rng, 0, 2), without(blocks, 1)
    description = ["DotOperandLayout", 0, ["NVMMADistributedLayout", [3, 0], warps, instr, blocks], width]
    return Named(description, shape, lambda shape: dot_operand_mma(shape, 0, width, 3, warps, instr, b))


def _mfma(rng: random.Random) -> tuple[list[Any], list[int]]:
    """[version, M x N x K, transposed, warps, bits, tiles per warp, CTA bases] of AMDMFMALayout, and a shape.

    GPUs with MFMA have no clusters.
    """
    rank, bits = rng.choice([2, 2, 3]), 32
    instr = rng.choice([[32, 32, 8], [16, 16, 16], [4, 64, 4], [64, 4, 4]])
    if rng.random() < 0.1:
        instr, bits = [16, 16, 4], 64
    tiles = [1] * (rank - 2) + [power(rng, 0, 1), power(rng, 0, 1)]
    warps = spread(rng, rng.randint(0, 3), rank)
    transposed = instr[0] == 64 or rng.random() < 0.5  # Triton has no map of results of 64 x 4 that are not
    shape = [power(rng, 0, 3)] * (rank - 2) + [power(rng, 2, 8), power(rng, 2, 8)]
    return [rng.randint(1, 4), instr, transposed, warps, bits, tiles, []], shape


def random_mfma(rng: random.Random) -> Named:
    a, shape = _mfma(rng)
    _, instr, transposed, warps, bits, tiles, blocks = a
    description = ["AMDMFMALayout", *a]
    return Named(description, shape, lambda shape: mfma(shape, warps, instr, transposed, tiles, bits, blocks))


def random_dot_mfma(rng: random.Random) -> Named:
    a, shape = _mfma(rng)
    _, instr, _, warps, _, tiles, blocks = a
    operand, width = rng.randint(0, 1), power(rng, 0, 4)
    b = without(blocks, len(shape) - 1 if operand == 0 else len(shape) - 2)
    description = ["DotOperandLayout", operand, ["AMDMFMALayout", *a], width]
    return Named(description, shape, lambda shape: dot_operand_mfma(shape, operand, width, warps, instr, tiles, b))


WMMA_SHAPES = {
    1: [[16, 16, 16]],
    2: [[16, 16, 16], [16, 16, 32]],
    3: [[16, 16, 4], [16, 16, 32], [16, 16, 64], [16, 16, 128], [32, 16, 64], [32, 16, 128]],
}


def _wmma(rng: random.Random) -> tuple[list[Any], list[int]]:
    """[version, transposed, warp bases, register bases, M x N x K, CTA bases, rank], and a shape."""
    rank, version = rng.choice([2, 2, 3]), rng.randint(1, 3)
    tiles = [v for d, n in enumerate(spread(rng, rng.randint(0, 4), rank)) for v in _along(d, n, rank)]
    rng.shuffle(tiles)
    registers = rng.randint(0, min(2, len(tiles)))
    warps = tiles[registers:] + [[0] * rank] * rng.choice([0, 0, 1])
    shape = [power(rng, 0, 3)] * (rank - 2) + [power(rng, 2, 8), power(rng, 2, 8)]
    instr = rng.choice(WMMA_SHAPES[version])
    return [version, rng.random() < 0.5, warps, tiles[:registers], instr, cluster(rng, rank), rank], shape


def _along(dim: int, size: int, rank: int) -> list[list[int]]:
    return [[1 << i if d == dim else 0 for d in range(rank)] for i in range(size.bit_length() - 1)]


def random_wmma(rng: random.Random) -> Named:
    a, shape = _wmma(rng)
    version, transposed, warps, registers, instr, blocks, _ = a
    tiles = registers, warps
    description = ["AMDWMMALayout", *a]
    return Named(description, shape, lambda shape: wmma(shape, version, tiles, instr, transposed, blocks))


def random_dot_wmma(rng: random.Random) -> Named:
    a, shape = _wmma(rng)
    version, transposed, warps, registers, instr, blocks, _ = a
    tiles, operand = (registers, warps), rng.randint(0, 1)
    width = rng.choice({1: [8, 16], 2: [4, 8, 16], 3: [2, 4, 8, 16]}[version])
    b = without(blocks, len(shape) - 1 if operand == 0 else len(shape) - 2)
    description = ["DotOperandLayout", operand, ["AMDWMMALayout", *a], width]
    return Named(
        description, shape, lambda shape: dot_operand_wmma(shape, operand, width, version, tiles, instr, transposed, b)
    )


def random_swizzled(rng: random.Random) -> Named:
    rank = rng.randint(1, 3)
    blocks = cluster(rng, rank)
    a = [power(rng, 0, 3), power(rng, 0, 2), power(rng, 0, 3), rng.sample(range(rank), rank), blocks]
    shape = [power(rng, 2, 7) for _ in range(rank)]
    return Named(["SwizzledSharedLayout", *a], shape, lambda shape: swizzled_shared(shape, *a))


def random_nvmma(rng: random.Random) -> Named:
    rank, swizzle, bits = rng.choice([2, 2, 3]), rng.choice([0, 32, 64, 128]), power(rng, 3, 5)
    # Without swizzling, what Triton 3.9 makes of transposed tensors of more dimensions sends many offsets to 0.
    transposed = rng.random() < 0.4 and (rank == 2 or swizzle > 0)
    fp4 = bits == 8 and swizzle == 128 and rank == 2 and rng.random() < 0.5
    shape = [power(rng, 3, 9) for _ in range(rank)]
    if rank == 3:
        box = [(5, 8), (2, 4), (3, 6)] if transposed else [(0, 4), (3, 7), (5, 8)]
        shape = [power(rng, low, high) for low, high in box]
    blocks = cluster(rng, rank)
    description = ["NVMMASharedLayout", swizzle, bits, rank, transposed, fp4, blocks]
    return Named(description, shape, lambda shape: nvmma_shared(shape, swizzle, bits, transposed, fp4, blocks))


KINDS = {
    "blocked": random_blocked,
    "slice": random_slice,
    "dot operand, fma": random_dot_fma,
    "mma": random_mma,
    "dot operand, mma": random_dot_mma,
    "dot operand, f64": random_dot_f64,
    "wgmma": random_wgmma,
    "dot operand, wgmma": random_dot_wgmma,
    "swizzled": random_swizzled,
    "nvmma": random_nvmma,
    "mfma": random_mfma,
    "dot operand, mfma": random_dot_mfma,
    "wmma": random_wmma,
    "dot operand, wmma": random_dot_wmma,
}


def of_kind(kind: str, rng: random.Random) -> Named:
    """A random layout of a kind that its constructor accepts."""
    while True:
        named = KINDS[kind](rng)
        try:
            named.ours()
        except ValueError:
            continue  # a tensor too small to be swizzled
        return named
