"""Chains of dots in a region, queried while the dots are being replaced.

Two dots are chained if a path of def-use edges connects them inside their region, without transposes, which move data
anyway. The paths are computed once for all dots of a region: replacing a dot keeps them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ....dialects import tt
from ....dialects.ttg_layouts import NvidiaMma
from ....ir import Operation, Region, is_tensor_dot
from ....ir.union_find import UnionFind

__all__ = ["Chains"]


class Chains:
    """The chains of all regions queried."""

    def __init__(self) -> None:
        self.regions: dict[Region | None, _Region] = {}

    def of(self, dot: Any) -> _Region:
        """The chains of the region that contains a dot."""
        region = dot.parent.parent if dot.parent is not None else None
        found = self.regions.get(region)
        if found is None:
            found = self.regions[region] = _Region(region)
        return found


class _Region:
    """The chains of one region: each is represented by one of its operations, a dot's `kind` by chain and rank."""

    def __init__(self, region: Region | None) -> None:
        self.inside = dict.fromkeys(op for block in (region.blocks if region is not None else ()) for op in block)
        self.chains: UnionFind[Operation] = UnionFind()
        for op in self.inside:
            self._tie(op)
        self.places: dict[Operation, int] = {}
        self.kinds: dict[Operation, tuple[Operation, int]] = {}
        self.counts: Counter[tuple[Operation, int]] = Counter()
        self.first: dict[tuple[Operation, int], tuple[int, Any]] = {}  # the first with an MMA layout, and the layout
        for op in [op for op in self.inside if is_tensor_dot(op)]:
            self._add(op, len(self.places), (self.chains.find(op), op.results[0].type.rank))

    def _tie(self, op: Operation) -> None:
        if op.__class__ is tt.Trans:
            return
        for value in op.operands:
            maker = value.defining_op
            if maker is not None and maker in self.inside and maker.__class__ is not tt.Trans:
                self.chains.union(maker, op)

    def _add(self, op: Operation, place: int, kind: tuple[Operation, int]) -> None:
        self.places[op], self.kinds[op] = place, kind
        self.counts[kind] += 1
        layout = op.results[0].type.encoding
        if isinstance(layout, NvidiaMma) and (kind not in self.first or place < self.first[kind][0]):
            self.first[kind] = place, layout

    def others(self, dot: Operation) -> tuple[bool, NvidiaMma | None]:
        """Whether the chain has other dots of the same rank; and the layout of the first with an MMA layout."""
        kind = self.kinds[dot]
        place, layout = self.first.get(kind, (-1, None))
        assert place != self.places[dot], "a dot is queried before it has a layout"
        return self.counts[kind] > 1, layout

    def replace(self, dot: Operation, new: Operation) -> None:
        """Replace a dot by another, which may be of a kind that is not counted."""
        place, kind = self.places.pop(dot), self.kinds.pop(dot)
        self.counts[kind] -= 1
        if is_tensor_dot(new):
            self._add(new, place, kind)
