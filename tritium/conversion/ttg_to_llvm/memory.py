"""Loads from and stores to global memory: as many neighbours at once as addresses and masks allow, up to 16 bytes.

A thread's contiguous elements are moved by one instruction: `analysis/axis_info` knows what is contiguous, aligned and
masked alike, the layout which registers hold it. How an access is predicated is up to the target
(`TargetInfo.global_access`).

Where several threads hold the same element, all load it, but only one stores it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...analysis.global_access import VECTOR_BYTES
from ...analysis.global_access import vector_groups as groups_of
from ...dialects import tt
from ...dialects.tt_types import PointerType
from ...dialects.ttg_maps import linear_layout_of
from ...ir import Operation, TensorType, Type, Value, element_type
from ...ir.remarks import remark
from ...layout.views import registers_in
from ...support import UnsupportedOperation
from .context import FunctionContext, elementwise, lowers
from .packing import constant_bits, pack, unpack, word_bits
from .target_info import GlobalAccess
from .types import byte_width, llvm_type

__all__ = ["first_holder", "load_parts", "lower_store", "vector_groups"]


@lowers(tt.AddPtr)
def _add_ptr(e: FunctionContext, op: tt.AddPtr) -> None:
    pointer, offset = llvm_type(op.ptr.type), llvm_type(op.offset.type)
    pointee: Any = element_type(op.ptr.type)
    size = byte_width(pointee.pointee)
    unit = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}[size]
    elementwise(e, op, lambda p, n: e.op(f"getelementptr {unit}, {pointer} {p}, {offset} {n}"))


# -- which registers go together ----------------------------------------------------------------------------------


def vector_groups(e: FunctionContext, ptr: Value, mask: Value | None, most: int = VECTOR_BYTES) -> list[list[int]]:
    """The registers of a tensor of addresses, in groups that one instruction may move: `analysis.global_access`."""
    if not isinstance(ptr.type, TensorType):
        return [[0]]
    size = byte_width(ptr.type.element.pointee)  # type: ignore[attr-defined]
    masks = e.facts.of(mask) if mask is not None else None
    return groups_of(e.layout(ptr), e.facts.of(ptr), masks, size, most)


def _remark_on(op: Any, groups: Sequence[Sequence[int]]) -> None:
    """Tell of an access of which no two elements go together."""
    if len(groups) > 1 and len(groups[0]) == 1:
        remark(op, f"Warning: vectorization fails: each thread moves {len(groups)} elements one by one")


def first_holder(e: FunctionContext, ty: Type, every_block: bool = False) -> str | None:
    """An i1 that is true in one of the threads that hold the same elements; None if no two do."""
    masks = {"lane": e.module.warp_size - 1, "warp": e.num_warps - 1, "block": e.module.num_ctas - 1}
    if isinstance(ty, TensorType):
        masks = linear_layout_of(ty).redundant()
    bits = []
    for name, operand in (("lane", e.lane), ("warp", e.warp), ("block", e.block_id)):
        mask = masks.get(name, 0)
        if mask and not (name == "block" and every_block):
            bits.append(e.op(f"and i32 {operand}, {mask}"))
    if not bits:
        return None
    any_bit, *rest = bits
    for other in rest:
        any_bit = e.op(f"or i32 {any_bit}, {other}")
    return e.op(f"icmp eq i32 {any_bit}, 0")


# -- instructions -------------------------------------------------------------------------------------------------


def _access(e: FunctionContext, op: Operation, ty: Type, count: int, stores: bool = False) -> GlobalAccess:
    """The access of `count` elements."""
    bits = word_bits(ty, count)
    return e.target.global_access(e, op, bits, max(1, byte_width(ty) * 8 * count // bits), stores)


# -- operations ---------------------------------------------------------------------------------------------------


def _check(e: FunctionContext, op: tt.Load | tt.Store) -> None:
    pointer = element_type(op.ptr.type)
    if not isinstance(pointer, PointerType) or isinstance(pointer.pointee, TensorType) or pointer.address_space != 1:
        raise UnsupportedOperation(op, f"through {op.ptr.type} is not supported on {e.target.name}")


@lowers(tt.Load)
def _load(e: FunctionContext, op: tt.Load) -> None:
    _check(e, op)
    e.bind(op.result, load_parts(e, op, op.ptr, op.result.type))


def load_parts(e: FunctionContext, op: Any, ptr: Value, result: Type) -> list[str]:
    """The parts of what stands at the addresses `ptr`, where the mask of `op` is set; else of its `other`."""
    groups = vector_groups(e, ptr, op.mask)
    _remark_on(op, groups)
    words = _access(e, op, result, len(groups[0]))
    addresses, masks = e(ptr), e(op.mask) if op.mask is not None else None
    parts = [""] * len(addresses)
    for group in groups:
        first = group[0]
        mask = None if masks is None or masks[first] == "true" else masks[first]
        others = _others(e, op.other, group, words) if mask is not None else []
        loaded = words.load(e, addresses[first], mask, others)
        for register, part in zip(group, unpack(e, loaded, result, words.bits)):
            parts[register] = part
    if isinstance(result, TensorType) and "" in parts:  # copies of what was loaded
        layout = linear_layout_of(result)
        same = registers_in(layout, layout) or []
        parts = [parts[r] for r in same]
    return parts


def _others(e: FunctionContext, other: Value | None, group: Sequence[int], words: GlobalAccess) -> list[str]:
    """What the words of a group are where nothing is loaded: zero, unless something is said."""
    bits = 0 if other is None else constant_bits(other)
    if bits is not None:
        size = words.bits * words.count // len(group)
        return [str(sum(bits << i for i in range(0, words.bits, size)))] * words.count
    assert other is not None
    parts = e(other)
    return pack(e, [parts[r] for r in group], other.type, words.bits)


@lowers(tt.Store)
def lower_store(e: FunctionContext, op: tt.Store) -> None:
    """Store where the mask is set, in one of the threads that hold the same element."""
    _check(e, op)
    ty = op.value.type
    groups = vector_groups(e, op.ptr, op.mask)
    _remark_on(op, groups)
    words = _access(e, op, ty, len(groups[0]), stores=True)
    addresses, masks = e(op.ptr), e(op.mask) if op.mask is not None else None
    holder = first_holder(e, op.ptr.type, bool(op.ignore_cta))
    values: dict[int, str] = {}
    for some in e.arriving.pop(op.value, None) or [dict(enumerate(e(op.value)))]:
        values |= some
        left: list[list[int]] = []
        for group in groups:
            if any(r not in values for r in group):
                left.append(group)
                continue
            mask = holder
            if masks is not None and masks[group[0]] != "true":
                mask = masks[group[0]] if holder is None else e.op(f"and i1 {holder}, {masks[group[0]]}")
            packed = pack(e, [values[r] for r in group], ty, words.bits)
            words.store(e, addresses[group[0]], packed, mask)
        groups = left
