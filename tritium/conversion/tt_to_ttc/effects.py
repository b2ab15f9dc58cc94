"""Operations with an effect or a scalar result: stores, scalar loads, atomics, assertions, prints."""

from __future__ import annotations

from typing import Any

from ...dialects import arith, scf, tt, ttc
from ...ir import TensorType, Value, VectorType, element_type, i64
from .access import load_at
from .buffers import TileBuffer
from .lanes import Index, Uniform
from .lowering import TileLowering, lowers

__all__: list[str] = []


@lowers(tt.Store)
def _store(lowering: TileLowering, op: tt.Store) -> None:
    lowering.store(op)


@lowers(ttc.Alloc)
def _alloc(lowering: TileLowering, op: ttc.Alloc) -> None:
    """Private memory that the tile program asks for, allocated at the start of the function."""
    lowering.ev.scalars[op.result] = lowering.alloc.place(ttc.Alloc(result=op.result.type))


@lowers(ttc.Address)
def _address(lowering: TileLowering, op: ttc.Address) -> None:
    scalars = lowering.ev.scalars
    scalars[op.result] = lowering.ev.w.place(ttc.Address(scalars[op.buffer], scalars[op.offset]))


@lowers(tt.Load)
def _scalar_load(lowering: TileLowering, op: tt.Load) -> None:
    """A load through one pointer (loads of tiles are inlined or buffered)."""
    lane: Any = load_at(lowering.ev, op, ())
    lowering.ev.scalars[op.result] = lane.value


@lowers(tt.Unsplat)
def _unsplat(lowering: TileLowering, op: tt.Unsplat) -> None:
    lowering.ev.scalars[op.result] = lowering.element(op.src)


@lowers(tt.AtomicRMW, tt.AtomicCAS, tt.AtomicLoad, tt.AtomicStore, tt.AtomicPoll)
def _atomic(lowering: TileLowering, op: Any) -> None:
    """One element after another; an element that the mask excludes is not touched, and its result is 0."""
    ev = lowering.ev
    result_type = op.results[0].type if op.results else None
    output = None
    if isinstance(result_type, TensorType) and op.result.users:
        output = TileBuffer.allocate(lowering.alloc, result_type)
    mask_value, timeout = getattr(op, "mask", None), getattr(op, "timeout", None)
    values = [v for v in op.operands if v is not mask_value and v is not timeout]
    deadline = None if timeout is None else _deadline(lowering, timeout)

    def body(index: Index) -> None:
        lanes: list[Any] = [ev.at(v, index) for v in values]
        mask: Any = None if mask_value is None else ev.at(mask_value, index)
        if ev.sanitizer is not None:
            ev.sanitizer.check(ev, op, lanes[0], mask, index, "atomic", ev.w.depth)
        operands = [lane.value for lane in lanes] + ([] if deadline is None else [_left(lowering, deadline)])
        old = _one_atomic(lowering, op, operands, mask)
        if output is not None:
            output.write(ev.w, index, Uniform(old, ev.w.depth), 1)
        elif result_type is not None and not isinstance(result_type, TensorType):
            ev.scalars[op.result] = old

    lowering.elementwise(list(op.operands), body, lanes=False)
    if output is not None:
        ev.buffers[op.result] = output


def _deadline(lowering: TileLowering, timeout: Value) -> Value:
    """When a poll that begins now ends: all its elements share one timeout."""
    w = lowering.ev.w
    return w.place(arith.AddI(w.place(ttc.Clock(result=i64)), lowering.ev.scalars[timeout]))


def _left(lowering: TileLowering, deadline: Value) -> Value:
    w = lowering.ev.w
    return w.place(arith.MaxSI(w.place(arith.SubI(deadline, w.place(ttc.Clock(result=i64)))), w.number(0, i64)))


def _one_atomic(lowering: TileLowering, op: Any, operands: list[Value], mask: Any) -> Any:
    """The operation on one element, where the mask holds; its result, if it has any."""
    w = lowering.ev.w
    elements = [element_type(r.type) for r in op.results]
    attributes = {k: v for k, v in op.attributes.items() if k != "operandSegmentSizes"}
    atomic = type(op).create(operands, elements, attributes, loc=op.loc)
    if mask is None:
        return w.place(atomic)
    zeros = [w.number(0, element, w.depth) for element in elements]
    branch = w.branch(mask.value, elements, with_else=bool(elements))
    branch.then_block.append(atomic)
    branch.then_block.append(scf.Yield(list(atomic.results)))
    if branch.else_block is not None:
        branch.else_block.append(scf.Yield(zeros))
    return branch.results[0] if elements else None


@lowers(tt.Assert)
def _assert(lowering: TileLowering, op: tt.Assert) -> None:
    ev = lowering.ev

    def body(index: Index) -> None:
        lane: Any = ev.at(op.condition, index)
        ev.w.loc = op.loc
        if isinstance(lane, Uniform):
            ev.w.place(ttc.Assert(lane.value, op.message))
            return
        ev.w.place(ttc.Assert(_all_true(lowering, ev.w.vector(lane, ev.lanes)), op.message))

    lowering.elementwise([op.condition], body)


def _all_true(lowering: TileLowering, v: Value) -> Value:
    """The conjunction of the lanes of a vector of i1."""
    w = lowering.ev.w
    assert isinstance(v.type, VectorType)
    width = v.type.numel
    while width > 1:
        half = width // 2
        low = w.place(ttc.Shuffle(v, v, tuple(range(half))))
        high = w.place(ttc.Shuffle(v, v, tuple(range(half, width))))
        v, width = w.place(arith.AndI(low, high)), half
    return w.place(ttc.Extract(v, 0)) if isinstance(v.type, VectorType) else v


@lowers(tt.Print)
def _print(lowering: TileLowering, op: tt.Print) -> None:
    pointers, shapes, capacities, types = [], [], [], []
    ev = lowering.ev
    for v, shown in zip(op.args, op.shown()):
        shape = v.type.shape if isinstance(v.type, TensorType) else ()
        buffer = lowering.materialized(v) if shape else _scalar_buffer(lowering, v)
        pointers.append(ev.w.place(ttc.Address(buffer.base, ev.w.number(0))))
        shapes += [len(shape), *shown]
        capacities += [len(shape), *shape]
        types.append(str(element_type(v.type)).replace(" ", ""))
    larger = tuple(capacities) if capacities != shapes else None
    names = " ".join(types)
    print_op = ttc.Print(op.prefix, op.hex, pointers, tuple(shapes), names, op.isSigned, larger, loc=op.loc)
    if "tt.format" in op.attributes:
        print_op.attributes["tt.format"] = op.attributes["tt.format"]
    ev.w.place(print_op)


def _scalar_buffer(lowering: TileLowering, v: Value) -> TileBuffer:
    ev = lowering.ev
    buffer = TileBuffer.allocate(lowering.alloc, TensorType((1,), v.type))
    zero = Uniform(ev.w.number(0), 0)
    scalar = ev.at(v, ()) if not isinstance(v.type, TensorType) else Uniform(lowering.element(v), 0)
    buffer.write(ev.w, (zero,), scalar, 1)
    return buffer
