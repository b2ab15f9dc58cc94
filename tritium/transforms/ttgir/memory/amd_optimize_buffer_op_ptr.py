"""amd-optimize-buffer-op-ptr: Advance the base of a buffer instead of the offsets of all lanes.

    scf.for … iter_args(%o = %first) {                  scf.for … iter_args(%o = %first, %b = %a) {
      %x = amdg.buffer_load %a[%o]                  =>    %x = amdg.buffer_load %b[%first]
      %p = arith.addi %o, dense<64>                       %p = arith.addi %o, dense<64>
      scf.yield %p                                        %c = tt.addptr %b, 64
    }                                                     scf.yield %p, %c
                                                        }

The base is one value of a wave, in scalar registers; offsets are a value of each lane, in vector registers. What the
loop adds to the offsets must be the same for all elements, and the base invariant in the loop. An access of the sum
that the iteration computes uses the base advanced at the top of the iteration.

The hardware adds offsets of 32 bits in bytes without a carry into the address, and checks them against the bounds of
the buffer. Both forms access the same addresses where no offset wraps around: the step is not negative and the last
offset fits into 32 bits, or the step is negative and no offset falls below zero. `analysis.range_analysis` proves that;
other loops stay.
"""

from __future__ import annotations

from typing import NamedTuple

from ....analysis.range_analysis import RangeAnalysis
from ....dialects import amdg, arith, tt
from ....dialects.constraints import bit_width
from ....dialects.tt_types import PointerType
from ....ir import (
    BlockArgument,
    Builder,
    CountedLoop,
    DenseElementsAttr,
    IntegerAttr,
    IntegerType,
    Operation,
    Value,
    constant_of,
    count,
    element_type,
    functions_of,
    may_change,
    pass_on,
)

__all__ = ["amd_optimize_buffer_op_ptr"]

_Buffer = amdg.BufferLoad | amdg.BufferStore | amdg.BufferLoadToLocal | amdg.BufferAtomicRMW | amdg.BufferAtomicCAS
_MAX_OFFSET = (1 << 32) - 1


@pass_on("function", statistics={"bases advanced": "buffer operations whose base a loop advances"})
def amd_optimize_buffer_op_ptr(op: Operation) -> bool:
    """Advance bases instead of offsets, in the loops of a function or of all functions of a module."""
    changed = 0
    for func in functions_of(op):
        loops = [loop for loop in func.walk() if isinstance(loop, CountedLoop)]
        if not loops or not any(isinstance(inner, _Buffer) for inner in func.walk()):
            continue
        ranges = RangeAnalysis(func)
        for loop in loops:
            changed += _advance(loop, ranges)
    count("bases advanced", changed)
    return changed > 0


class _Advance(NamedTuple):
    """A buffer operation, the carried offset `k`, and what each iteration adds to it; `sums`: it accesses the sum."""

    op: _Buffer
    k: int
    add: arith.AddI
    step: Value
    sums: bool


def _advance(loop: CountedLoop, ranges: RangeAnalysis) -> int:
    found = [a for op in loop.walk() if isinstance(op, _Buffer) and (a := _match(op, loop, ranges)) is not None]
    found = [a for a in found if may_change("amd-optimize-buffer-op-ptr", a.op)]
    if not found:
        return 0
    steps = [_scalar(loop, a) for a in found]
    inits = [loop.inits[a.k] for a in found]
    first = len(loop.inits)
    loop = loop.replace_with_additional_iter_args([a.op.ptr for a in found])
    yielded = loop.yielded[:first]
    for i, (a, step, init) in enumerate(zip(found, steps, inits)):
        base = loop.iter_args[first + i]
        top = loop.body.first if a.sums else loop.terminator
        b = Builder(loop.body, top, a.add.loc)
        following = b.add(tt.AddPtr(base, step))
        yielded.append(following)
        operands = {a.op.ptr: following if a.sums else base, a.op.offsets: init}
        a.op.set_operands([operands.get(v, v) for v in a.op.operands])
    loop.terminator.set_operands(yielded)
    return len(found)


def _match(op: _Buffer, loop: CountedLoop, ranges: RangeAnalysis) -> _Advance | None:
    """How a loop advances the offsets of a buffer operation; None where its base cannot advance instead."""
    offsets = op.offsets
    made = offsets.defining_op
    candidates = list(made.operands) if isinstance(made, arith.AddI) else [offsets]
    carried = next((v for v in candidates if _carried(v, loop) is not None), None)
    k = None if carried is None else _carried(carried, loop)
    if carried is None or k is None:
        return None
    add = loop.yielded[k].defining_op
    if not isinstance(add, arith.AddI) or carried not in add.operands or offsets not in (carried, add.results[0]):
        return None
    step = add.operands[1] if add.operands[0] is carried else add.operands[0]
    invariant = loop.is_defined_outside(op.ptr) and _is_uniform(step, loop)
    if not invariant or not _keeps_addresses(op.ptr, carried, step, ranges):
        return None
    return _Advance(op, k, add, step, sums=offsets is not carried)


def _carried(value: Value, loop: CountedLoop) -> int | None:
    """Which of the values that a loop carries `value` is, in its body."""
    if isinstance(value, BlockArgument) and value.owner is loop.body and value.index > 0:
        return value.index - 1
    return None


def _is_uniform(step: Value, loop: CountedLoop) -> bool:
    """Whether all elements of a step are one integer, that is defined before the loop or is its constant."""
    return _number(step) is not None or (
        isinstance(splat := step.defining_op, tt.Splat) and loop.is_defined_outside(splat.src)
    )


def _number(step: Value) -> int | None:
    attr = constant_of(step)
    if isinstance(attr, DenseElementsAttr) and len(set(attr.values)) == 1:
        return int(attr.values[0])
    return attr.value if isinstance(attr, IntegerAttr) else None


def _scalar(loop: CountedLoop, a: _Advance) -> Value:
    """The step as a scalar."""
    splat = a.step.defining_op
    if isinstance(splat, tt.Splat):
        return splat.src
    number, ty = _number(a.step), element_type(a.step.type)
    assert number is not None and isinstance(ty, IntegerType)
    made: Value = Builder(loop.parent, loop, a.add.loc).add(arith.Constant.of(number, ty))
    return made


def _keeps_addresses(base: Value, carried: Value, step: Value, ranges: RangeAnalysis) -> bool:
    """Whether no offset in bytes wraps around, from the first iteration to after the last."""
    offset, by = ranges.range_of(carried), ranges.range_of(step)
    assert isinstance(base.type, PointerType)
    size = max(1, bit_width(base.type.pointee) // 8)
    if offset is None or by is None:
        return False
    if by.smin >= 0:
        return (offset.umax + by.smax) * size <= _MAX_OFFSET
    return by.smax < 0 and offset.umin + by.smin >= 0 and offset.umax * size <= _MAX_OFFSET
