"""Matrix multiplication: operands are packed the way the micro-kernel reads them, then multiplied in place."""

from __future__ import annotations

from typing import Any

from ...dialects import arith, tt, ttc
from ...ir import FLOATS, IntegerType, TensorType, Type, Value, element_type
from ..llvm.dot import DotPlan, plan_dot
from .buffers import TileBuffer, row_major
from .lanes import Index, Uniform, tile_type
from .lowering import TileLowering, lowers
from .nests import run_nest
from .space import Space
from .versions import versioned

__all__: list[str] = []


def _type_name(ty: Type) -> str:
    """How the dot planner calls an element type; 8-bit floats are widened to f32."""
    if isinstance(ty, IntegerType):
        return f"i{ty.width}"
    return str(ty) if str(ty) in ("f16", "bf16", "f32", "f64") else "f32"


def _computed(name: str) -> Type:
    return FLOATS[name] if name in FLOATS else IntegerType(int(name[1:]))


@lowers(tt.Dot)
def _dot(lowering: TileLowering, op: tt.Dot) -> None:
    """acc = a @ b + c, one micro-kernel call for each matrix of the batch."""
    *batch, m, k = tile_type(op.a).shape
    n = tile_type(op.b).shape[-1]
    acc_type = element_type(op.c.type)
    acc_name = {"f16": "f32", "bf16": "f32"}.get(_type_name(acc_type), _type_name(acc_type))
    names = (_type_name(element_type(op.a.type)), _type_name(element_type(op.b.type)), acc_name)
    plan = plan_dot(lowering.target, m, n, k, *names)
    count = 1
    for size in batch:
        count *= size
    acc = _accumulator(lowering, op, plan)
    a = _pack(lowering, op.a, plan, count, left=True)
    b = _pack(lowering, op.b, plan, count, left=False)
    types = " ".join(names)

    def multiply(number: Value, level: int) -> None:
        w = lowering.ev.w
        pointers = [
            ttc.Address(buffer, w.times(number, size, level))
            for buffer, size in ((acc.base, m * n), (a, plan.a_elements), (b, plan.b_elements))
        ]
        acc_at, a_at, b_at = (w.place(p) for p in pointers)
        w.place(ttc.Dot(acc_at, a_at, b_at, m, n, k, types, loc=op.loc))

    w = lowering.ev.w
    if count == 1:
        multiply(w.number(0), 0)
    else:
        with w.counted(0, count, 1) as iv:
            multiply(iv, w.depth)
    lowering.ev.buffers[op.d] = acc


def _accumulator(lowering: TileLowering, op: tt.Dot, plan: DotPlan) -> TileBuffer:
    """The buffer of `c`, overwritten if nobody reads it later; else a fresh one that starts as a copy."""
    ev = lowering.ev
    stored = _computed(plan.acc_type)
    old = ev.buffers.get(op.c)
    if old is not None and old.stored is stored and old.strides == row_major(old.shape) and lowering.dies_at(op.c, op):
        return TileBuffer(old.base, old.shape, old.strides, element_type(op.d.type), stored)
    acc = TileBuffer.allocate(lowering.alloc, tile_type(op.c), stored)
    lowering.fill(op.c, acc)
    return acc


def _pack(lowering: TileLowering, value: Value, plan: DotPlan, count: int, left: bool) -> Value:
    """Fill a fresh buffer with `value`, element type and order as the plan wants them."""
    ev, compute = lowering.ev, _computed(plan.compute_type)
    elements = (plan.a_elements if left else plan.b_elements) * count
    base = lowering.alloc.place(ttc.Alloc(result=ttc.BufferType(elements, compute)))
    if plan.k_padded != plan.k:
        _zero(lowering, base, elements, compute)
    ty = tile_type(value)
    *batch, _, columns = ty.shape
    steps = row_major(tuple(batch)) if batch else ()
    source = element_type(value.type)
    if left:
        strides = (*(s * plan.a_elements for s in steps), plan.a_row_stride, 1)
        _fill_part(lowering, value, TileBuffer(base, ty.shape, strides, source, compute), 0, columns)
        return base
    full = columns // plan.nr * plan.nr
    for start, stop, width in ((0, full, plan.nr), (full, columns, columns - full)):
        if start < stop:
            panels = _Panels(base, ty, steps, plan, compute, width)
            _fill_part(lowering, value, panels, start, stop)
    ev.lanes = 1
    return base


class _Panels(TileBuffer):
    """The packed B: panels of `width` columns, in each the groups of `kpack` rows one after another."""

    steps: tuple[int, ...]
    plan: DotPlan
    width: int

    def __init__(
        self, base: Value, ty: TensorType, steps: tuple[int, ...], plan: DotPlan, stored: Type, width: int
    ) -> None:
        super().__init__(base, ty.shape, (0,) * ty.rank, ty.element, stored)
        object.__setattr__(self, "steps", tuple(s * plan.b_elements for s in steps))
        object.__setattr__(self, "plan", plan)
        object.__setattr__(self, "width", width)

    def place_of(self, w: Any, index: Index) -> Any:
        plan = self.plan
        *batch, k, n = index
        flat = TileBuffer(
            self.base,
            (1,) * (len(batch) + 4),
            (*self.steps, plan.k_padded, self.width * plan.kpack, 1, plan.kpack),
            self.element,
            self.stored,
        )
        group, within = _divided(w, k, plan.kpack)
        if self.width == plan.nr:
            panel, column = _divided(w, n, plan.nr)
            start = _scaled(w, panel, plan.nr)
        else:  # the last, narrower panel begins after all full ones
            first = self.shape[-1] // plan.nr * plan.nr
            start = Uniform(w.number(first), 0)
            column = _scaled(w, n, 1, -first)
        return flat.place_of(w, (*batch, start, group, within, column))


def _scaled(w: Any, lane: Any, factor: int, plus: int = 0) -> Any:
    base = lane.value if isinstance(lane, Uniform) else lane.base
    base = w.add(w.times(base, factor, lane.level), w.number(plus), lane.level)
    return Uniform(base, lane.level) if isinstance(lane, Uniform) else type(lane)(base, lane.stride, lane.level)


def _divided(w: Any, lane: Any, n: int) -> tuple[Any, Any]:
    """Quotient and remainder by `n` of a coordinate; a chunk of lanes lies within one multiple of `n`."""
    if n == 1:
        return lane, Uniform(w.number(0), 0)
    base = lane.value if isinstance(lane, Uniform) else lane.base
    by, level = w.number(n), lane.level
    quotient = Uniform(w.place(arith.DivUI(base, by), level), level)
    rest = w.place(arith.RemUI(base, by), level)
    return quotient, Uniform(rest, level) if isinstance(lane, Uniform) else type(lane)(rest, lane.stride, level)


def _fill_part(lowering: TileLowering, value: Value, target: TileBuffer, start: int, stop: int) -> None:
    """Write columns [start, stop) of `value` into `target`."""
    ev = lowering.ev
    shape = (*tile_type(value).shape[:-1], stop - start)
    space = lowering.plan.space(shape, [value])
    if isinstance(target, _Panels):
        space = _panel_space(space, target)

    def body(index: Index) -> None:
        moved = index if start == 0 else (*index[:-1], _scaled(ev.w, index[-1], 1, start))
        target.write(ev.w, moved, ev.at(value, moved), ev.lanes)

    versioned(lowering, [value], space, lambda peel: run_nest(ev, space, body, peel if start == 0 else None))


def _panel_space(space: Space, panels: _Panels) -> Space:
    """Chunks along columns must not cross panels; along rows, groups of packed rows must stay whole."""
    limit = panels.width if space.axis == len(space.shape) - 1 else space.lanes
    lanes = space.lanes
    while limit % lanes:
        lanes //= 2
    plan = panels.plan
    if space.axis == len(space.shape) - 2 and plan.kpack > 1:
        return Space(space.shape, len(space.shape) - 1, min(lanes, panels.width & -panels.width))
    return Space(space.shape, space.axis, lanes)


def _zero(lowering: TileLowering, base: Value, elements: int, ty: Type) -> None:
    ev = lowering.ev
    buffer = TileBuffer(base, (elements,), (1,), ty, ty)
    lanes = 16
    while elements % lanes:
        lanes //= 2
    zero = Uniform(ev.w.number(0, ty), 0)
    run_nest(ev, Space((elements,), 0, lanes), lambda index: buffer.write(ev.w, index, zero, ev.lanes))
