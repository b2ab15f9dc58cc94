"""Plan gathers along an axis: by shuffles within a warp, or through shared memory.

A thread needs the element whose coordinate along the axis is an index that it computes, and whose other coordinates are
those of its result. If a warp owns the whole row, the lane and register of the element are linear in the bits of the
index and of the lane (and of the result's register, which is a constant). A shuffle can read a computed lane; every
register that may hold the element is shuffled, and the result selected:

    lane, register  =  A index ^ B lane ^ C register
"""

from __future__ import annotations

import functools

from ..support.dataclasses import dataclass
from . import gf2
from .axis import others_numbers
from .linear import LinearLayout

__all__ = ["Gathering", "index_blocks", "index_numbers", "plan_gathering"]


@dataclass(frozen=True)
class Gathering:
    """The plan. `found` maps "index", "lane" and "register" of the result to "lane" and "register" of the source.

    It is None where elements go through shared memory.
    """

    found: LinearLayout | None
    elements: int

    def candidates(self) -> list[int]:
        """The registers selected by index and lane, as differences from the one selected by the result's register."""
        assert self.found is not None
        columns = [self.found.basis(name, i)["register"] for name in ("index", "lane") for i in self._bits(name)]
        out = {0}
        for c in columns:
            out |= {c ^ n for n in out}
        return sorted(out)

    def _bits(self, name: str) -> range:
        assert self.found is not None
        return range(self.found.ins[name].bit_length() - 1)


_CANDIDATES = 4


@functools.lru_cache(256)
def plan_gathering(source: LinearLayout, result: LinearLayout, axis: int) -> Gathering:
    """The plan for elements of `source` and indices of the layout `result`.

    Shuffles are used where an element is in one of a few registers: random reads of 32 lanes have three or four bank
    conflicts, and take as long as that many shuffles.
    """
    blocks = sum(any(v) for v in source.bases.get("block", ()))
    memory = Gathering(None, source.out_size() >> blocks)
    found = _in_warp(source, result, axis)
    if found is None:
        return memory
    plan = Gathering(found, 0)
    return plan if len(plan.candidates()) <= _CANDIDATES else memory


def _in_warp(source: LinearLayout, result: LinearLayout, axis: int) -> LinearLayout | None:
    """The location of elements in a warp; None where some are in another one."""
    outs = source.outs
    theirs, mine = source.bases, _without(result, axis).bases
    for kind in ("warp", "block"):
        if [tuple(v) for v in theirs.get(kind, ())] != [tuple(v) for v in mine.get(kind, ())]:
            return None
    inside = source.sublayout(["register", "lane"])
    elimination = gf2.Elimination(inside.columns)
    wanted = LinearLayout({"index": _units(source, axis), "lane": mine["lane"], "register": mine["register"]}, outs)
    columns = [elimination.solve(c) for c in wanted.columns]
    if any(c is None for c in columns):
        return None
    registers = inside.ins["register"].bit_length() - 1
    pairs = iter((c & (1 << registers) - 1, c >> registers) for c in columns if c is not None)
    bases = {kind: [next(pairs) for _ in vectors] for kind, vectors in wanted.bases.items()}
    return LinearLayout(bases, {"register": inside.ins["register"], "lane": inside.ins["lane"]})


def _without(layout: LinearLayout, axis: int) -> LinearLayout:
    """The layout with all coordinates along an axis zero."""
    bases = {
        kind: [tuple(0 if d == axis else n for d, n in enumerate(v)) for v in vectors]
        for kind, vectors in layout.bases.items()
    }
    return LinearLayout(bases, layout.outs)


def _units(layout: LinearLayout, axis: int) -> list[tuple[int, ...]]:
    """The bases of the axis itself."""
    sizes = list(layout.outs.values())
    return [tuple((1 << i) * (d == axis) for d in range(len(sizes))) for i in range(sizes[axis].bit_length() - 1)]


def index_numbers(source: LinearLayout, result: LinearLayout, axis: int) -> LinearLayout:
    """From "register", "lane", … of the result and the "index" to the number of the requested element.

    Numbers are those of `others_numbers(source)`: of elements within the CTA that owns them.
    """
    bases = _without(result, axis).bases
    bases["block"] = source.bases.get("block", [])
    return others_numbers(LinearLayout({**bases, "index": _units(source, axis)}, source.outs))


def index_blocks(source: LinearLayout, result: LinearLayout, axis: int) -> dict[int, int]:
    """Bits of the rank of the CTA that owns an element: for each the bit of the index that it is.

    The other bits are those of the CTA that requests it. ValueError where they belong to other elements.
    """
    out = {}
    theirs, mine = source.bases.get("block", []), _without(result, axis).bases.get("block", [])
    for bit, (vector, own) in enumerate(zip(theirs, mine)):
        if vector[axis]:
            out[bit] = vector[axis].bit_length() - 1
        elif tuple(vector) != tuple(own):
            raise ValueError("source and result are distributed differently over the CTAs of a cluster")
    return out
