"""What a conversion between layouts costs, and what it costs to compute a value again in another layout instead.

Costs are thousandths of a cycle of one multiprocessor, for a whole tensor:

- Shared memory takes in or gives out 128 bytes a cycle: 8 a byte. A conversion writes and reads: 16 a byte, and as
  much again for waiting at the barriers between. No access is smaller than what a warp does at once, 32 words.
- A conversion that only renames the registers of each thread is free.
- Arithmetic: 128 results a cycle, of 4 bytes, would be 2 a byte; half of it hides in fused multiplications and behind
  memory: 1 a byte. Special functions, 16 results a cycle and partly hidden by the same count: 8 a byte.
- A load that is repeated finds its line in the first cache, whose throughput is that of shared memory: 8 a byte.

Sources: CUDA C++ programming guide 13.0, table of arithmetic throughput, for capabilities 8.0 and 9.0; 128 bytes a
cycle of shared memory and first cache are from the same guide.
"""

from __future__ import annotations

import functools
from math import prod
from typing import Any

from ....dialects.ttg_maps import map_or_none
from ....ir import FloatType, TensorType, element_type
from ....layout.gf2 import Elimination
from ...layout_flow import elements_per_thread

__all__ = [
    "ARITHMETIC",
    "LOAD",
    "SLOW",
    "SPECIAL",
    "conversion_cost",
    "more_work",
    "reduction_cost",
    "sharing",
    "size_in_bytes",
    "stays_in_block",
    "stays_in_thread",
    "stays_in_warp",
]

SLOW = {
    "arith.divf",
    *(
        f"math.{name}"
        for name in [
            "exp",
            "exp2",
            "expm1",
            "log",
            "log2",
            "log10",
            "log1p",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
            "atan2",
            "powf",
            "sqrt",
            "rsqrt",
            "cbrt",
            "erf",
            "erfc",
            "ctpop",
            "ctlz",
            "cttz",
        ]
    ),
}
"""Operations of special function units, or of several instructions."""

CONVERSION = 32
LOAD = 8
SPECIAL = 8
ARITHMETIC = 1
WORDS = 32


def size_in_bytes(ty: Any, least: int = 0, least_bits: int = 0) -> int:
    """Bytes of a tensor, counted as having at least so many elements of at least so many bits."""
    elements = prod(ty.shape) if isinstance(ty, TensorType) else 1
    bits = getattr(element_type(ty), "width", 64)  # pointers have none
    return max(elements, least) * max(bits, least_bits) // 8


def conversion_cost(ty: Any, layout: Any) -> int:
    """Of bringing a tensor of type `ty` into `layout`."""
    if stays_in_thread(ty.shape, ty.encoding, layout):
        return 0
    return CONVERSION * size_in_bytes(ty, WORDS, 32)


def more_work(ty: Any, layout: Any) -> int:
    """How many times as many elements a thread has in `layout` as in the layout that the tensor has; at least once."""
    return max(1, elements_per_thread(ty, layout) // max(1, elements_per_thread(ty, ty.encoding)))


def reduction_cost(op: Any) -> int | None:
    """Of a `tt.reduce` that is computed a second time; None where both results could differ.

    One for each thread of a warp that takes part, eight for each warp, which go through shared memory. Sums and
    products of more than two floats depend on their order, and with that on the layout.
    """
    ty = op.operands[0].type
    names = {inner.name for region in op.regions for block in region.blocks for inner in block}
    if isinstance(ty.element, FloatType) and ty.shape[op.axis] > 2 and names & {"arith.addf", "arith.mulf"}:
        return None
    return sharing(ty, op.axis, "lane") + LOAD * sharing(ty, op.axis, "warp")


def sharing(ty: Any, axis: int, name: str) -> int:
    """Among how many lanes, or warps, the elements of a row along `axis` are divided; at most so many as there are."""
    layout = map_or_none(ty.encoding, ty.shape)
    if layout is None:
        return ty.shape[axis]  # type: ignore[no-any-return]
    return 1 << sum(vector[axis] != 0 for vector in layout.bases[name])


def stays_in_thread(shape: tuple[int, ...], before: Any, after: Any) -> bool:
    """Whether each thread has everything already that it needs for the layout `after`."""
    return _stays(shape, before, after, ("register",))


def stays_in_warp(shape: tuple[int, ...], before: Any, after: Any) -> bool:
    """Whether each warp has everything already that it needs for the layout `after`."""
    return _stays(shape, before, after, ("register", "lane"))


def stays_in_block(shape: tuple[int, ...], before: Any, after: Any) -> bool:
    """Whether each block of a cluster has everything already that it needs for the layout `after`."""
    return _stays(shape, before, after, ("register", "lane", "warp"))


@functools.lru_cache(4096)
def _stays(shape: tuple[int, ...], before: Any, after: Any, inside: tuple[str, ...]) -> bool:
    """Whether for every place outside of `inside`, what `after` wants there is among what `before` has there.

    Both maps are linear: what a place has is its offset and any sum of the bases inside, so it is enough to compare
    the offsets of each bit of the place.
    """
    if before is after:
        return True
    old, new = map_or_none(before, shape), map_or_none(after, shape)
    if old is None or new is None:
        return False
    reached = Elimination([c for name in inside for c in old.columns_of(name)])
    wanted = [c for name in inside for c in new.columns_of(name)]
    for name in new.ins:
        if name not in inside:
            wanted += [a ^ b for a, b in zip(old.columns_of(name), new.columns_of(name))]
            if old.ins[name] != new.ins[name]:
                return False
    return all(reached.solve(c) is not None for c in wanted)
