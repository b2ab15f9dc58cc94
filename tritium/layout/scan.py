"""Plan scans along an axis: runs of bits, from the shortest distance to the longest.

    leading     adjacent registers: a thread combines them sequentially
    lanes       lanes in order: each step doubles the number of preceding lanes that a lane has combined
    tail        the rest: registers, warps, lanes out of order; each of its indices is a group of the above

The total of each group is needed by all later groups. Where only registers distinguish groups, the last lane has the
totals; else they go through shared memory, in an array [other][tail] as in `reduction`.
"""

from __future__ import annotations

import functools

from ..support.dataclasses import dataclass
from .axis import Axis, Bit, others_width
from .linear import LinearLayout

__all__ = ["Scan", "plan_scan"]

_BANKS = 5  # of shared memory: 32 of 4 bytes


@dataclass(frozen=True)
class Scan:
    """The plan for tensors of the layout `source`; `width` is the number of bits of `other`."""

    source: LinearLayout
    axis: Axis
    leading: tuple[Bit, ...]
    lanes: tuple[Bit, ...]
    tail: tuple[Bit, ...]
    width: int

    @property
    def through_memory(self) -> bool:
        """Whether threads that cannot shuffle need each other's totals."""
        return any(b.source != "register" for b in self.tail)

    @property
    def crosses_blocks(self) -> bool:
        """Whether totals are in several CTAs of a cluster."""
        return any(b.source == "block" for b in self.tail)

    @property
    def tail_first(self) -> bool:
        """Whether adjacent values in memory are the totals of one element's groups (see `Reduction.rest_first`)."""
        lanes = sum(b.source == "lane" for b in self.axis.others)
        return lanes + len(self.tail) <= _BANKS

    def elements(self) -> int:
        """The size of the array, in the shared memory of one CTA; 0 if there is none."""
        return 1 << (self.width + sum(b.source != "block" for b in self.tail)) if self.through_memory else 0


@functools.lru_cache(1024)
def plan_scan(layout: LinearLayout, axis: int) -> Scan:
    """The plan for a tensor of `layout`; ValueError as for `plan_reduction`."""
    found = Axis.of(layout, axis)
    along = found.along
    i = 0
    while i < len(along) and along[i].source == "register":
        i += 1
    j = i
    while j < len(along) and along[j].source == "lane" and (j == i or along[j].bit > along[j - 1].bit):
        j += 1
    return Scan(layout, found, along[:i], along[i:j], along[j:], others_width(layout, axis))
