"""amd-block-pingpong: Alternate memory and matrix instructions of two waves of a SIMD.

    scf.for … {                                 scf.for … {
      %x = tt.load %pa                            %a = ttg.local_load %as;  rocdl.s.setprio 1
      %y = tt.load %pb                            %x = tt.load %pa;         rocdl.sched.barrier none
      %a = ttg.local_load %as              =>     %b = ttg.local_load %bs;  rocdl.s.setprio 0
      %b = ttg.local_load %bs                     %y = tt.load %pb;         rocdl.sched.barrier …
      %d = tt.dot %a, %b, %acc                    rocdl.s.setprio 1
      ttg.local_store %x, %as                     %d = tt.dot %a, %b, %acc
      ttg.local_store %y, %bs                     rocdl.s.setprio 0
    }                                             ttg.local_store %x, %as …

A SIMD of CDNA 3 issues memory instructions of one wave while matrix instructions of another one run. The body of a
pipelined loop is divided into clusters of either kind; a wave in a matrix cluster has the higher priority.

- 4 warps (two programs share the SIMDs), tiles of M x N x K x bits from 2^18 to 2^24: one cluster of each kind.
- 8 warps, 2^25: two of each kind. K of the dot is split in two.
- 8 warps, 2^26 and more: four of each kind. K is split in four.

With 8 warps the two waves of a SIMD belong to one program, and each cluster ends at a barrier. Half of the warps wait
at one more barrier before the loop (`amdg.cond_barrier`), so that they are one cluster behind in the loop, and the
others at one more after it.

A loop qualifies if it has one dot by MFMA, two global loads, two loads from LDS that a previous iteration has written,
and, with 8 warps, two stores to LDS; no other operation before the dot writes memory. Other loads and stores may be in
branches of a persistent loop (`if` with `==` before and after the dot), which are taken to be rare. A mask that varies
within the loop excludes it; with 8 warps so does any other use of LDS in the loop, which barriers would no longer
order. Shapes, thresholds, and the order of clusters are those of Triton 3.9.
"""

from __future__ import annotations

from ....dialects import tt
from ....dialects.constraints import bit_width
from ....dialects.ttg_context import num_warps
from ....ir import CountedLoop, Operation, count, functions_of, may_change, pass_on
from ....support.dataclasses import dataclass
from .pingpong_clusters import four_clusters, one_cluster, stagger_halves, two_clusters
from .pingpong_loops import PingpongLoop, operand_layout, pingpong_loop, tensor_type

__all__ = ["PingpongOptions", "amd_block_pingpong"]

_SMALLEST, _SMALL, _MEDIUM, _LARGE = 1 << 18, 1 << 24, 1 << 25, 1 << 26


@dataclass(frozen=True)
class PingpongOptions:
    """`num_stages`: the number of stages that the pipeliner was asked for."""

    num_stages: int = 2


@pass_on("function", statistics={"loops changed": "loops whose body is divided into clusters"})
def amd_block_pingpong(op: Operation, options: PingpongOptions = PingpongOptions()) -> bool:
    """Divide the bodies of the loops of a function, or of all functions of a module, into clusters."""
    changed = 0
    for func in functions_of(op):
        for loop in [inner for inner in func.walk_post() if isinstance(inner, CountedLoop)]:
            changed += options.num_stages > 1 and _divide(loop, options.num_stages)
    count("loops changed", changed)
    return changed > 0


def _divide(loop: CountedLoop, num_stages: int) -> bool:
    """Divide the body of a loop if it qualifies."""
    found = pingpong_loop(loop)
    if found is None or not may_change("amd-block-pingpong", loop):
        return False
    size, warps = _tile_bits(found.dot), num_warps(loop)
    if warps == 4 and _SMALLEST <= size <= _SMALL:
        one_cluster(found)
        return True
    if warps != 8 or num_stages != 2 or len(found.local_stores) != 2 or not found.can_stagger:
        return False
    if size == _MEDIUM and found.can_split(2):
        two_clusters(found)
    elif size >= _LARGE and not _spills(found) and found.can_split(4):
        four_clusters(found)
    else:
        return False
    stagger_halves(loop)
    return True


def _tile_bits(dot: tt.Dot) -> int:
    """M x N x K x bits of an element of the left operand."""
    (m, k), (_, n) = tensor_type(dot.a).shape, tensor_type(dot.b).shape
    return m * n * k * bit_width(dot.a.type)


def _spills(found: PingpongLoop) -> bool:
    """Whether the operands of a large tile are known not to fit the registers: 16 x 16 instructions, wide operands."""
    layout = operand_layout(found.dot)
    return layout is not None and list(layout.parent.instrShape[:2]) == [16, 16] and layout.kWidth == 8
