"""Predicate operations: they have no side effect where a condition is false.

    tt.load %p                                    tt.load %p, (splat %c)
    tt.load %p, %m                          =>    tt.load %p, (splat %c & %m)
    scf.if %x { … }                               scf.if (%c & %x) { … }
    tt.call @f()                                  scf.if %c { tt.call @f() }

Where the condition is false, results are undefined and unused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....dialects import arith, llvm, scf, tt, ttg, ttng, ub
from ....ir import ORDERING, Builder, DenseArrayAttr, IfLike, Operation, TensorType, UnitAttr, Value, i1, i32, is_pure

__all__ = ["predicate"]

HARMLESS = (
    llvm.Assume,
    ttg.LocalLoad,
    ttg.LocalGather,
    ttg.LocalStore,
    ttng.TMEMAlloc,
    ttng.TMEMLoad,
    ttng.TensormapCreate,
    ttng.TensormapFenceproxyAcquire,
)
"""Operations that may execute past the last iteration: they touch only memory that the iteration would own."""


def predicate(op: Any, condition: Value, in_prologue: bool = False) -> Operation:
    """Predicate `op` on `condition`, an i1 defined before it; returns the operation that replaces it.

    The replacement has the results of `op`, whose uses are updated. `in_prologue`: it runs once, before a loop, and the
    condition is nearly always true: copies then write zeros where it is false. ptxas makes a branch around each
    predicated copy outside of loops, and a register for the size of all that are masked.
    """
    own = _PREDICATES.get(op.__class__)
    if in_prologue and op.__class__ is ttg.AsyncCopyGlobalToLocal:
        own = _by_pointers("src")
    if own is None and (op.traits & ORDERING or isinstance(op, HARMLESS) or is_pure(op)):
        return op  # type: ignore[no-any-return]
    b = Builder(op.parent, op, op.loc)
    if isinstance(op, IfLike) and _else_is_pure(op):
        op.set_condition(b.add(arith.AndI(condition, op.condition)))
        return op
    if own is None:
        return _in_branch(op, condition, b)
    own(op, condition, b)
    return op  # type: ignore[no-any-return]


def _else_is_pure(op: Any) -> bool:
    return op.else_block is None or all(is_pure(inner) for inner in op.else_block if inner is not op.else_block.last)


def _in_branch(op: Any, condition: Value, b: Builder) -> Operation:
    """Wrap an operation in an `scf.if`, with undefined results where it does not run."""
    types = [r.type for r in op.results]
    branch = b.insert(scf.If.build(condition, types, with_else=bool(types)))
    for result, value in zip(branch.results, op.results):
        result.hint = value.hint
        value.replace_all_uses_with(result)
    op.detach()
    inside = Builder(branch.then_block, None, op.loc)
    inside.insert(op)
    inside.insert(scf.Yield(list(op.results)))
    if branch.else_block is not None:
        outside = Builder(branch.else_block, None, op.loc)
        outside.insert(scf.Yield([outside.add(ub.Poison(result=ty)) for ty in types]))
    return branch


# -- operations with a mask -------------------------------------------------------------------------------------------


def _and(b: Builder, condition: Value, mask: Value | None, like: Any) -> Value:
    """`condition`, broadcast to a tensor like `like`, and `mask`."""
    if isinstance(like, TensorType):
        condition = b.add(tt.Splat(condition, result=TensorType(like.shape, i1, like.encoding)))
    return condition if mask is None else b.add(arith.AndI(condition, mask))


def _by_pointers(pointers: str) -> Callable[[Any, Value, Builder], None]:
    def with_mask(op: Any, condition: Value, b: Builder) -> None:
        _set_optional(op, "mask", _and(b, condition, op.mask, getattr(op, pointers).type))

    return with_mask


def _copy(op: ttg.AsyncCopyGlobalToLocal, condition: Value, b: Builder) -> None:
    """Past the last iteration nothing is copied, not even the zeros of masked elements: a predicate, and no mask."""
    op.attributes[op.PREDICATED] = UnitAttr()
    _set_optional(op, "mask", _and(b, condition, op.mask, op.src.type))


def _by_scalar(op: Any, condition: Value, b: Builder) -> None:
    _set_optional(op, "pred", _and(b, condition, op.pred, None))


def _set_optional(op: Any, name: str, value: Value) -> None:
    """Set the optional operand `name`, present or not."""
    fields = op.operand_fields
    at = next(i for i, field in enumerate(fields) if field.name == name)
    if op.segmented:
        sizes = list(op.attributes["operandSegmentSizes"].values)
        start, size = sum(sizes[:at]), sizes[at]
        sizes[at] = 1
        op.attributes["operandSegmentSizes"] = DenseArrayAttr(tuple(sizes), i32)
    else:
        following = len(fields) - 1 - at  # all others are single
        start = at if fields[at].arity == "?" else len(op.operands) - 1 - following
        size = len(op.operands) - following - start
    op.set_operands([*op.operands[:start], value, *op.operands[start + size :]])


_PREDICATES: dict[type, Callable[[Any, Value, Builder], None]] = {
    tt.Load: _by_pointers("ptr"),
    tt.Store: _by_pointers("ptr"),
    tt.AtomicRMW: _by_pointers("ptr"),
    ttg.AsyncCopyGlobalToLocal: _copy,
    ttng.BarrierExpect: _by_scalar,
    ttng.WaitBarrier: _by_scalar,
    ttng.ArriveBarrier: _by_scalar,
    ttng.AsyncTMACopyGlobalToLocal: _by_scalar,
    ttng.AsyncTMAGather: _by_scalar,
    ttng.TMEMStore: _by_scalar,
    ttng.TCGen5MMA: _by_scalar,
    ttng.TCGen5MMAScaled: _by_scalar,
    ttng.TCGen5Commit: _by_scalar,
}
