"""Buffers of pipelined loads: their layout, the width of copies into them, and their allocation.

A load that is copied to shared memory anyway gets that buffer's layout; one used only by dots that from which its
operand is read best, and any other one an unswizzled buffer, unless bank conflicts can be avoided by another swizzle:
then that with the fewest wavefronts for the copy and all reads. A copy has at least 4 bytes (PTX ISA 8.7, section
9.7.9.25.3.1, cp.async: cp-size is 4, 8 or 16).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from math import copysign
from typing import Any

from ....analysis.axis_info import AxisInfoAnalysis
from ....analysis.exchange import has_ldmatrix
from ....dialects import arith, tt, ttg
from ....dialects.constraints import bit_width
from ....dialects.tt_types import PointerType
from ....dialects.ttg_layouts import AmdMfma, DotOperand, Linear
from ....dialects.ttg_maps import linear_layout_of, map_or_none
from ....dialects.ttg_memory import AmdRotatingShared, MemDescType, SharedMemorySpace, SwizzledShared
from ....dialects.ttg_operands import buffer_for, cluster_bases, memory_order, swizzled_for, swizzled_tile
from ....ir import (
    Builder,
    CountedLoop,
    Operation,
    PlainLoad,
    TensorType,
    Type,
    Value,
    element_type,
    i32,
    is_descriptor_load,
)
from ....layout.access import ROW_BYTES, VECTOR_BITS, vector_access
from ....layout.bases import per_block
from ....layout.buffer_access import offset_columns, plan_buffer_access
from ....layout.views import row_of_registers
from ...rules.constants import splat_of
from ..loops import top_level_users
from ..tma.copies import buffer_type
from .schedule import Place, Schedule

__all__ = [
    "ASYNC_BYTES",
    "Swizzled",
    "allocate",
    "constant_i32",
    "copied_bytes",
    "direct_buffers",
    "is_plain_zero",
    "loaded_bits",
    "loaded_elements",
    "needs_registers",
    "operand_swizzle",
    "shared_layout",
    "stages_to_last_read",
]

Swizzled = SwizzledShared | AmdRotatingShared

ASYNC_BYTES = 4
"""The minimum size of an asynchronous copy."""


# -- layouts --------------------------------------------------------------------------------------------------------


def is_pipelinable(op: Operation) -> bool:
    """True for a load that an asynchronous copy to shared memory and a load from there can replace."""
    return isinstance(op, PlainLoad) or is_descriptor_load(op)


def shared_layout(load: Any) -> Any:
    """The layout of the buffer for a load; None where a descriptor has none."""
    if is_descriptor_load(load):
        if load.desc.type.block.encoding is None:
            return None
        return buffer_type(load.desc, load.result.type).encoding
    allocated = [user.result.type.encoding for user in load.result.users if user.__class__ is ttg.LocalAlloc]
    if allocated:
        return allocated[0]
    layout, _ = operand_swizzle(load.result)
    return _layout_of_fewest_wavefronts(load.result, layout)


def _layout_of_fewest_wavefronts(loaded: Value, wanted: Swizzled | None) -> Swizzled:
    """The layout `wanted` for the buffer of a load, or an unswizzled one, unless another has fewer bank conflicts."""
    ty = loaded.type
    assert isinstance(ty, TensorType)
    order, blocks = memory_order(ty.encoding, ty.shape), cluster_bases(ty.encoding, ty.shape)
    first = wanted or SwizzledShared(1, 1, 1, order, blocks)
    bits, row = bit_width(ty.element), per_block(ty.shape, blocks)[order[0]]
    if len(ty.shape) < 2 or bits not in (8, 16, 32) or row * bits <= VECTOR_BITS:
        return first
    best, (total, conflicts) = first, _wavefronts(loaded, ty, first)
    if not conflicts:
        return first
    per_phase = max(ROW_BYTES * 8 // (bits * row), 1)
    vectors = [VECTOR_BITS // bits * times for times in (1, 2) if VECTOR_BITS * times < bits * row]
    for vec, phases in itertools.product(vectors, (8, 4, 2)):
        layout = SwizzledShared(vec, per_phase, phases, order, blocks)
        if phases * vec <= row * per_phase and (passes := _wavefronts(loaded, ty, layout)[0]) < total:
            best, total = layout, passes
    return best


def _wavefronts(loaded: Value, ty: TensorType, layout: Swizzled) -> tuple[int, int]:
    """Wavefronts per warp of the copy of a load into a buffer and of the reads by its users; and those by conflicts."""
    assert loaded.defining_op is not None
    buffer = linear_layout_of(MemDescType(ty.shape, ty.element, layout, _SHARED))
    bits, matrix = bit_width(ty.element), has_ldmatrix(loaded.defining_op)
    accesses = [vector_access(offset_columns(linear_layout_of(ty), buffer), bits)]
    for read in dict.fromkeys(_type_read(user, ty) for user in loaded.users):
        with suppress(ValueError):  # a conversion between the CTAs of a cluster does not read the buffer
            accesses.append(plan_buffer_access(linear_layout_of(read), buffer, bits, matrix))
    return sum(a.passes for a in accesses), sum(a.conflicts * a.instructions for a in accesses)


def _type_read(user: Operation, loaded: TensorType) -> TensorType:
    """The type in which a user of a load reads its buffer."""
    return user.result.type if isinstance(user, ttg.ConvertLayout) else loaded


def operand_swizzle(value: Value) -> tuple[Swizzled | None, bool]:
    """The layout from which all users of a value can read it as dot operands; None where a user is no dot.

    The second result says whether two users want different ones.
    """
    found: Swizzled | None = None
    for user in value.users:
        wanted, clash = _layout_requested_by(user, value)
        if wanted is None:
            return None, clash
        if found is not None and wanted is not found:
            return None, True
        found = wanted
    return found, False


def _layout_requested_by(user: Any, value: Any) -> tuple[Swizzled | None, bool]:
    if len(user.results) != 1:
        return None, False
    result = user.results[0].type
    if isinstance(result, MemDescType):
        if not isinstance(result.encoding, (SwizzledShared, AmdRotatingShared)):
            return None, False
        inner, clash = operand_swizzle(user.results[0])
        is_used = bool(user.results[0].users)
        return (result.encoding, False) if inner is not None or not is_used else (None, clash)
    if user.__class__ not in (ttg.LocalLoad, ttg.ConvertLayout):
        return None, False
    return _swizzle_for(result, value.type) or _transposed_swizzle(user.results[0], value.type), False


def _transposed_swizzle(value: Value, source: Type) -> SwizzledShared | AmdRotatingShared | None:
    """The buffer layout for a tensor from which MFMA reads an operand after a transpose in registers."""
    (user,) = value.users if value.has_one_use else (None,)
    if not isinstance(user, tt.Trans) or tuple(user.order) != (1, 0) or not isinstance(source, TensorType):
        return None
    operand = user.result.type
    layout = operand.encoding if isinstance(operand, TensorType) else None
    if not isinstance(layout, DotOperand) or not isinstance(layout.parent, AmdMfma):
        return None
    order = memory_order(source.encoding, source.shape)
    blocks = cluster_bases(source.encoding, source.shape)
    return swizzled_for(layout, source.shape, order, bit_width(source.element), blocks, transposed=True)


def _swizzle_for(result: TensorType, source: Any) -> Swizzled | None:
    layout: Any = result.encoding
    bits = bit_width(source.element)
    if isinstance(layout, DotOperand):
        blocks = cluster_bases(layout, result.shape)
        if isinstance(source, MemDescType):
            return swizzled_for(layout, source.shape, source.encoding.order, bits, blocks)
        return buffer_for(layout, source.encoding, source.shape, bits, blocks)
    return _like_operand(result, source) if isinstance(layout, Linear) else None


def _like_operand(result: TensorType, source: Any) -> Swizzled | None:
    """The buffer layout for a register layout that consists of tiles of 8 rows of 4 `width` elements, like dot
    operands.

    The first two lane bits follow the registers along one of the last two dimensions, the others go along the other
    one. The contiguous dimension of the source stays contiguous in the buffer.
    """
    layout: Any = result.encoding
    rank = len(result.shape)
    if rank < 2 or len(layout.lane) != 5:
        return None
    for operand, (inner, outer) in enumerate(((rank - 1, rank - 2), (rank - 2, rank - 1))):
        width = 1
        for basis in layout.register:
            if not _moves(basis, inner, width):
                break
            width *= 2
        steps = [(inner, width), (inner, 2 * width), (outer, 1), (outer, 2), (outer, 4)]
        if all(_moves(basis, *step) for basis, step in zip(layout.lane, steps)):
            held = isinstance(source, TensorType)
            order = memory_order(source.encoding, source.shape) if held else source.encoding.order
            blocks = cluster_bases(source.encoding, source.shape) if held else ()
            return swizzled_tile(operand, width, result.shape, order, bit_width(result.element), blocks)
    return None


def _moves(basis: Sequence[int], axis: int, step: int) -> bool:
    return all(n == (step if d == axis else 0) for d, n in enumerate(basis))


# -- widths ---------------------------------------------------------------------------------------------------------


def loaded_elements(facts: AxisInfoAnalysis, load: Any) -> int:
    """The number of contiguous elements that a thread loads at once."""
    ty = load.pointer.type
    if not isinstance(ty, TensorType):
        return 1
    layout = map_or_none(ty.encoding, ty.shape)  # type: ignore[arg-type]
    if layout is None:
        return 1
    pointee: Any = ty.element.pointee  # type: ignore[attr-defined]
    size = max(1, bit_width(pointee) // 8)
    mask = load.access_mask
    known, masks = facts.of(load.pointer), None if mask is None else facts.of(mask)
    best = 1
    for axis in range(len(ty.shape)):
        most = min(known.contiguity[axis], max(1, known.divisibility[axis] // size))
        if masks is not None:
            most = min(most, masks.constancy[axis])
        best = max(best, 1 << len(row_of_registers(layout, axis, most)))
    return best


def loaded_bits(facts: AxisInfoAnalysis, load: Any) -> int:
    """The number of bits that a thread loads at once."""
    pointer: Any = element_type(load.pointer.type)
    assert isinstance(pointer, PointerType)
    return loaded_elements(facts, load) * bit_width(pointer.pointee)


def copied_bytes(ty: TensorType, layout: Any) -> int:
    """The bytes of a thread's elements that are contiguous in a buffer as well."""
    try:
        registers = linear_layout_of(ty)
        columns = offset_columns(registers, linear_layout_of(MemDescType(ty.shape, ty.element, layout, _SHARED)))
    except ValueError:
        return 0
    bits = bit_width(ty.element)
    return vector_access(columns, bits).width * bits // 8 if bits >= 8 else 0


def is_plain_zero(value: Value) -> bool:
    """Whether a value is a constant of zero bits, so not -0.0."""
    number = splat_of(value)
    return number is not None and number == 0 and copysign(1.0, number) > 0


def needs_registers(load: Any) -> bool:
    """Whether the loaded tensor must be read from its buffer to registers: not if it is only copied to one of its
    layout.

    An asynchronous copy writes zeros for masked elements.
    """
    other = load.fallback if isinstance(load, PlainLoad) else None
    if other is not None and not is_plain_zero(other):
        return True
    if not load.result.has_one_use:
        return True
    (user,) = load.result.users
    if user.__class__ is not ttg.LocalAlloc:
        return True
    return is_descriptor_load(load) and shared_layout(load) is not user.results[0].type.encoding


# -- lifetimes ------------------------------------------------------------------------------------------------------


def direct_buffers(op: Operation, layout: object) -> list[Value]:
    """The allocations that the buffer of a load replaces."""
    allocs = [user for user in op.results[0].users if isinstance(user, ttg.LocalAlloc)]
    return [alloc.result for alloc in allocs if getattr(alloc.result.type, "encoding", None) is layout]


def stages_to_last_read(loop: CountedLoop, op: Operation, layout: object, schedule: Schedule, write: Place) -> int:
    """The number of buffers that hold data until the last operation that reads one directly, in kernel order.

    `write` is the place of the copy or store that writes the buffer of the load `op`. A direct read, of a view or
    within a branch, may be later than the first use, where a tensor is read to registers.
    """
    reads = top_level_users(loop, direct_buffers(op, layout))
    places = [schedule[read] for read in reads if read in schedule]
    return max((stage + (not cluster < write.cluster) for stage, cluster in places), default=0) - write.stage


# -- operations -----------------------------------------------------------------------------------------------------

_SHARED = SharedMemorySpace()


def allocate(loop: CountedLoop, ty: TensorType, layout: Any, copies: int) -> Value:
    """Allocate `copies` tensors before a loop, and deallocate them after it."""
    memory = MemDescType((copies, *ty.shape), ty.element, layout, _SHARED, True)
    made = Builder(loop.parent, loop, loop.loc).add(ttg.LocalAlloc(result=memory))
    Builder(loop.parent, loop.next, loop.loc).add(ttg.LocalDealloc(made))
    return made  # type: ignore[no-any-return]


def constant_i32(b: Builder, value: int, ty: Type = i32) -> Value:
    """An integer constant."""
    constant: Value = b.add(arith.Constant.of(value, ty))
    return constant
