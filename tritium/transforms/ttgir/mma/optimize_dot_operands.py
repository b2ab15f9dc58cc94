"""optimize-dot-operands: Fold transposes of dot operands into local_load.

    %0 = tt.trans %x {order = [1, 0]} : tensor<64x32xf16, #blocked> -> tensor<32x64xf16, #blocked1>
    %1 = ttg.convert_layout %0 : … -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
    %2 = tt.dot %a, %1, %c

    %0 = ttg.local_alloc %x : … -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %1 = ttg.memdesc_trans %0 {order = [1, 0]} : … -> !ttg.memdesc<32x64xf16, #shared1, #smem>
    %2 = ttg.local_load %1 : … -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>

Without the pass the conversion goes through shared memory as well, but in the order of the transposed tensor, which is
not the order of a thread's registers. Here rows are written as they were loaded, the transposed buffer is a view of the
same memory, and `ldmatrix.trans` transposes the tiles on their way to registers. The swizzle is chosen for reading. A
buffer belongs to one CTA: where CTAs of a cluster would have to exchange elements, the conversion is kept.

The pass canonicalizes first, so that conversions of conversions do not hide a transpose.

`wgmma` reads its operands from buffers, transposed ones too where elements have 16 bits; and the buffer of a reshaped
tensor is a reshaped buffer, where rows are preserved:

    %1 = ttg.local_alloc %0 : … -> !ttg.memdesc<32x64xf16, #shared1, #smem>
    %2 = ttng.warp_group_dot %a, %1, %c

    %0 = ttg.local_alloc %x : … -> !ttg.memdesc<64x32xf16, #shared, #smem>
    %1 = ttg.memdesc_trans %0 {order = [1, 0]} : … -> !ttg.memdesc<32x64xf16, #shared1, #smem>
    %2 = ttng.warp_group_dot %a, %1, %c

Then loaded data goes to shared memory unchanged, so that an asynchronous copy can write it.
"""

from __future__ import annotations

from typing import Any

from ....dialects import tt, ttg
from ....dialects.ttg_layouts import DotOperand
from ....dialects.ttg_maps import map_or_none
from ....dialects.ttg_memory import MemDescType, NvmmaShared, SharedMemorySpace
from ....dialects.ttg_operands import cluster_bases, memory_order, swizzled_for, transposed_buffer
from ....ir import Operation, RuleTable, count, functions_of, pass_on, rewrite_greedily, rule
from ....layout.views import reshaped
from ...canonicalize import canonicalize

__all__ = ["optimize_dot_operands"]


@rule(ttg.ConvertLayout)
def operand_of_transpose(op: Any) -> Any:
    """dot(convert(trans(x))) = dot(load(trans(alloc(x))))"""
    layout = op.result.type.encoding
    if not isinstance(layout, DotOperand) or not op.result.has_one_use:
        return None
    trans = op.src.defining_op
    if next(iter(op.result.users)).__class__ is not tt.Dot:
        return None
    if trans.__class__ is not tt.Trans or tuple(trans.order) != (1, 0):
        return None
    source = trans.src.type
    before = trans.src.defining_op
    held = before.src.type if before.__class__ is ttg.ConvertLayout else source  # its type before any conversion
    order = memory_order(held.encoding, held.shape)
    blocks = cluster_bases(source.encoding, source.shape)
    if tuple(basis[::-1] for basis in blocks) != cluster_bases(layout, op.result.type.shape):
        return None  # only a conversion moves elements between CTAs
    shared = swizzled_for(layout, source.shape, order, source.element.width, blocks, transposed=True)
    buffer = MemDescType(source.shape, source.element, shared, SharedMemorySpace())
    count("transposes moved to memory")
    written = ttg.LocalAlloc(trans.src, result=buffer)
    turned = ttg.MemDescTrans(written.result, [1, 0], result=transposed_buffer(buffer))
    return ttg.LocalLoad(turned.result, result=op.result.type)


@rule(ttg.LocalAlloc)
def buffer_of_transpose(op: Any) -> Any:
    """warp_group_dot(alloc(trans(x))) = warp_group_dot(trans(alloc(x)))"""
    if op.src is None or not op.result.has_one_use or next(iter(op.result.users)).name != "ttng.warp_group_dot":
        return None
    trans, ty = op.src.defining_op, op.result.type
    if trans.__class__ is not tt.Trans or tuple(trans.order) != (1, 0) or not isinstance(ty.encoding, NvmmaShared):
        return None
    count("transposes moved to memory")
    written = ttg.LocalAlloc(trans.src, result=transposed_buffer(ty))
    return ttg.MemDescTrans(written.result, [1, 0], result=ty)


@rule(ttg.LocalAlloc)
def buffer_of_reshape(op: Any) -> Any:
    """alloc(reshape(x)) = reshape(alloc(x)), where rows are preserved and both are buffers of wgmma"""
    view, ty = None if op.src is None else op.src.defining_op, op.result.type
    if view.__class__ is not tt.Reshape or not isinstance(ty.encoding, NvmmaShared) or ty.encoding.ctas > 1:
        return None
    shape, inner = view.src.type.shape, 0 if ty.encoding.transposed else -1
    if shape[inner] != ty.shape[inner] or ty.shape != ty.allocShape:
        return None
    layout = ty.encoding.with_(rank=len(shape), CGALayout=())
    before = MemDescType(shape, ty.element, layout, ty.memorySpace, ty.mutable)
    held, seen = map_or_none(layout, shape), map_or_none(ty.encoding, ty.shape)
    if held is None or seen is None or reshaped(seen, shape) is not held:
        return None
    written = ttg.LocalAlloc(view.src, result=before)
    return ttg.MemDescReshape(written.result, result=ty)


_RULES = RuleTable([operand_of_transpose, buffer_of_transpose, buffer_of_reshape])


@pass_on("module", statistics={"transposes moved to memory": "operands transposed while they are read"})
def optimize_dot_operands(module: Operation) -> bool:
    """Read transposed operands of dots from transposed views of buffers."""
    changed = bool(canonicalize(module))
    for func in functions_of(module):
        changed |= rewrite_greedily(func, _RULES)
    return changed
