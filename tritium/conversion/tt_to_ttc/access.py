"""Loads and stores of global memory: contiguous vectors where addresses allow, else gather and scatter."""

from __future__ import annotations

from typing import Any

from ...dialects import arith, scf, tt, ttc
from ...ir import WRITE, Memory, TensorType, Type, Value, VectorType, accessed_values, element_type, i1, i8, i64
from .evaluate import Evaluator, evaluates
from .lanes import Guarded, Index, Lane, Strided, Uniform, Vec
from .read_prefetch import prefetch_reads

__all__ = ["Sanitizer", "load_at", "store_at"]


@evaluates(tt.Load)
def _load(ev: Evaluator, op: tt.Load, index: Index) -> Lane:
    return load_at(ev, op, index)


def _is_true(lane: Lane | None) -> bool:
    if not isinstance(lane, Uniform):
        return lane is None
    op = lane.value.defining_op
    return isinstance(op, arith.Constant) and op.splat_value() == 1


def load_at(ev: Evaluator, op: tt.Load, index: Index) -> Lane:
    """The lanes of a load at `index`; addresses that the mask excludes are never touched."""
    staged = ev.staged.get(op)
    ptr = ev.at(op.ptr, index) if staged is None else staged.at(ev, index)
    mask = None if op.mask is None else ev.at(op.mask, index)
    other = None if op.other is None else ev.at(op.other, index)
    mask = None if _is_true(mask) else mask
    w = ev.w
    w.loc = op.loc
    level = max(lane.level for lane in (ptr, mask, other) if lane is not None)
    element = element_type(op.result.type)
    if ev.sanitizer is not None:
        ev.sanitizer.check(ev, op, ev.at(op.ptr, index), mask, index, "load", level)
    if isinstance(ptr, Uniform) and (mask is None or isinstance(mask, Uniform)):
        return _scalar_load(ev, op, ptr, mask, other, element, level)
    if isinstance(ptr, Guarded):
        return _guarded_load(ev, op, ptr, mask, other, element, level)
    return _vector_load(ev, op, ptr, mask, other, element, level)


def _scalar_load(
    ev: Evaluator, op: tt.Load, ptr: Uniform, mask: Lane | None, other: Lane | None, element: Type, level: int
) -> Lane:
    w = ev.w
    if mask is None:
        return Uniform(_from_memory(ev, w.place(_load_op(op, ptr.value, element), level), element, level), level)
    assert isinstance(mask, Uniform)
    if isinstance(other, Uniform):
        fallback = other.value
    elif isinstance(element, tt.PointerType):
        fallback = ptr.value
    else:
        fallback = w.number(0, element, level)
    branch = w.branch(mask.value, [element], level=level)
    result = branch.results[0]
    loaded = _load_op(op, ptr.value, element)
    branch.then_block.append(loaded)
    value: Value = loaded.result
    if element is i1:
        narrowed = arith.TruncI(value, out=i1)
        branch.then_block.append(narrowed)
        value = narrowed.out
    branch.then_block.append(scf.Yield([value]))
    branch.else_block.append(scf.Yield([fallback]))  # type: ignore[union-attr]
    if other is None or isinstance(other, Uniform):
        return Uniform(result, level)
    chosen = arith.Select(mask.value, w.splat(result, ev.lanes, level), w.vector(other, ev.lanes))
    return Vec(w.place(chosen, level), level)


def _load_op(op: tt.Load, ptr: Value, ty: Type, mask: Value | None = None, other: Value | None = None) -> ttc.Load:
    memory = _memory_type(ty)
    return ttc.Load(ptr, mask, other, op.isVolatile or None, result=memory, loc=op.loc)


def _memory_type(ty: Type) -> Type:
    if ty is i1:
        return i8
    if isinstance(ty, VectorType) and ty.element is i1:
        return VectorType(ty.shape, i8)
    return ty


def _from_memory(ev: Evaluator, value: Value, element: Type, level: int) -> Value:
    return ev.w.cast(value, i1, True, level) if element is i1 else value


def _vector_load(
    ev: Evaluator, op: tt.Load, ptr: Lane, mask: Lane | None, other: Lane | None, element: Type, level: int
) -> Lane:
    w, lanes = ev.w, ev.lanes
    mask_vector = w.mask_vector(mask, lanes)
    other_vector = None if other is None or mask_vector is None else w.vector(other, lanes)
    if other_vector is not None and element is i1:
        other_vector = w.cast(other_vector, i8, False, level)
    vector = VectorType((lanes,), element)
    if isinstance(ptr, Strided) and ptr.stride == 1:
        if op in ev.prefetched:
            prefetch_reads(ev, op, ptr.base, level)
        loaded = w.place(_load_op(op, ptr.base, vector, mask_vector, other_vector), level)
        return Vec(_from_memory(ev, loaded, element, level), level)
    gather = ttc.Gather(_pointers(ev, ptr), mask_vector, other_vector, result=_memory_type(vector), loc=op.loc)
    return Vec(_from_memory(ev, w.place(gather, level), element, level), level)


def _pointers(ev: Evaluator, ptr: Lane) -> Value:
    """A vector of addresses."""
    w, lanes = ev.w, ev.lanes
    if isinstance(ptr, Uniform):
        zeros = w.iota(lanes, i64, 0)
        return w.place(ttc.OffsetPointer(ptr.value, zeros), ptr.level)
    return w.vector(ptr, lanes)


def _guarded_load(
    ev: Evaluator, op: tt.Load, ptr: Guarded, mask: Lane | None, other: Lane | None, element: Type, level: int
) -> Lane:
    """A plain vector load where the chunk does not wrap around, a gather where it does."""
    w = ev.w
    vector = VectorType((ev.lanes,), element)
    mask = None if mask is None else Vec(w.vector(mask, ev.lanes), mask.level)
    other = None if other is None else Vec(w.vector(other, ev.lanes), other.level)
    level = max(level, w.depth)  # the conditional comes after its operands
    branch = w.branch(ptr.condition, [vector], level=level)
    for block, side in ((branch.then_block, lambda: ptr.fast), (branch.else_block, ptr.slow)):
        assert block is not None
        with w.conditional(block, branch):
            lane = _vector_load(ev, op, side(), mask, other, element, w.depth)
            w.place(scf.Yield([w.vector(lane, ev.lanes)]))
    return Vec(branch.results[0], level)


def store_at(ev: Evaluator, op: tt.Store, index: Index) -> None:
    """Write the lanes of a store at `index`, in the innermost loop."""
    w, lanes = ev.w, ev.lanes
    ptr, value = ev.at(op.ptr, index), ev.at(op.value, index)
    mask = None if op.mask is None else ev.at(op.mask, index)
    mask = None if _is_true(mask) else mask
    w.loc = op.loc
    if ev.sanitizer is not None:
        ev.sanitizer.check(ev, op, ptr, mask, index, "store", w.depth)
    if isinstance(ptr, Guarded):
        ptr = ptr.slow()
    if all(isinstance(lane, Uniform) for lane in (ptr, value, mask) if lane is not None):
        _scalar_store(ev, ptr, value, mask)
        return
    data = _to_memory(ev, w.vector(value, lanes))
    mask_vector = w.mask_vector(mask, lanes)
    if isinstance(ptr, Strided) and ptr.stride == 1:
        w.place(ttc.Store(ptr.base, data, mask_vector))
    else:
        w.place(ttc.Scatter(_pointers(ev, ptr), data, mask_vector))


def _to_memory(ev: Evaluator, value: Value) -> Value:
    return ev.w.cast(value, i8, False) if element_type(value.type) is i1 else value


def _scalar_store(ev: Evaluator, ptr: Lane, value: Lane, mask: Lane | None) -> None:
    w = ev.w
    assert isinstance(ptr, Uniform) and isinstance(value, Uniform)
    data = _to_memory(ev, value.value)
    if mask is None:
        w.place(ttc.Store(ptr.value, data))
        return
    assert isinstance(mask, Uniform)
    branch = w.branch(mask.value, with_else=False)
    branch.then_block.append(ttc.Store(ptr.value, data, loc=w.loc))
    branch.then_block.append(scf.Yield([]))


class Sanitizer:
    """Writes checks before accesses: of every one's `bounds`, in the array that its pointer came in as, and with
    `guard` that no store is into memory which is only read."""

    def __init__(self, arguments: dict[Value, int], bounds: bool, guard: bool) -> None:
        self.arguments = arguments
        self.bounds, self.guard = bounds, guard

    def check(
        self, ev: Evaluator, op: Any, ptr: Lane, mask: Lane | None, index: Index, access: str, level: int
    ) -> None:
        """Check the lanes of one access; of pointers that come from no argument (loaded ones) no bounds are known."""
        argument = provenance(op.ptr) if self.bounds else None
        guarded = self.guard and any(accessed_values(op, WRITE, Memory.GLOBAL))
        if argument not in self.arguments and not guarded:
            return
        w = ev.w
        if isinstance(ptr, Guarded):
            ptr = ptr.slow()
        if isinstance(ptr, Uniform) and (mask is None or isinstance(mask, Uniform)):
            pointers, mask_value = ptr.value, None if mask is None else mask.value
        else:
            pointers, mask_value = _pointers(ev, ptr), w.mask_vector(mask, ev.lanes)
        number = self._position(ev, op, index, level)
        if argument in self.arguments:
            base = ev.scalars[argument]
            w.place(ttc.CheckBounds(pointers, base, number, mask_value, access, self.arguments[argument]), level)
        if guarded:
            w.place(ttc.CheckWritable(pointers, number, mask_value, len(self.arguments)), level)

    def _position(self, ev: Evaluator, op: Any, index: Index, level: int) -> Value:
        """The row-major number of the first lane's element in the tile, as i64.

        Coordinates that the access does not depend on are 0: it stands outside of their loops.
        """
        w, total = ev.w, ev.w.number(0, i64)
        shape = op.ptr.type.shape if isinstance(op.ptr.type, TensorType) else ()
        for n, at in zip(shape, index):
            total = w.times(total, n, level)
            if at.level <= level:
                total = w.add(total, w.cast(_first(ev, at), i64, True, level), level)
        return total


def _first(ev: Evaluator, lane: Lane) -> Value:
    """The first lane of a coordinate."""
    if isinstance(lane, Vec):
        return ev.w.place(ttc.Extract(lane.value, 0), lane.level)
    assert isinstance(lane, (Uniform, Strided))
    return lane.value if isinstance(lane, Uniform) else lane.base


def provenance(ptr: Value) -> Value:
    """The value that a pointer's address is reckoned from: a function argument, or whatever defines it."""
    while True:
        op = ptr.defining_op
        if op is None or not op.operands or not isinstance(element_type(op.operands[0].type), tt.PointerType):
            return ptr
        ptr = op.operands[0]
