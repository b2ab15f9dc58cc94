"""The operations of the tt dialect that touch memory through pointers: loads, stores, atomics, block pointers."""

from __future__ import annotations

from ..ir import (
    PURE,
    READ,
    WRITE,
    Access,
    AnyAttr,
    Attribute,
    Bool,
    Flag,
    I32Array,
    Memory,
    Op,
    Operand,
    OptionalOperand,
    PlainLoad,
    PointerAccess,
    Result,
    Type,
    Value,
    VariadicOperand,
    i1,
    with_element,
)
from . import tt_checks
from .tt_types import (
    AtomicField,
    MemSemantic,
    MemSyncScope,
    OptionalPaddingField,
    ScopeField,
    SemField,
    pointee_type,
)

__all__ = [
    "Advance",
    "AtomicCAS",
    "AtomicLoad",
    "AtomicPoll",
    "AtomicRMW",
    "AtomicStore",
    "GridDependencyLaunchDependents",
    "GridDependencyWait",
    "Load",
    "MakeTensorPtr",
    "Store",
]

_ACCESS = "former<CachePolicy>($cachePolicy) attr-dict `:` "


class _PointerResult:
    """Mixin: the result has the pointee type of operand 0."""

    __slots__ = ()

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The pointee type in the shape of the pointer."""
        return [pointee_type(operands[0].type)]


class _Ordered:
    """Mixin: an atomic write, which releases earlier writes of its CTA if `sem` is release or acq_rel."""

    __slots__ = ()

    sem: MemSemantic

    @property
    def releases(self) -> bool:
        """True with the semantics release or acq_rel."""
        return self.sem in (MemSemantic.release, MemSemantic.acq_rel)


class Load(
    PlainLoad,
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
    accesses = (Access("ptr", READ, Memory.GLOBAL),)

    ptr: Operand
    mask: OptionalOperand
    other: OptionalOperand
    boundaryCheck: I32Array = ()
    padding: OptionalPaddingField = None
    cachePolicy: AnyAttr = None
    isVolatile: Bool = False
    result: Result

    @property
    def effects(self) -> int:
        """A volatile load must not be moved or removed."""
        return READ | WRITE if self.isVolatile else READ


class Store(
    PointerAccess,
    Op,
    name="tt.store",
    traits=WRITE,
    assembly="$ptr `,` $value (`,` $mask^)? " + _ACCESS + "type($ptr)",
):
    """*ptr = value where `mask`; with `ignore_cta` each CTA of a cluster stores, replicated or not."""

    verify_op = tt_checks.store
    accesses = (Access("ptr", WRITE, Memory.GLOBAL),)

    ptr: Operand
    value: Operand
    mask: OptionalOperand
    boundaryCheck: I32Array = ()
    cachePolicy: AnyAttr = None
    ignore_cta: Flag = False


class AtomicLoad(
    PointerAccess,
    _PointerResult,
    Op,
    name="tt.atomic_load",
    traits=READ | WRITE,
    assembly="$sem `,` $scope `,` $ptr (`,` $mask^)? attr-dict `:` functional-type(operands, $result)",
):
    """result = *ptr where `mask`, atomic; an acquire synchronizes with a release of the same location."""

    verify_op = tt_checks.atomic_load
    accesses = (Access("ptr", READ, Memory.GLOBAL),)
    atomic = True
    vectorized = False

    ptr: Operand
    mask: OptionalOperand
    sem: SemField
    scope: ScopeField
    result: Result


class AtomicStore(
    _Ordered,
    PointerAccess,
    Op,
    name="tt.atomic_store",
    traits=WRITE,
    assembly="$sem `,` $scope `,` $ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr)",
):
    """*ptr = value where `mask`, atomic."""

    verify_op = tt_checks.atomic_store
    accesses = (Access("ptr", WRITE, Memory.GLOBAL),)
    atomic = True
    vectorized = False

    ptr: Operand
    value: Operand
    mask: OptionalOperand
    sem: SemField
    scope: ScopeField


class AtomicPoll(
    PointerAccess,
    Op,
    name="tt.atomic_poll",
    traits=READ | WRITE,
    assembly="$sem `,` $scope `,` $ptr `,` $expected (`timeout` $timeout^)? attr-dict"
    " `:` qualified(type($ptr)) `,` type($expected) `->` type($result)",
):
    """result = whether *ptr == expected was observed, polling until then or for `timeout` nanoseconds.

    Each element is read at least once; all share one timeout. With the order acquire, what was written before the
    value observed is visible after the poll.
    """

    verify_op = tt_checks.atomic_poll
    accesses = (Access("ptr", READ, Memory.GLOBAL),)
    atomic = True
    vectorized = False

    ptr: Operand
    expected: Operand
    timeout: OptionalOperand
    sem: SemField
    scope: ScopeField
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """An i1 for each element."""
        return [with_element(operands[1].type, i1)]


class GridDependencyWait(Op, name="tt.grid_dependency_wait", traits=READ | WRITE, assembly="attr-dict"):
    """Wait until the grids that this one depends on have completed and their writes are visible."""


class GridDependencyLaunchDependents(
    Op, name="tt.grid_dependency_launch_dependents", traits=WRITE, assembly="attr-dict"
):
    """Let dependent grids launch, once all programs of this grid have executed this or ended."""


class AtomicRMW(
    _Ordered,
    PointerAccess,
    _PointerResult,
    Op,
    name="tt.atomic_rmw",
    traits=READ | WRITE,
    assembly="$atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict"
    " `:` functional-type(operands, $result)",
):
    """result = *ptr; *ptr = op(*ptr, val), atomic, where `mask`."""

    verify_op = tt_checks.atomic_rmw
    accesses = (Access("ptr", READ | WRITE, Memory.GLOBAL),)
    atomic = True

    atomic_rmw_op: AtomicField
    ptr: Operand
    val: Operand
    mask: OptionalOperand
    sem: SemField = MemSemantic.acq_rel
    scope: ScopeField = MemSyncScope.gpu
    result: Result


class AtomicCAS(
    _Ordered,
    PointerAccess,
    _PointerResult,
    Op,
    name="tt.atomic_cas",
    traits=READ | WRITE,
    assembly="$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)",
):
    """result = *ptr; if result == cmp: *ptr = val, atomic."""

    verify_op = tt_checks.atomic_cas
    accesses = (Access("ptr", READ | WRITE, Memory.GLOBAL),)
    atomic = True

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
    """result = a block pointer to the tile at `offsets` of the tensor at `base`.

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
    """result = the block pointer advanced by `offsets` elements in each dimension."""

    verify_op = tt_checks.advance

    ptr: Operand
    offsets: VariadicOperand
    result: Result
