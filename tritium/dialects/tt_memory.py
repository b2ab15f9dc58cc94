"""The operations of the tt dialect that touch memory: loads, stores, atomics, block pointers, descriptors."""

from __future__ import annotations

from ..ir import (
    PURE,
    READ,
    WRITE,
    Attribute,
    Bool,
    I32Array,
    Op,
    Operand,
    OptionalOperand,
    Result,
    Type,
    Value,
    VariadicOperand,
)
from . import tt_checks
from .tt_types import (
    AtomicField,
    CacheField,
    CacheModifier,
    EvictField,
    EvictionPolicy,
    MemSemantic,
    MemSyncScope,
    PaddingField,
    PaddingOption,
    ScopeField,
    SemField,
    pointee_type,
)

__all__ = [
    "Advance",
    "AtomicCAS",
    "AtomicRMW",
    "DescriptorLoad",
    "DescriptorStore",
    "Load",
    "MakeTensorDescriptor",
    "MakeTensorPtr",
    "Store",
]

_ACCESS = "(`cacheModifier` `=` $cache^)? (`evictionPolicy` `=` $evict^)? attr-dict `:` "


class _PointerResult:
    """Mixin: the result is what operand 0 points to."""

    __slots__ = ()

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The pointee type in the shape of the pointer."""
        return [pointee_type(operands[0].type)]


class Load(
    _PointerResult,
    Op,
    name="tt.load",
    traits=READ,
    assembly="$ptr (`,` $mask^)? (`,` $other^)? " + _ACCESS + "type($ptr)",
):
    """result = *ptr where `mask`, `other` elsewhere (undefined without one).

    Block pointers carry `boundaryCheck` (dimensions) and `padding` instead of a mask.
    """

    verify_op = tt_checks.load

    ptr: Operand
    mask: OptionalOperand
    other: OptionalOperand
    boundaryCheck: I32Array = ()
    padding: PaddingField = None
    cache: CacheField = CacheModifier.none
    evict: EvictField = EvictionPolicy.evict_normal
    isVolatile: Bool = False
    result: Result

    @property
    def effects(self) -> int:
        """A volatile load must not be moved or removed."""
        return READ | WRITE if self.isVolatile else READ


class Store(
    Op,
    name="tt.store",
    traits=WRITE,
    assembly="$ptr `,` $value (`,` $mask^)? " + _ACCESS + "type($ptr)",
):
    """*ptr = value where `mask`."""

    verify_op = tt_checks.store

    ptr: Operand
    value: Operand
    mask: OptionalOperand
    boundaryCheck: I32Array = ()
    cache: CacheField = CacheModifier.none
    evict: EvictField = EvictionPolicy.evict_normal


class AtomicRMW(
    _PointerResult,
    Op,
    name="tt.atomic_rmw",
    traits=READ | WRITE,
    assembly="$atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict"
    " `:` functional-type(operands, $result)",
):
    """result = *ptr; *ptr = op(*ptr, val) in one step, where `mask`."""

    verify_op = tt_checks.atomic_rmw

    atomic_rmw_op: AtomicField
    ptr: Operand
    val: Operand
    mask: OptionalOperand
    sem: SemField = MemSemantic.acq_rel
    scope: ScopeField = MemSyncScope.gpu
    result: Result


class AtomicCAS(
    _PointerResult,
    Op,
    name="tt.atomic_cas",
    traits=READ | WRITE,
    assembly="$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)",
):
    """result = *ptr; if it equals `cmp`, *ptr = val, in one step."""

    verify_op = tt_checks.atomic_cas

    ptr: Operand
    cmp: Operand
    val: Operand
    sem: SemField = MemSemantic.acq_rel
    scope: ScopeField = MemSyncScope.gpu
    result: Result


class MakeTensorPtr(
    Op,
    name="tt.make_tensor_ptr",
    traits=PURE,
    assembly="$base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[` $offsets `]` attr-dict `:` type($result)",
):
    """result = a pointer to the tile at `offsets` of the tensor at `base` (a block pointer).

    `shape` and `strides` are i64 elements of the whole tensor; `order` lists the dimensions, fastest first.
    """

    verify_op = tt_checks.make_tensor_ptr

    base: Operand
    shape: VariadicOperand
    strides: VariadicOperand
    offsets: VariadicOperand
    order: I32Array
    result: Result


class Advance(Op, name="tt.advance", traits=PURE, assembly="$ptr `,` `[` $offsets `]` attr-dict `:` type($result)"):
    """result = the block pointer moved by `offsets` elements in each dimension."""

    verify_op = tt_checks.advance

    ptr: Operand
    offsets: VariadicOperand
    result: Result


class MakeTensorDescriptor(
    Op,
    name="tt.make_tensor_descriptor",
    traits=PURE,
    assembly="$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)",
):
    """result = a descriptor of the tensor at `base`: `shape` in i32 elements, `strides` in i64 elements."""

    verify_op = tt_checks.make_tensor_descriptor

    base: Operand
    shape: VariadicOperand
    strides: VariadicOperand
    padding: PaddingField = PaddingOption.pad_zero
    result: Result


class DescriptorLoad(
    Op,
    name="tt.descriptor_load",
    traits=READ,
    assembly="$desc `[` $indices `]` " + _ACCESS + "type($desc) `->` type($result)",
):
    """result = the block at `indices`; elements outside read as the descriptor's padding."""

    verify_op = tt_checks.descriptor_load

    desc: Operand
    indices: VariadicOperand
    cache: CacheField = CacheModifier.none
    evict: EvictField = EvictionPolicy.evict_normal
    result: Result


class DescriptorStore(
    Op,
    name="tt.descriptor_store",
    traits=WRITE,
    assembly="$desc `[` $indices `]` `,` $src attr-dict `:` type($desc) `,` type($src)",
):
    """The block at `indices` = src; elements outside are dropped."""

    verify_op = tt_checks.descriptor_store

    desc: Operand
    src: Operand
    indices: VariadicOperand
