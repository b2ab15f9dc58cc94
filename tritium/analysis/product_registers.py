"""How many warps a program needs so that what its products give has room in registers.

    for … {                                        with four warps, of 128 threads:
      %s  = tt.dot %k, %q   : tensor<128x32xf32>      32 registers a thread
      %t  = tt.dot %v, %u   : tensor<128x32xf32>      32
      %x' = tt.dot %p, %u, %x : tensor<128x128xf32>  128
      %y' = tt.dot %d, %q, %y : tensor<128x128xf32>  128: 320, where a thread can have 255
    }

Tensor cores add to registers, and a loop's sums stay there from iteration to iteration: where those of all products of
a loop are more than a thread can have, each iteration goes through memory, and `wgmma` waits for each instruction. With
twice as many warps each has half as much. Attention's gradients above (d128) run at a fifth of what they do with eight.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ..dialects import arith
from ..dialects.tt_types import KNOWS_WARPS
from ..ir import LOOP, BlockArgument, Operation, Value

__all__ = ["CROWDED", "FEW_LEFT", "crowded_loop", "enough_warps", "leaves_few", "most_results"]

ROOM = 224
"""Registers of a thread for results of products: 255, less addresses, descriptors and what softmax needs. Products of
attention that take 192 have no spills, those with 256 have 120 to 250 (H200, November 2026)."""

FEW_LEFT = 160
"""Registers of a thread for results of products above which the others are few: attention's gradients of 192 spill for
8 addresses of shared memory (06-fused-attention on sm_80), products of 128 have 55 to 70 registers left."""

CROWDED = "tritium.crowded"
"""The attribute of a loop in front of which nothing is to be computed for what stands behind it."""

MOST = 16
"""Warps up to which this is done: then there are 128 registers for each thread."""


def crowded_loop(module: Operation, warps: int) -> tuple[Operation, int] | None:
    """The loop whose products leave most in the registers of a thread, and how many that are, if they have no room."""
    worst = max(_by_loop(module, warps), key=lambda row: row[1], default=None)
    return worst if worst is not None and worst[1] > ROOM else None


def most_results(module: Operation, warps: int) -> int:
    """The most registers of a thread that a loop's products leave results in; those of `tt` alone, which are computed
    from registers in the `ttgir` of NVIDIA GPUs."""
    return max((registers for _, registers in _by_loop(module, warps)), default=0)


def leaves_few(loop: Operation, warps: int) -> bool:
    """Whether the products of a loop, by one warp or by four, leave few registers of a thread to anything else."""
    return _held(loop, (*_PRODUCTS, "ttng.warp_group_dot")) // (32 * warps) > FEW_LEFT


def _by_loop(module: Operation, warps: int) -> list[tuple[Operation, int]]:
    return [(loop, _held(loop) // (32 * warps)) for loop in module.walk() if loop.traits & LOOP]


def enough_warps(module: Operation, warps: int) -> int:
    """As many warps as asked for; or, where loops are crowded with these, the least multiple with which none is.

    A warp has 16 rows of a product, so that there must be rows for all of them. A program that has asked for the
    number of its warps gets that.
    """
    if KNOWS_WARPS in module.attributes:
        return warps
    more = warps
    while (crowded := crowded_loop(module, more)) is not None:
        more *= 2
        if more > MOST or any(dot.d.type.shape[-2] < 16 * more for dot in _products(crowded[0])):
            return warps
    return more


_PRODUCTS = ("tt.dot", "tt.dot_scaled")


def _products(loop: Operation, kinds: tuple[str, ...] = _PRODUCTS) -> list[Any]:
    """The products of a loop's own blocks."""
    blocks = [block for region in loop.regions for block in region.blocks]
    return [op for block in blocks for op in block if op.name in kinds]


def _held(loop: Operation, kinds: tuple[str, ...] = _PRODUCTS) -> int:
    """32-bit elements of all results of a loop's products; one that only begins another counts with that, one that is
    added to a sum of the loop's (8-bit floats, whose products are not begun with sums) counts with the sum."""
    dots = _products(loop, kinds)
    begun = {dot.c for dot in dots}
    held = [dot.d for dot in dots if dot.d not in begun]
    held += [carried for product in held for carried in _sums_beside(product)]
    return sum(prod(value.type.shape) * value.type.element.width // 32 for value in held)


def _sums_beside(product: Value) -> list[Value]:
    """The values that a loop carries and adds a product to: both are in registers at that moment."""
    additions = [op for op in product.users if op.__class__ is arith.AddF]
    return [v for op in additions for v in op.operands if v is not product and isinstance(v, BlockArgument)]
