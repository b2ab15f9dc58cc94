"""Cost model of layout conversions and of rematerialization in another layout.

Costs are in thousandths of an SM cycle, for a whole tensor:

- Shared memory bandwidth is 128 bytes per cycle: 8 per byte. A conversion writes and reads: 16 per byte, and as much
  again for the barriers in between. No access is smaller than one warp-wide access of 32 words.
- A conversion that only renames the registers of each thread is free.
- Arithmetic: 128 results per cycle, of 4 bytes, are 2 per byte; half of it overlaps with FMAs and memory accesses: 1
  per byte. Special functions, 16 results per cycle with the same overlap: 8 per byte.
- A repeated load hits the L1 cache, which has the throughput of shared memory: 8 per byte.

Sources: CUDA C++ programming guide 13.0, table of arithmetic throughput, for capabilities 8.0 and 9.0; 128 bytes per
cycle for shared memory and L1 are from the same guide.
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
    "stays_in_cta",
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
    """The size of a tensor in bytes, with at least `least` elements of at least `least_bits` bits."""
    elements = prod(ty.shape) if isinstance(ty, TensorType) else 1
    bits = getattr(element_type(ty), "width", 64)  # pointers have no width
    return max(elements, least) * max(bits, least_bits) // 8


def conversion_cost(ty: Any, layout: Any) -> int:
    """The cost of converting a tensor of type `ty` to `layout`."""
    if stays_in_thread(ty.shape, ty.encoding, layout):
        return 0
    return CONVERSION * size_in_bytes(ty, WORDS, 32)


def more_work(ty: Any, layout: Any) -> int:
    """The ratio of elements per thread in `layout` to those in the layout of `ty`, at least 1."""
    return max(1, elements_per_thread(ty, layout) // max(1, elements_per_thread(ty, ty.encoding)))


def reduction_cost(op: Any) -> int | None:
    """The cost of computing a `tt.reduce` again; None where the results could differ.

    One per participating lane, and eight per warp for the exchange through shared memory. Sums and products of more
    than two floats depend on their order, and so on the layout.
    """
    ty = op.operands[0].type
    names = {inner.name for region in op.regions for block in region.blocks for inner in block}
    if isinstance(ty.element, FloatType) and ty.shape[op.axis] > 2 and names & {"arith.addf", "arith.mulf"}:
        return None
    return sharing(ty, op.axis, "lane") + LOAD * sharing(ty, op.axis, "warp")


def sharing(ty: Any, axis: int, name: str) -> int:
    """The number of lanes, or warps, that the elements of a row along `axis` are distributed over, at most all."""
    layout = map_or_none(ty.encoding, ty.shape)
    if layout is None:
        return ty.shape[axis]  # type: ignore[no-any-return]
    return 1 << sum(vector[axis] != 0 for vector in layout.bases[name])


def stays_in_thread(shape: tuple[int, ...], before: Any, after: Any) -> bool:
    """Whether a conversion to layout `after` moves no element between threads."""
    return _stays(shape, before, after, ("register",))


def stays_in_warp(shape: tuple[int, ...], before: Any, after: Any) -> bool:
    """Whether a conversion to layout `after` moves no element between warps."""
    return _stays(shape, before, after, ("register", "lane"))


def stays_in_cta(shape: tuple[int, ...], before: Any, after: Any) -> bool:
    """Whether a conversion to layout `after` moves no element between CTAs."""
    return _stays(shape, before, after, ("register", "lane", "warp"))


@functools.lru_cache(4096)
def _stays(shape: tuple[int, ...], before: Any, after: Any, inside: tuple[str, ...]) -> bool:
    """Whether all elements that `after` assigns to a location outside of `inside` are among those of `before` there.

    Both maps are linear: a location owns its offset plus any sum of the bases inside, so it suffices to compare the
    offsets of each bit of the location.
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
