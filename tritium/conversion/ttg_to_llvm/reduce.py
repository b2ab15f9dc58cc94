"""`tt.reduce`: within a thread, then among the lanes of a warp, then through shared memory.

What is combined where is planned in `layout.reduction`. A sum of 1024 elements by four warps:

    each thread          7 additions                          what it holds
    each warp            5 x (shfl.sync.bfly, addition)       or one redux.sync, for integers
    lane 0 of each warp  one store                            4 numbers in shared memory
    all                  one barrier
    each thread          one 16-byte load, 3 additions        the same numbers in the same order, so the same bits

There is one barrier whatever the layout, and none where warps hold different elements of the result. Where more
partial results are left than a thread should combine, lanes that hold copies of the result share them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import Any

from ...analysis.combine import Order
from ...analysis.scratch_reduce import reduction_of
from ...dialects import tt
from ...dialects.ttg_maps import linear_layout_of
from ...ir import FloatType, IntegerType, TensorType
from ...layout import LinearLayout
from ...layout.axis import Bit
from ...layout.reduction import Reduction, placed
from ...layout.views import registers_in
from ..llvm.branches import guarded
from .combine_region import (
    Arrays,
    CombineRegion,
    Row,
    Rows,
    adjacent,
    plus,
    register_index,
    thread_index,
    times,
    within,
)
from .context import FunctionContext, lowers
from .convert_layout import wait_for
from .positions import with_constant
from .types import bit_width

__all__: list[str] = []


@lowers(tt.ReduceReturn, tt.ScanReturn)
def _handed_on(e: FunctionContext, op: Any) -> None:
    """The enclosing operation reads the operands."""


@lowers(tt.Reduce)
def _reduce(e: FunctionContext, op: tt.Reduce) -> None:
    plan = reduction_of(op)
    combine = CombineRegion(e, op)
    arrays = Arrays(e, op, combine.types, plan.elements()) if plan.elements() else None
    copies = plan.axis.masks("copies")["register"]
    rows: Rows = {r: row for r, row in enumerate(combine.rows()) if not r & copies}
    lanes = _combine_steps(e, combine, plan, rows)
    result = op.results[0].type
    target = linear_layout_of(result) if isinstance(result, TensorType) else None
    if plan.through_memory:
        assert arrays is not None
        combine.bind(_through_memory(e, combine, plan, rows, arrays, target))
        return
    if lanes and combine.facts.order is not Order.SYMMETRIC:
        rows = combine.taken(rows, e.op(f"and i32 {e.lane}, {e.module.warp_size - 1 & ~lanes}"))
    combine.bind(_as_result(plan, rows, target))


def _combine_steps(e: FunctionContext, combine: CombineRegion, plan: Reduction, rows: Rows) -> int:
    """Combine registers and lanes, in place; the mask of the lanes' bits."""
    lanes = 0
    steps = list(plan.steps)
    whole_warp = sum(b.mask for b in steps if b.source == "lane") == combine.e.module.warp_size - 1
    if combine.facts.size > 1:
        steps = _combine_depth_first(combine, steps, rows)
    for bit in steps:
        if bit.source == "register":
            for r in [r for r in rows if not r & bit.mask]:
                rows[r] = combine(rows[r], rows.pop(r | bit.mask))
            continue
        if whole_warp and not lanes and combine.facts.order is Order.SYMMETRIC and _redux(e, combine, rows):
            return combine.e.module.warp_size - 1
        lanes |= bit.mask
        others = combine.exchanged(rows, bit.mask)
        for r in rows:
            rows[r] = combine.alike(rows[r], others[r])
    return lanes


def _combine_depth_first(combine: CombineRegion, steps: list[Bit], rows: Rows) -> list[Bit]:
    """Combine by the leading steps over registers, in place, one result after another; the remaining steps.

    The tree is the same as level by level, of which each level but the last would have all its partial results live.
    """
    masks = [b.mask for b in takewhile(lambda b: b.source == "register", steps)]

    def combined(r: int, level: int) -> Row:
        if level == 0:
            return rows.pop(r)
        first = combined(r, level - 1)
        return combine(first, combined(r | masks[level - 1], level - 1))

    for r in [r for r in rows if not r & sum(masks)]:
        rows[r] = combined(r, len(masks))
    return steps[len(masks) :]


# -- one instruction for a warp ---------------------------------------------------------------------------------------

_UNSIGNED = frozenset(("arith.maxui", "arith.minui", "arith.andi", "arith.ori", "arith.xori"))


def _redux(e: FunctionContext, combine: CombineRegion, rows: Rows) -> bool:
    """Combine integers of at most 32 bits or f32 over all lanes by one instruction, where the target has one."""
    ty, *more = combine.types
    name = combine.facts.operation
    if more or name is None:
        return False
    if isinstance(ty, IntegerType) and 8 <= ty.width <= 32 and e.target.reduces_warps(name, "i32"):
        widen = "zext" if name in _UNSIGNED else "sext"
        for r, (v,) in rows.items():
            wide = v if ty.width == 32 else e.op(f"{widen} i{ty.width} {v} to i32")
            whole = e.target.reduce_warp(e, name, "i32", wide)
            rows[r] = (whole if ty.width == 32 else e.op(f"trunc i32 {whole} to i{ty.width}"),)
        return True
    if isinstance(ty, FloatType) and ty.name == "f32" and e.target.reduces_warps(name, "float"):
        for r, (v,) in rows.items():
            rows[r] = (e.target.reduce_warp(e, name, "float", v),)
        return True
    return False


# -- results ----------------------------------------------------------------------------------------------------------


def _as_result(plan: Reduction, rows: Rows, target: LinearLayout | None) -> list[Row]:
    """The rows in the order of the result's registers, by their other coordinates."""
    if target is None:
        (row,) = rows.values()
        return [row]
    axis = plan.axis.axis
    found = {}
    for r, row in rows.items():
        at = list(plan.source.apply(register=r).values())
        found[tuple(at[:axis] + at[axis + 1 :])] = row
    return [found[tuple(target.apply(register=r).values())] for r in range(target.ins["register"])]


def _through_memory(
    e: FunctionContext, combine: CombineRegion, plan: Reduction, rows: Rows, arrays: Arrays, target: LinearLayout | None
) -> list[Row]:
    """Partial results are written once each, and read by all threads that hold the element."""
    _write(e, combine, plan, rows, arrays)
    if plan.crosses_blocks:
        wait_for(e, "cluster")
        out = _of_all_blocks(e, combine, plan, arrays, target)
        wait_for(e, "cluster")  # nobody overwrites, or leaves, what others still read
        return out
    e.barrier()
    count = len(plan.rest)
    inside = min(count, _most_inside(e, combine, plan))
    free = [] if target is None else _free_lanes(target)
    if target is None:
        free = list(range(5))
    shared = free[: count - inside] if len(free) >= count - inside else []
    inside = count - len(shared)
    reader = _Reader(e, combine, plan, arrays, inside, shared)
    return _elements(e, target, reader.rows, 1 if plan.rest_first else arrays.most)


def _most_inside(e: FunctionContext, combine: CombineRegion, plan: Reduction) -> int:
    """The logarithm of how many partial results a thread should hold at once.

    Few where the function is long, as lanes can share the work; one where the elements themselves, which are often
    wanted afterwards, fill more than half of the registers that a thread can have.
    """
    words = sum(max(1, bit_width(ty) // 32) for ty in combine.types) * plan.source.ins["register"]
    if 2 * words > e.module.most_registers:
        return 0
    return 3 if combine.facts.size == 1 else 2


def _elements(
    e: FunctionContext, target: LinearLayout | None, rows: Callable[[str, int], list[Row]], most: int = 1
) -> list[Row]:
    """The row of each register's element; `rows` makes those of at most `most` consecutive ones, given the first."""
    if target is None:
        return rows("0", 1)
    index = placed(target, None, (), True)
    thread = thread_index(e, index)
    same = registers_in(target, target) or []
    found: Rows = {}
    for group in adjacent(index, thread[1], sorted(set(same)), most):
        found.update(zip(group, rows(register_index(e, index, thread, group[0]), len(group))))
    return [found[first] for first in same]


def _of_all_blocks(
    e: FunctionContext, combine: CombineRegion, plan: Reduction, arrays: Arrays, target: LinearLayout | None
) -> list[Row]:
    """As below, where partial results are in the shared memory of several CTAs of the cluster."""
    first = plan.rest_first
    return _elements(e, target, lambda at, _: [combine.tree(arrays.load_all(plan.rest, at, first, plan.width))])


def _free_lanes(target: LinearLayout) -> list[int]:
    """The bits of a lane's number that make no difference to what it holds of the result."""
    return [i for i, c in enumerate(target.columns_of("lane")) if not c]


def _write(e: FunctionContext, combine: CombineRegion, plan: Reduction, rows: Rows, arrays: Arrays) -> None:
    """Each partial result is written by one thread; by all that have it, where they have the same bits."""
    layout = placed(plan.source, plan.axis.axis, plan.rest, plan.rest_first)
    thread = thread_index(e, layout)
    copies = plan.axis.masks("copies")
    taken = {"lane": copies["lane"], "warp": copies["warp"]}
    for b in plan.steps:
        if b.source == "lane":
            taken["lane"] |= b.mask
    if combine.facts.order is Order.SYMMETRIC:
        taken["lane"] = 0
    groups = adjacent(layout, thread[1], rows, arrays.most)
    indices = [register_index(e, layout, thread, group[0]) for group in groups]
    with guarded(e, within(e, {name: (mask, 0) for name, mask in taken.items()})):
        for index, group in zip(indices, groups):
            arrays.store(index, [rows[r] for r in group])


class _Reader:
    """Reads and combines the partial results of elements.

    Of the number of a partial result a thread reads the low `inside` bits all, and of the bits above the one that its
    lane says: bit number `shared[i]` of the lane for bit `inside + i`.
    """

    def __init__(
        self,
        e: FunctionContext,
        combine: CombineRegion,
        plan: Reduction,
        arrays: Arrays,
        inside: int,
        shared: list[int],
    ) -> None:
        self.e, self.combine, self.plan, self.arrays = e, combine, plan, arrays
        self.inside, self.shared = inside, shared
        self.lane_part = "0"
        self.mask = sum(1 << bit for bit in shared)
        for i, bit in enumerate(shared):
            picked = e.op(f"and i32 {e.op(f'lshr i32 {e.lane}, {bit}')}, 1")
            self.lane_part = e.op(f"or i32 {self.lane_part}, {e.op(f'shl i32 {picked}, {inside + i}')}")

    def rows(self, first: str, count: int) -> list[Row]:
        """The combined rows of `count` elements from this number on."""
        return [self._combined(list(partial)) for partial in zip(*self._read(first, count))]

    def _combined(self, partial: list[Row]) -> Row:
        combine, e = self.combine, self.e
        row = combine.tree(partial)
        for bit in self.shared:
            row = combine.alike(row, combine.exchanged({0: row}, 1 << bit)[0])
        if self.shared and combine.facts.order is not Order.SYMMETRIC:
            row = combine.taken({0: row}, e.op(f"and i32 {e.lane}, {e.module.warp_size - 1 & ~self.mask}"))[0]
        return row

    def _read(self, first: str, count: int) -> list[list[Row]]:
        """For each partial result the rows of the elements."""
        e = self.e
        if self.plan.rest_first:
            start = plus(e, times(e, first, len(self.plan.rest)), self.lane_part)
            return [[row] for row in self.arrays.load(start, 1 << self.inside)]
        rows = []
        for p in range(1 << self.inside):
            at = with_constant(e, self.lane_part, self.mask and -1 << self.inside, p)
            rows.append(self.arrays.load(plus(e, times(e, at, self.plan.width), first), count))
        return rows
