"""Plan reductions: which bits are combined in registers, across lanes, or through shared memory.

    registers   a thread combines its own elements
    lanes       lanes that differ in one bit exchange their values, and both combine them
    memory      the rest goes through shared memory, an array of partial results [other][rest]:
                `other` indexes the elements of the result, `rest` the partial results of one

Where elements may be reordered, all registers come first, then the lanes, from the highest bit down, then warps (and
CTAs). Where they must not be, bits are taken in the order of their distances along the axis, as far as they are
registers and lanes: so each step combines neighbors, the earlier one on the left.

All threads that hold an element of the result must have the same bits. After exchanges between lanes they do, for a
function f with f(a, b) = f(b, a) to the bit; for other functions the lane whose exchanged bits are zero is
authoritative, and the others take its result. Data read from memory is the same for all, and combined in the same
order.
"""

from __future__ import annotations

import functools

from ..support.dataclasses import dataclass
from .axis import Axis, Bit, others_numbers, others_width
from .linear import LinearLayout

__all__ = ["Reduction", "placed", "plan_reduction"]

_BANKS = 5  # of shared memory: 32 of 4 bytes


@dataclass(frozen=True)
class Reduction:
    """The plan for tensors of the layout `source`.

    `steps` are combined in this order, `rest` are the remaining bits along the axis; `through_memory` says whether
    partial results go through shared memory. `width` is the number of bits of `other`.
    """

    source: LinearLayout
    axis: Axis
    steps: tuple[Bit, ...]
    rest: tuple[Bit, ...]
    through_memory: bool
    width: int

    @property
    def crosses_blocks(self) -> bool:
        """Whether partial results of an element are in several CTAs of a cluster."""
        return any(b.source == "block" for b in self.rest)

    @property
    def rest_first(self) -> bool:
        """Whether adjacent values in memory are partial results of one element, which one access then reads.

        Else they are those of adjacent elements, to avoid bank conflicts between the writing lanes.
        """
        lanes = sum(b.source == "lane" for b in self.axis.others)
        return lanes + len(self.rest) <= _BANKS

    def elements(self) -> int:
        """The size of the array, in the shared memory of one CTA; 0 if there is none."""
        return 1 << (self.width + sum(b.source != "block" for b in self.rest)) if self.through_memory else 0


@functools.lru_cache(1024)
def plan_reduction(layout: LinearLayout, axis: int, result: LinearLayout | None, ordered: bool) -> Reduction:
    """The plan for a tensor of `layout` reduced along `axis` to one of the layout `result` (None: a scalar).

    ValueError where a bit moves along several dimensions, or the part of a CTA is not a box.
    """
    found = Axis.of(layout, axis)
    steps = _in_order(found) if ordered else _registers_first(found)
    rest = tuple(b for b in found.along if b not in steps)
    direct = not rest and (result is None or _same_threads(layout, axis, result))
    return Reduction(layout, found, steps, rest, not direct, others_width(layout, axis))


def _registers_first(axis: Axis) -> tuple[Bit, ...]:
    registers = [b for b in axis.along if b.source == "register"]
    lanes = sorted((b for b in axis.along if b.source == "lane"), key=lambda b: -b.bit)
    return (*registers, *lanes)


def _in_order(axis: Axis) -> tuple[Bit, ...]:
    count = next((i for i, b in enumerate(axis.along) if b.source not in ("register", "lane")), len(axis.along))
    return axis.along[:count]


def _same_threads(layout: LinearLayout, axis: int, result: LinearLayout) -> bool:
    """Whether each thread holds the elements of the result whose rows it held."""
    kept = [name for d, name in enumerate(layout.outs) if d != axis]
    threads = [name for name in layout.ins if name != "register"]
    left = [[tuple(v[:axis] + v[axis + 1 :]) for v in layout.bases[name]] for name in threads]
    right = [[tuple(v) for v in result.bases.get(name, [])] for name in threads]
    return left == right and len(kept) == len(result.outs)


@functools.lru_cache(1024)
def placed(layout: LinearLayout, axis: int | None, rest: tuple[Bit, ...], rest_first: bool) -> LinearLayout:
    """From holders of `layout` to the "index" in the array of partial results; bits of CTAs are 0 there."""
    numbers = others_numbers(layout, axis)
    width = numbers.out_size().bit_length() - 1
    own = [b for b in rest if b.source != "block"]
    low = len(own) if rest_first else 0
    at = {(b.source, b.bit): 1 << (i + (0 if rest_first else width)) for i, b in enumerate(own)}
    bases = {
        name: [((c << low) | at.get((name, i), 0),) for i, c in enumerate(numbers.columns_of(name))]
        for name in numbers.ins
    }
    return LinearLayout(bases, {"index": 1 << (width + len(own))})
