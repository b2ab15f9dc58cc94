"""Loads from and stores to global memory: as many neighbours at once as addresses and masks allow, up to 16 bytes.

    tt.load %p, %m, %o         mov.b32 $0, …; @$5 ld.global.v4.b32 {$0, $1, $2, $3}, [$4];

What one thread holds of a row, side by side in memory, is moved by one instruction (`analysis/axis_info` knows what is
contiguous, aligned, and masked alike; the layout which registers hold it). With a mask, the instruction has a
predicate: threads that are masked off touch no memory and branch nowhere; LLVM cannot say that, so it is written as
PTX. Without one it is LLVM's own load or store, whose address LLVM folds into the instruction.

Where several threads hold the same element, all load it, but only one stores it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...analysis.global_access import VECTOR_BYTES
from ...analysis.global_access import vector_groups as groups_of
from ...dialects import tt
from ...dialects.tt_types import CacheModifier, CachePolicy, EvictionPolicy, PointerType
from ...dialects.ttg_maps import linear_layout_of
from ...ir import TensorType, Type, Value, element_type
from ...ir.remarks import remark
from ...layout.views import registers_in
from ...support import UnsupportedOperation
from ...support.dataclasses import dataclass
from .context import FunctionContext, elementwise, lowers
from .packing import constant_bits, pack, unpack, word_bits
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
    masks = {"lane": 31, "warp": e.num_warps - 1, "block": e.module.num_ctas - 1}
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


@dataclass(frozen=True)
class _Words:
    """`count` words of `bits` each at an address; `hints` are the qualifiers behind `ld` or `st`."""

    bits: int
    count: int
    hints: str
    policy: str | None  # an operand: what createpolicy made

    @property
    def type(self) -> str:
        """The LLVM type of the access."""
        return f"i{self.bits}" if self.count == 1 else f"<{self.count} x i{self.bits}>"

    @property
    def register(self) -> str:
        """The type of a register for a word; there is none of 8 bits."""
        return f"i{max(16, self.bits)}"

    @property
    def constraint(self) -> str:
        """How inline PTX names it."""
        return {16: "h", 32: "r", 64: "l"}[max(16, self.bits)]

    @property
    def suffix(self) -> str:
        """`.v4.b32`"""
        return f"{f'.v{self.count}' if self.count > 1 else ''}.b{self.bits}"

    @property
    def alignment(self) -> int:
        """Bytes."""
        return self.bits * self.count // 8


_LOAD_MODIFIERS = (CacheModifier.none, CacheModifier.ca, CacheModifier.cg, CacheModifier.cs, CacheModifier.cv)
_STORE_MODIFIERS = (CacheModifier.none, CacheModifier.wb, CacheModifier.cg, CacheModifier.cs, CacheModifier.wt)


def _words(e: FunctionContext, op: Any, ty: Type, count: int, modifiers: Sequence[CacheModifier]) -> _Words:
    """The access of `count` elements, and its cache modifiers."""
    bits = word_bits(ty, count)
    words = max(1, byte_width(ty) * 8 * count // bits)
    policy = op.cachePolicy
    if getattr(op, "isVolatile", False):
        return _Words(bits, words, ".volatile.global", None)  # hints do not go with it
    if not isinstance(policy, CachePolicy):
        return _Words(bits, words, "", None)
    cache, eviction = policy.cache_modifier, policy.eviction_policy
    if cache not in modifiers:
        raise UnsupportedOperation(op, f"cannot have the cache modifier {cache.name}")
    hints, made = ".global", None
    if cache is not CacheModifier.none:
        hints += f".{cache.name}"
    if eviction is not EvictionPolicy.evict_normal:
        if cache is CacheModifier.none:
            hints += f".L1::{eviction.name}"
        if e.module.capability >= 80:
            hints += ".L2::cache_hint"
            made = e.asm(f"createpolicy.fractional.L2::{eviction.name}.b64 $0, 1.0;", "=l", [], "i64", False)
    return _Words(bits, words, "" if hints == ".global" else hints, made)


def _load_words(e: FunctionContext, words: _Words, address: str, mask: str | None, others: list[str]) -> list[str]:
    """Load; `others`, decimal numbers or operands, are what the words are where the mask is not set."""
    n = words.count
    if mask is None and not words.hints:
        whole = e.op(f"load {words.type}, ptr addrspace(1) {address}, align {words.alignment}")
        return [whole] if n == 1 else [e.op(f"extractelement {words.type} {whole}, i32 {i}") for i in range(n)]
    constraints, operands = [f"={words.constraint}"] * n + ["l"], [("ptr addrspace(1)", address)]
    targets = ", ".join(f"${i}" for i in range(n))
    target = f"{{{targets}}}" if n > 1 else targets
    lines = []
    if mask is not None:
        for i, other in enumerate(others):
            lines.append(f"mov.b{max(16, words.bits)} ${i}, {other if other.isdigit() else f'${n + len(operands)}'};")
            if not other.isdigit():
                constraints.append(words.constraint)
                operands.append((words.register, other))
    predicate = _predicate(mask, n, constraints, operands)
    line = f"{predicate}ld{words.hints or '.global'}{words.suffix} {target}, [${n}]"
    lines.append(line + _hint(words, n, constraints, operands) + ";")
    struct = words.register if n == 1 else f"{{ {', '.join([words.register] * n)} }}"
    result = e.asm("\n\t".join(lines), ",".join(constraints), operands, struct, attributes="")
    parts = [result] if n == 1 else e.fields(struct, result, n)
    return parts if words.bits >= 16 else [e.op(f"trunc i16 {v} to i8") for v in parts]


def _predicate(mask: str | None, results: int, constraints: list[str], operands: list[tuple[str, str]]) -> str:
    if mask is None:
        return ""
    constraints.append("b")
    operands.append(("i1", mask))
    return f"@${results + len(operands) - 1} "


def _hint(words: _Words, results: int, constraints: list[str], operands: list[tuple[str, str]]) -> str:
    if words.policy is None:
        return ""
    constraints.append("l")
    operands.append(("i64", words.policy))
    return f", ${results + len(operands) - 1}"


def _store_words(e: FunctionContext, words: _Words, address: str, values: Sequence[str], mask: str | None) -> None:
    n = words.count
    if mask is None and not words.hints:
        whole = values[0]
        if n > 1:
            whole = "poison"
            for i, v in enumerate(values):
                whole = e.op(f"insertelement {words.type} {whole}, i{words.bits} {v}, i32 {i}")
        e.stmt(f"store {words.type} {whole}, ptr addrspace(1) {address}, align {words.alignment}")
        return
    if words.bits < 16:
        values = [e.op(f"zext i8 {v} to i16") for v in values]
    operands = [("ptr addrspace(1)", address), *((words.register, v) for v in values)]
    constraints = ["l", *[words.constraint] * n]
    sources = ", ".join(f"${i + 1}" for i in range(n))
    source = f"{{{sources}}}" if n > 1 else sources
    predicate = _predicate(mask, 0, constraints, operands)
    line = f"{predicate}st{words.hints or '.global'}{words.suffix} [$0], {source}"
    e.asm(line + _hint(words, 0, constraints, operands) + ";", ",".join(constraints), operands, attributes="")


# -- operations ---------------------------------------------------------------------------------------------------


def _check(op: Any) -> None:
    pointer = element_type(op.ptr.type)
    if not isinstance(pointer, PointerType) or isinstance(pointer.pointee, TensorType) or pointer.address_space != 1:
        raise UnsupportedOperation(op, f"through {op.ptr.type} is not supported on NVIDIA GPUs")


@lowers(tt.Load)
def _load(e: FunctionContext, op: tt.Load) -> None:
    _check(op)
    e.bind(op.result, load_parts(e, op, op.ptr, op.result.type))


def load_parts(e: FunctionContext, op: Any, ptr: Value, result: Type) -> list[str]:
    """The parts of what stands at the addresses `ptr`, where the mask of `op` is set; else of its `other`."""
    groups = vector_groups(e, ptr, op.mask)
    _remark_on(op, groups)
    words = _words(e, op, result, len(groups[0]), _LOAD_MODIFIERS)
    addresses, masks = e(ptr), e(op.mask) if op.mask is not None else None
    parts = [""] * len(addresses)
    for group in groups:
        first = group[0]
        mask = None if masks is None or masks[first] == "true" else masks[first]
        others = _others(e, op.other, group, words) if mask is not None else []
        loaded = _load_words(e, words, addresses[first], mask, others)
        for register, part in zip(group, unpack(e, loaded, result, words.bits)):
            parts[register] = part
    if isinstance(result, TensorType) and "" in parts:  # copies of what was loaded
        layout = linear_layout_of(result)
        same = registers_in(layout, layout) or []
        parts = [parts[r] for r in same]
    return parts


def _others(e: FunctionContext, other: Value | None, group: Sequence[int], words: _Words) -> list[str]:
    """What the words of a group are where nothing is loaded: zero, unless something is said."""
    bits = 0 if other is None else constant_bits(other)
    if bits is not None:
        size = words.bits * words.count // len(group)
        return [str(sum(bits << i for i in range(0, words.bits, size)))] * words.count
    assert other is not None
    parts = e(other)
    packed = pack(e, [parts[r] for r in group], other.type, words.bits)
    return packed if words.bits >= 16 else [e.op(f"zext i8 {v} to i16") for v in packed]


@lowers(tt.Store)
def lower_store(e: FunctionContext, op: tt.Store) -> None:
    """Store where the mask is set, in one of the threads that hold the same element."""
    _check(op)
    ty = op.value.type
    groups = vector_groups(e, op.ptr, op.mask)
    _remark_on(op, groups)
    words = _words(e, op, ty, len(groups[0]), _STORE_MODIFIERS)
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
            _store_words(e, words, addresses[group[0]], packed, mask)
        groups = left
