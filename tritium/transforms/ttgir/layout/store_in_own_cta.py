"""store-in-own-cta: threads reach only the shared memory of their own block of a cluster.

    ttg.local_store %x, %b                      =>   %y = ttg.convert_layout %x      // between blocks
                                                     ttg.local_store %y, %b
    %x = ttg.local_load %b                      =>   %y = ttg.local_load %b
                                                     %x = ttg.convert_layout %y

A buffer is dealt to the blocks of a cluster by its layout. Where a tensor that is stored in it, or loaded from it, is
dealt to them in another way, its elements have to go from block to block, which only a conversion does. From a buffer
that each block has whole it can load its part; but what each has whole in registers it would store whole, so that
there, too, a conversion picks the part. Until here the passes fold conversions into stores, for what reads a buffer (a
product, the copy engine) says how it is best filled.
"""

from __future__ import annotations

from typing import Any

from ....dialects import ttg
from ....dialects.ttg_context import num_ctas, num_warps, threads_per_warp
from ....dialects.ttg_defaults import blocked_for
from ....dialects.ttg_maps import linear_layout_of
from ....dialects.ttg_operands import cluster_bases
from ....ir import Operation, TensorType, count, may_change, pass_on
from ....layout.bases import per_block

__all__ = ["store_in_own_cta"]


@pass_on("module", statistics={"conversions": "conversions between blocks around accesses to shared memory"})
def store_in_own_cta(module: Operation) -> bool:
    """Move elements to the block whose memory holds them."""
    if num_ctas(module) == 1:
        return False
    done = 0
    for op in list(module.walk()):
        tensor, buffer = _ends(op)
        if tensor is None or _within(op, _parts(tensor.type), _parts(buffer)):
            continue
        if may_change("convert", op):
            _convert(op, tensor, buffer)
            done += 1
    count("conversions", done)
    return done > 0


def _ends(op: Any) -> tuple[Any, Any]:
    """The tensor and the buffer that an operation stores or loads; None for any other."""
    if isinstance(op, ttg.LocalAlloc) and op.src is not None:
        return op.src, op.result.type
    if isinstance(op, ttg.LocalStore):
        return op.src, op.dst.type
    return (op.result, op.src.type) if isinstance(op, ttg.LocalLoad) else (None, None)


def _parts(ty: Any) -> list[tuple[int, ...]]:
    """Which elements the blocks of a cluster have: where each bit of a block's number moves, zeros for copies."""
    return linear_layout_of(ty).bases["block"]


def _within(op: Any, tensor: list[Any], buffer: list[Any]) -> bool:
    """Whether each block has in registers just what it stores in its memory, or in its memory what it loads.

    What it has more of than it stores goes, too, by a conversion: to its own memory a thread stores all that it has.
    """
    if isinstance(op, ttg.LocalLoad):
        return all(have == need or not any(have) for have, need in zip(buffer, tensor, strict=True))
    return tensor == buffer


def _convert(op: Any, tensor: Any, buffer: Any) -> None:
    ty = tensor.type
    blocks, neighbours = cluster_bases(buffer.encoding, buffer.shape), linear_layout_of(buffer).bases["offset"][:1]
    mine = per_block(ty.shape, blocks)
    order = sorted(range(len(mine)), key=lambda d: (not any(basis[d] for basis in neighbours), -d))
    vector = min(128 // max(8, ty.element.width), mine[order[0]])
    sizes = [vector if d == order[0] else 1 for d in range(len(mine))]
    layout = blocked_for(mine, sizes, order, num_warps(op) or 4, threads_per_warp(op)).with_(CGALayout=blocks)
    own = TensorType(ty.shape, ty.element, layout)
    if tensor in op.results:
        tensor.type = own
        conversion = ttg.ConvertLayout(tensor, result=ty, loc=op.loc)
        op.parent.insert_before(conversion, op)
        conversion.move_after(op)
        tensor.replace_uses_where(conversion.result, lambda user: user is not conversion)
    else:
        conversion = ttg.ConvertLayout(tensor, result=own, loc=op.loc)
        op.parent.insert_before(conversion, op)
        op.set_operand(0, conversion.result)
