"""store-in-own-cta: Restrict shared memory accesses to the memory of the thread's own CTA.

    ttg.local_store %x, %b                      =>   %y = ttg.convert_layout %x      // between CTAs
                                                     ttg.local_store %y, %b
    %x = ttg.local_load %b                      =>   %y = ttg.local_load %b
                                                     %x = ttg.convert_layout %y

The layout of a buffer distributes it over the CTAs of a cluster. Where a tensor that is stored to it or loaded from it
is distributed differently, its elements must move between CTAs, which only a conversion does. A CTA can load its part
of a buffer that it owns whole; but a tensor that it owns whole in registers would be stored whole, so a conversion
selects the part. A slice that is cut from a buffer between CTAs is accessed in the cluster's memory. Earlier passes
fold conversions into stores, since readers of a buffer (dots, TMA) determine its layout.
"""

from __future__ import annotations

from typing import Any

from ....analysis.cluster_memory import is_cut_between_ctas
from ....dialects import ttg
from ....dialects.ttg_context import num_ctas, num_warps, threads_per_warp
from ....dialects.ttg_defaults import blocked_for
from ....dialects.ttg_maps import linear_layout_of
from ....dialects.ttg_operands import cluster_bases
from ....ir import BufferAccess, Operation, TensorType, count, is_buffer_load, may_change, pass_on
from ....layout.bases import per_block

__all__ = ["store_in_own_cta"]


@pass_on("module", statistics={"conversions": "conversions between CTAs around shared memory accesses"})
def store_in_own_cta(module: Operation) -> bool:
    """Move elements to the CTA whose shared memory they are stored in."""
    if num_ctas(module) == 1:
        return False
    done = 0
    for op in list(module.walk()):
        tensor, buffer = _tensor_and_buffer(op)
        if (
            tensor is None
            or is_cut_between_ctas(buffer)
            or _stays_in_cta(op, _cta_bases(tensor.type), _cta_bases(buffer))
        ):
            continue
        if may_change("convert", op):
            _convert(op, tensor, buffer)
            done += 1
    count("conversions", done)
    return done > 0


def _tensor_and_buffer(op: Any) -> tuple[Any, Any]:
    """The tensor and the buffer type of a local store or load; None for other operations."""
    if isinstance(op, ttg.LocalAlloc) and op.src is not None:
        return op.src, op.result.type
    return (op.tensor, op.buffer.type) if isinstance(op, BufferAccess) else (None, None)


def _cta_bases(ty: Any) -> list[tuple[int, ...]]:
    """The elements that the CTAs of a cluster own: the basis of each CTA bit, zero for copies."""
    return linear_layout_of(ty).bases["block"]


def _stays_in_cta(op: Any, tensor: list[Any], buffer: list[Any]) -> bool:
    """Whether each CTA owns in registers what it stores to its memory, or in its memory what it loads.

    A store of more than that needs a conversion as well: a thread stores all elements it holds.
    """
    if is_buffer_load(op):
        return all(have == need or not any(have) for have, need in zip(buffer, tensor, strict=True))
    return tensor == buffer


def _convert(op: Any, tensor: Any, buffer: Any) -> None:
    ty = tensor.type
    blocks, fastest = cluster_bases(buffer.encoding, buffer.shape), linear_layout_of(buffer).bases["offset"][:1]
    mine = per_block(ty.shape, blocks)
    order = sorted(range(len(mine)), key=lambda d: (not any(basis[d] for basis in fastest), -d))
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
