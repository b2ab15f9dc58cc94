"""Buffer loads and stores: global memory through a resource of four scalar registers, with checked 32-bit offsets.

    %r = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %a, i16 0, i64 2147483647, …)
    %v = call <4 x i32> @llvm.amdgcn.raw.ptr.buffer.load.v4i32(ptr addrspace(8) %r, i32 %offset, i32 0, i32 0)

The resource covers 2 GB from the base on, with stride 0 (raw). A load beyond it gives zero and a store does nothing, so
that a lane that is masked off gets such an offset, and no access needs a branch. (CDNA 3 instruction set reference,
section 9.1.5; RDNA 3, section 10.1.)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

from ....analysis.axis_facts import AxisInfo
from ....analysis.global_access import vector_groups
from ....dialects import amdg
from ....ir import TensorType, Type, Value, element_type
from ..context import FunctionContext
from ..memory import first_holder
from ..packing import constant_bits, pack, parts_of, unpack, vector_of, word_bits
from ..types import byte_width
from .lowerings import amd_lowers
from .memory import Policy, policy_of

__all__ = ["BYTES", "address", "buffer_groups", "resource"]

BYTES = (1 << 31) - 1
BEYOND = "-2147483648"
"""An offset beyond every buffer."""

# Word 3 of a resource: 32-bit data (CDNA); with format 1 and bounds checked by the offset alone (RDNA 3).
_CDNA_FLAGS = 7 << 12 | 4 << 15
_RDNA_FLAGS = _CDNA_FLAGS | 1 << 24 | 3 << 28


def buffer_groups(
    e: FunctionContext, base: Value, offsets: Value, mask: Value | None, size: int, most: int = 16
) -> list[list[int]]:
    """The registers that one instruction moves: neighbors as offsets, base and mask allow, up to `most` bytes."""
    known, first = e.facts.of(offsets), e.facts.of(base)
    aligned = [gcd(first.divisibility[0], d * size) for d in known.divisibility]
    addresses = AxisInfo(known.contiguity, aligned, known.constancy)
    masks = None if mask is None else e.facts.of(mask)
    return vector_groups(e.layout(offsets), addresses, masks, size, most)


def resource(e: FunctionContext, base: Value) -> str:
    """The resource of 2 GB from the base on."""
    flags = _RDNA_FLAGS if e.module.warp_size == 32 else _CDNA_FLAGS
    name = "llvm.amdgcn.make.buffer.rsrc.p8.p1"
    operands = [("ptr addrspace(1)", e.scalar(base)), ("i16", "0"), ("i64", str(BYTES)), ("i32", str(flags))]
    return e.call("ptr addrspace(8)", name, *operands)


def address(e: FunctionContext, offset: str, size: int, mask: str | None) -> str:
    """The offset of an access in bytes; beyond the buffer where it is masked off."""
    scaled = offset if size == 1 else e.op(f"shl i32 {offset}, {size.bit_length() - 1}")
    return scaled if mask is None else e.op(f"select i1 {mask}, i32 {scaled}, i32 {BEYOND}")


def _words(ty: Type, count: int) -> tuple[int, int, str, str]:
    """Bits and number of the words of an access of `count` elements, its LLVM type, and the suffix of intrinsics."""
    bits = word_bits(ty, count)
    words = max(1, byte_width(ty) * 8 * count // bits)
    vector = f"i{bits}" if words == 1 else f"<{words} x i{bits}>"
    return bits, words, vector, f"i{bits}" if words == 1 else f"v{words}i{bits}"


def _mask_of(masks: Sequence[str] | None, register: int) -> str | None:
    return None if masks is None or masks[register] == "true" else masks[register]


class _Hints(NamedTuple):
    """The bits of an instruction's cache policy that LLVM sets for volatile and for non-temporal accesses."""

    volatile: int
    streams: int


# Bits: sc0 (RDNA: glc) 1, nt (slc) 2, dlc 4, sc1 16. LLVM's user guide for AMDGPU targets, memory models.
_CDNA_HINTS = (_Hints(1 | 16, 2), _Hints(1 | 16, 2))
_RDNA_HINTS = (_Hints(1 | 4, 2 | 4), _Hints(4, 1 | 2 | 4))
_VOLATILE = -(1 << 31)
"""The bit by which LLVM neither merges nor removes an access."""


def _cache_bits(e: FunctionContext, op: amdg.BufferLoad | amdg.BufferStore, stores: bool) -> str:
    """The cache policy of an access, by the same choice as for accesses by pointers (`memory.policy_of`)."""
    choice = policy_of(op, stores)
    hints = (_RDNA_HINTS if e.module.warp_size == 32 else _CDNA_HINTS)[stores]
    if choice is Policy.VOLATILE:
        return str(hints.volatile + _VOLATILE)
    return str(hints.streams if choice is Policy.STREAMS else 0)


@amd_lowers(amdg.BufferLoad)
def _buffer_load(e: FunctionContext, op: amdg.BufferLoad) -> None:
    ty = op.result.type
    size = byte_width(element_type(ty))
    groups = buffer_groups(e, op.ptr, op.offsets, op.mask, size)
    bits, words, vector, suffix = _words(ty, len(groups[0]))
    buffer, offsets = resource(e, op.ptr), e(op.offsets)
    masks = e(op.mask) if op.mask is not None else None
    parts, policy = [""] * len(offsets), _cache_bits(e, op, False)
    for group in groups:
        mask = _mask_of(masks, group[0])
        operands = [("ptr addrspace(8)", buffer), ("i32", address(e, offsets[group[0]], size, mask))]
        whole = e.call(vector, f"llvm.amdgcn.raw.ptr.buffer.load.{suffix}", *operands, ("i32", "0"), ("i32", policy))
        loaded = parts_of(e, vector, whole, words)
        if mask is not None and op.other is not None and constant_bits(op.other) != 0:
            other = e(op.other)
            others = pack(e, [other[r] for r in group], ty, bits)
            loaded = [e.op(f"select i1 {mask}, i{bits} {v}, i{bits} {w}") for v, w in zip(loaded, others)]
        for register, part in zip(group, unpack(e, loaded, ty, bits)):
            parts[register] = part
    e.bind(op.result, _with_copies(e, op.result, parts))


def _with_copies(e: FunctionContext, result: Value, parts: list[str]) -> list[str]:
    """All registers, of which those with copies of others were not loaded."""
    if "" not in parts or not isinstance(result.type, TensorType):
        return parts
    idle = e.layout(result).redundant()["register"]
    return [parts[r & ~idle] for r in range(len(parts))]


@amd_lowers(amdg.BufferStore)
def _buffer_store(e: FunctionContext, op: amdg.BufferStore) -> None:
    ty = op.value.type
    size = byte_width(element_type(ty))
    groups = buffer_groups(e, op.ptr, op.offsets, op.mask, size)
    bits, _, vector, suffix = _words(ty, len(groups[0]))
    buffer, offsets, values = resource(e, op.ptr), e(op.offsets), e(op.value)
    masks = e(op.mask) if op.mask is not None else None
    holder, policy = first_holder(e, op.offsets.type), _cache_bits(e, op, True)
    for group in groups:
        mask = _mask_of(masks, group[0])
        if holder is not None:
            mask = holder if mask is None else e.op(f"and i1 {holder}, {mask}")
        _, whole = vector_of(e, f"i{bits}", pack(e, [values[r] for r in group], ty, bits))
        operands = [(vector, whole), ("ptr addrspace(8)", buffer)]
        operands += [("i32", address(e, offsets[group[0]], size, mask)), ("i32", "0"), ("i32", policy)]
        e.call_void(f"llvm.amdgcn.raw.ptr.buffer.store.{suffix}", *operands)
