"""How threads find elements by an index along an axis: in the registers of their own warp, or through shared memory.

A thread wants the element whose coordinate along the axis is an index that it computes, and whose other coordinates are
those of where the result goes. If the whole row lies in the thread's warp, the lane and register that have it are
linear in the bits of the index and of the lane (and of the result's register, which is known). The lane a shuffle can
follow; of registers each that might have it is asked, and one answer chosen:

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
    """The plan. `found` goes from "index", "lane" and "register" of the result to "lane" and "register" of the source.

    It is None where elements go through shared memory.
    """

    found: LinearLayout | None
    elements: int

    def candidates(self) -> list[int]:
        """The registers among which index and lane choose, as differences from what the result's register says."""
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

    Shuffles are taken where an element is in one of a few registers: of a read from memory at random, 32 lanes meet
    three or four times in one of the 32 banks, so that it takes as long as so many shuffles.
    """
    blocks = sum(any(v) for v in source.bases.get("block", ()))
    memory = Gathering(None, source.out_size() >> blocks)
    found = _in_warp(source, result, axis)
    if found is None:
        return memory
    plan = Gathering(found, 0)
    return plan if len(plan.candidates()) <= _CANDIDATES else memory


def _in_warp(source: LinearLayout, result: LinearLayout, axis: int) -> LinearLayout | None:
    """Where in a warp elements are; None where some are in another one."""
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
    """From "register", "lane", … of the result and the "index" to the number of the element that is wanted.

    Numbers are those of `others_numbers(source)`: of elements within the block that has them.
    """
    bases = _without(result, axis).bases
    bases["block"] = source.bases.get("block", [])
    return others_numbers(LinearLayout({**bases, "index": _units(source, axis)}, source.outs))


def index_blocks(source: LinearLayout, result: LinearLayout, axis: int) -> dict[int, int]:
    """Bits of the number of the block that has an element: for each the bit of the index that it is.

    The other bits are those of the block that wants it. ValueError where they would be of other elements.
    """
    out = {}
    theirs, mine = source.bases.get("block", []), _without(result, axis).bases.get("block", [])
    for bit, (vector, own) in enumerate(zip(theirs, mine)):
        if vector[axis]:
            out[bit] = vector[axis].bit_length() - 1
        elif tuple(vector) != tuple(own):
            raise ValueError("source and result are divided differently among the blocks of a cluster")
    return out
