"""Emit WGMMA dots, computed by groups of four warps (MMA version 3).

    %d = tt.dot %a, %b, %c : … -> tensor<128x128xf32, #blocked>

    %x = ttg.local_alloc %a : … -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %y = ttg.local_alloc %b : … -> !ttg.memdesc<64x128xf16, #shared, #smem>
    %z = ttg.convert_layout %c : … -> tensor<128x128xf32, #mma>
    %e = ttng.warp_group_dot %x, %y, %z : … -> tensor<128x128xf32, #mma>
    %d = ttg.convert_layout %e : … -> tensor<128x128xf32, #blocked>

**Operands** are read from swizzled shared memory, in the order of a thread's registers; only 16-bit elements may be
contiguous along M or N, so others are transposed when they are stored. The first operand comes from registers where it
is computed rather than loaded, and where it is loop-invariant, N is small and there are registers for it: it takes 16
cycles to read 16 columns of A for 64 rows at 128 bytes a cycle, and N / 2 cycles to multiply them.

**Warps** form groups of four, with 16 rows each. Groups are placed along M as long as there are rows for them, or where
the result feeds another dot, as in attention: then a row stays in one warp.

**N** is as large as the instruction allows, and no larger than the part of a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....analysis.dataflow import reachable
from ....dialects import tt, ttg, ttng
from ....dialects.ttg_context import num_warps
from ....dialects.ttg_layouts import NvidiaMma
from ....dialects.ttg_memory import MemDescType, SharedMemorySpace
from ....dialects.ttg_operands import cluster_bases, memory_order, nvmma_for, operand_layout
from ....dialects.ttg_switches import is_on
from ....ir import (
    FLOATS,
    BlockArgument,
    Operation,
    TensorType,
    Value,
    ViewLike,
    bf16,
    element_type,
    f16,
    f32,
    i8,
    is_global_load,
    is_register_dot,
)
from ....layout.bases import per_block

__all__ = ["fits_wgmma", "warp_group_dot"]

_FP8 = (FLOATS["f8E5M2"], FLOATS["f8E4M3FN"])
_DEPTH = 256  # bits that an instruction covers along K


def fits_wgmma(dot: Any) -> bool:
    """Whether there is an instruction for the shape of a dot whose types some MMA instruction supports."""
    result = dot.d.type
    a = element_type(dot.a.type)
    if result.rank != 2 or a not in (f16, bf16, f32, i8, *_FP8) or not is_on(dot, "wgmma"):
        return False
    rows, columns = per_block(result.shape, result.encoding.CGALayout)
    if rows % 64 or columns % 8 or dot.a.type.shape[-1] < _DEPTH // a.width or (num_warps(dot) or 1) % 4:  # type: ignore[attr-defined]
        return False
    # For more precise accumulation: `mma.sync` converts the operands to f16.
    return not (a in _FP8 and result.element is f32 and dot.maxNumImpreciseAcc < 32)


def warp_group_dot(dot: Any) -> Operation:
    """Emit operands, accumulator and WGMMA dot before `dot`; returns the new dot."""
    result = dot.d.type
    shape = per_block(result.shape, result.encoding.CGALayout)
    element: Any = element_type(dot.a.type)
    columns = _columns(shape, element, num_warps(dot) or 4)
    layout = NvidiaMma(
        versionMajor=3,
        warpsPerCTA=_warps(dot, shape, columns),
        instrShape=(16, columns, _DEPTH // element.width),
        CGALayout=result.encoding.CGALayout,
    )
    registers = operand_layout(0, layout, element.width)
    a = _shared(dot.a, 0) if _is_loaded(dot.a) else _converted(dot, dot.a, registers)
    b = _shared(dot.b, 1)
    c = _converted(dot, dot.c, layout)
    new = ttng.WarpGroupDot(a, b, c, None, dot.inputPrecision, dot.maxNumImpreciseAcc, False, loc=dot.loc)
    dot.parent.insert_before(new, dot)
    return new


def _columns(shape: Sequence[int], element: Any, warps: int) -> int:
    """N of an instruction: all columns if possible, but at most those of one warp group."""
    groups = max(warps // max(shape[0] // 16, 1), 1)
    most = 224 if element is i8 else 256  # the limit of Triton's lowering for integers
    return next(
        n for n in (256, 128, 64, 32, 16, 8) if shape[1] % n == 0 and n <= min(most, max(shape[1] // groups, 8))
    )


def _warps(dot: Any, shape: Sequence[int], columns: int) -> tuple[int, int]:
    """The numbers of warps along rows and columns."""
    warps = num_warps(dot) or 4
    if any(map(is_register_dot, _transitive_users(dot))):
        return warps, 1
    down, along = 4, 1
    while down * along < warps:
        if shape[0] > 16 * down:
            down *= 2
        else:
            along *= 2
    return down, along


def _transitive_users(op: Operation) -> set[Operation]:
    """The transitive users of an operation's results, including those nested in their regions."""

    def users(user: Operation) -> list[Operation]:
        inside = [inner for region in user.regions for block in region.blocks for inner in block]
        return inside + [u for result in user.results for u in result.users]

    return set(reachable([user for result in op.results for user in result.users], users))


# -- operands -----------------------------------------------------------------------------------------------------


def _is_loaded(value: Value) -> bool:
    """Whether `value` is loaded from memory, possibly transposed; block arguments count as loaded."""
    op = value.defining_op
    while op is not None and isinstance(op, (ViewLike, ttg.ConvertLayout, tt.Trans)):
        op = op.operands[0].defining_op
    return op is None or is_global_load(op)


def _shared(value: Any, index: int) -> Value:
    """Operand 0 or 1 in shared memory, stored at its definition; each CTA owns what it multiplies."""
    blocks = cluster_bases(value.type.encoding, value.type.shape)
    while value.defining_op.__class__ is ttg.ConvertLayout:
        value = value.defining_op.src
    ty = value.type
    order: Sequence[int] = memory_order(ty.encoding, ty.shape)
    if ty.element not in (f16, bf16):
        order = (1, 0) if index == 0 else (0, 1)
    layout = nvmma_for(ty.shape, order, ty.element.width, blocks)
    buffer = MemDescType(ty.shape, ty.element, layout, SharedMemorySpace())
    op = ttg.LocalAlloc(value, result=buffer)
    if isinstance(value, BlockArgument):
        op.loc = value.loc
        value.owner.prepend(op)
    else:
        op.loc = value.defining_op.loc
        _insert_after(op, value.defining_op)
    return op.result


def _converted(dot: Any, value: Any, layout: Any) -> Value:
    op = ttg.ConvertLayout(value, result=TensorType(value.type.shape, value.type.element, layout), loc=dot.loc)
    dot.parent.insert_before(op, dot)
    return op.result


def _insert_after(op: Operation, before: Any) -> None:
    if before.next is None:
        before.parent.append(op)
    else:
        before.parent.insert_before(op, before.next)
