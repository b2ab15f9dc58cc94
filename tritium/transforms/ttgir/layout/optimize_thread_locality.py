"""optimize-thread-locality: Reduce within threads before the cross-lane reduction.

    scf.for … iter_args(%acc = %zero) {                  scf.for … iter_args(%part = %neutral) {
      %x = tt.load %p : tensor<32x128xf32>                 %x = tt.load %p : tensor<32x128xf32>
      %s = tt.reduce(%x, axis = 1)                         %y = tt.reshape %x : tensor<32x32x4xf32>
      %n = arith.addf %acc, %s                     =>      %s = tt.reduce(%y, axis = 2) : tensor<32x32xf32>
      scf.yield %n                                         %n = arith.addf %part, %s
    }                                                      scf.yield %n
                                                         }
                                                         %t = tt.reduce(%part', axis = 1)
                                                         %acc' = arith.addf %t, %zero

1. rule *loop*: a loop that accumulates a row-wise reduction carries one partial result per thread instead. In the loop
   each thread reduces its own elements; the cross-lane reduction is done once, after it. Partial results start with the
   neutral element: -0 for sums, NaN for `maxnumf`. This reassociates sums of floats; the accumulating operation must be
   that of the reduction, and the accumulator must have no other use in the loop. A row is split where its elements
   change threads: a thread may hold adjacent elements, and several groups of them if the layout wraps around. Dots have
   no MMA layout yet, and are left alone.
2. rule *reshape*: an unordered reshape that feeds reductions along one axis puts each row into one thread, if no
   element moves for that.
3. rule *gather*: a gather from a tensor of several dimensions gets a layout in which a warp owns whole columns, so that
   it is lowered to shuffles. Lanes go along the axis first: the fewer indices of a column a thread holds, the fewer
   shuffles.

The layouts of the last two are marked `efficient_layout`, so that other passes keep them.
"""

from __future__ import annotations

from typing import Any

from ....analysis.combine import identity_element
from ....analysis.dataflow import reachable
from ....dialects import arith, tt, ttg
from ....dialects.ttg_context import num_warps, threads_per_warp
from ....dialects.ttg_defaults import blocked_for
from ....dialects.ttg_inference import reshaped_to
from ....dialects.ttg_layouts import Blocked, Slice
from ....dialects.ttg_maps import linear_layout, map_or_none
from ....dialects.ttg_operands import cluster_bases
from ....ir import (
    UNIT,
    BlockArgument,
    Builder,
    CountedLoop,
    DenseElementsAttr,
    IntegerAttr,
    Operation,
    TensorType,
    Value,
    count,
    element_type,
    functions_of,
    i32,
    is_tensor_dot,
    may_change,
    pass_on,
)
from ....layout.bases import order_of_bases, per_block
from ...layout_flow import layout_of, moves_elements, with_layout
from ...rules.constants import constant_attr

__all__ = ["optimize_thread_locality", "reduce_within_threads", "reduced", "row_cuts"]


@pass_on(
    "function",
    statistics={
        "loops": "loops with partial results per thread",
        "reshapes": "reshapes that put rows into one thread",
        "gathers": "gathers within one warp",
    },
)
def optimize_thread_locality(op: Operation) -> bool:
    """Reduce within threads first, in a function or all functions of a module."""
    changed = 0
    for func in functions_of(op):
        for name, cls, rule in (
            ("reshapes", tt.Reshape, _reshape),
            ("gathers", tt.Gather, _gather),
            ("loops", tt.Reduce, _loop),
        ):
            found = sum(rule(op) for op in list(func.walk()) if op.__class__ is cls)
            count(name, found)
            changed += found
    return changed > 0


# -- reshape ------------------------------------------------------------------------------------------------------


def _reshape(op: Any) -> bool:
    axes = {user.axis for user in op.result.users if isinstance(user, tt.Reduce)}
    ty, layout = op.result.type, layout_of(op.result)
    if not op.allow_reorder or len(axes) != 1 or layout is None:
        return False
    (axis,) = axes
    here = map_or_none(layout, ty.shape)
    if here is None or not any(v[axis] for name in ("lane", "warp", "block") for v in here.bases[name]):
        return False  # each row is in one thread
    order = [d for d in _order(layout, ty.shape) if d != axis]
    new = blocked_for(ty.shape, [1] * len(ty.shape), [*order, axis], layout.warps, layout.lanes, layout.ctas)
    if new is layout or moves_elements(op.src.type, with_layout(ty, new)) or not may_change("reshape", op):
        return False
    op.attributes["efficient_layout"] = UNIT
    _give_layout(op, new)
    return True


def _order(layout: Any, shape: tuple[int, ...]) -> list[int]:
    """The dimensions in the order of a thread's registers, fastest first."""
    if isinstance(layout, Blocked):
        return list(layout.order)
    whole = map_or_none(layout, shape)
    return list(range(len(shape)))[::-1] if whole is None else list(order_of_bases(whole.bases["register"], len(shape)))


def _give_layout(op: Any, layout: Any) -> None:
    """Change the layout of an operation's result; its users get it converted to the old one."""
    old = op.result.type
    users = list(op.result.users)
    op.result.type = with_layout(old, layout)
    back = Builder(op.parent, op.next, op.loc).add(ttg.ConvertLayout(op.result, result=old))
    for user in users:
        user.set_operands([back if v is op.result else v for v in user.operands])


# -- gather -------------------------------------------------------------------------------------------------------


def _gather(op: Any) -> bool:
    ty = op.src.type
    if op.efficient_layout or len(ty.shape) == 1 or layout_of(op.src) is None or not may_change("gather", op):
        return False
    layout = _column_layout(op)
    b = Builder(op.parent, op, op.loc)
    operands = [b.add(ttg.ConvertLayout(v, result=with_layout(v.type, layout))) for v in op.operands]
    op.set_operands(operands)
    op.attributes["efficient_layout"] = UNIT
    _give_layout(op, layout)
    return True


def _column_layout(op: Any) -> Blocked:
    """A layout of source and indices in which each warp owns whole columns along the axis.

    Lanes go along the axis as far as possible, then along the other dimensions; warps go along the other dimensions,
    and CTAs as before, but not along the axis. What remains holds copies along the axis.
    """
    ty, axis = op.src.type, op.axis
    layout = ty.encoding
    blocks = tuple(
        tuple(0 if d == axis else n for d, n in enumerate(basis)) for basis in cluster_bases(layout, ty.shape)
    )
    shape = per_block(ty.shape, blocks)
    rank = len(shape)
    lanes_left, warps_left = threads_per_warp(op), num_warps(op) or 1
    lanes, warps = [1] * rank, [1] * rank
    lanes[axis] = min(shape[axis], lanes_left)
    lanes_left //= lanes[axis]
    others = [d for d in _order(layout, ty.shape) if d != axis]
    for d in others:
        lanes[d] = min(shape[d], lanes_left)
        lanes_left //= lanes[d]
    for d in others:
        warps[d] = min(shape[d] // lanes[d], warps_left)
        warps_left //= warps[d]
    sizes = [1] * rank
    sizes[axis] = shape[axis] // lanes[axis]
    lanes[axis] *= lanes_left
    warps[axis] *= warps_left
    return Blocked(tuple(sizes), tuple(lanes), tuple(warps), (axis, *others), blocks)


# -- loop ---------------------------------------------------------------------------------------------------------


def _combination(reduction: Any) -> Operation | None:
    """The one operation in the combine region of a reduction of one tensor."""
    block = reduction.regions[0].blocks[0]
    first = block.first
    if len(reduction.operands) != 1 or first is None or first.next is not block.last:
        return None
    both = set(first.operands) == set(block.args) and block.last.operands == [first.results[0]]
    known = both and identity_element(first.name, element_type(reduction.operands[0].type)) is not None
    return first if known else None


def _loop(reduction: Any) -> bool:
    update = _update(reduction)
    if update is None:
        return False
    if row_cuts(reduction.operands[0].type, reduction.axis) is None:
        return False
    if _depends_on_dot(reduction.operands[0], reduction.parent_op) or not may_change("loop", reduction):
        return False
    _carry_partial_results(reduction, update)
    return True


def _depends_on_dot(value: Value, loop: Operation) -> bool:
    """Whether a value depends on a dot in the loop, whose layout is not chosen yet."""

    def operands(v: Value) -> list[Value]:
        op = v.defining_op
        return op.operands if op is not None and loop.is_ancestor_of(op) else []

    makers = [v.defining_op for v in reachable([value], operands)]
    return any(op is not None and is_tensor_dot(op) and loop.is_ancestor_of(op) for op in makers)


def _update(reduction: Any) -> Any:
    """The operation that accumulates the result of a reduction, if neither has other users."""
    combination, layout = _combination(reduction), layout_of(reduction.operands[0])
    if combination is None or not isinstance(layout, Blocked) or not reduction.results[0].has_one_use:
        return None
    (update,) = reduction.results[0].users
    loop: Any = reduction.parent_op
    if (
        update.__class__ is not combination.__class__
        or not isinstance(loop, CountedLoop)
        or update.parent is not loop.body
    ):
        return None
    others: list[Any] = [v for v in update.operands if v is not reduction.results[0]]
    if len(others) != 1 or not isinstance(others[0], BlockArgument) or others[0].owner is not loop.body:
        return None
    i = others[0].index - 1
    carried = others[0].has_one_use and update.results[0].has_one_use and i >= 0
    return update if carried and loop.yielded[i] is update.results[0] else None


def _carry_partial_results(reduction: Any, update: Any) -> None:
    """Rule *loop*."""
    loop, axis = reduction.parent_op, reduction.axis
    arg: Any = next(v for v in update.operands if isinstance(v, BlockArgument))
    i, result = arg.index - 1, loop.results[arg.index - 1]
    start, old = loop.init_args[i], arg.type

    own = reduce_within_threads(reduction)
    part: Any = own.type
    reduction.results[0].replace_all_uses_with(own)
    arg.type = update.results[0].type = result.type = part
    loop.set_operand(i + 3, _neutral(Builder(loop.parent, loop, reduction.loc), update, part))

    users = list(result.users)
    b = Builder(loop.parent, loop.next, reduction.loc)
    if isinstance(old, TensorType):
        whole = b.add(ttg.ConvertLayout(reduced(b, reduction, result, axis), result=old))
    else:
        whole = _reduce(b, reduction, result, axis, old)
    final = b.add(type(update)(whole, start, attributes=dict(update.attributes)))
    for user in users:
        user.set_operands([final if v is result else v for v in user.operands])
    reduction.erase()


def row_cuts(ty: Any, axis: int) -> tuple[int, int, int] | None:
    """The factors of a row: wraparounds of the layout, threads, and adjacent elements per thread.

    None where a single thread holds the row, or where threads are not selected by bits of the position.
    """
    bases = linear_layout(ty.encoding, ty.shape).bases
    own = {vector[axis] for vector in bases["register"]}
    bits = [1 << k in own for k in range(ty.shape[axis].bit_length() - 1)]
    if any(n & (n - 1) for vectors in bases.values() for n in (vector[axis] for vector in vectors)) or all(bits):
        return None
    low = bits.index(False)
    high = bits[::-1].index(False)
    return 1 << high, 1 << (len(bits) - low - high), 1 << low


def reduce_within_threads(reduction: Any) -> Value:
    """Reduce the elements of each row that a thread holds: along the outer and inner dimension of a split row."""
    source: Value = reduction.operands[0]
    ty: Any = source.type
    axis = reduction.axis
    wraps, parts, adjacent = row_cuts(ty, axis)  # type: ignore[misc]
    sizes = [n for n in (wraps, parts, adjacent) if n > 1]
    if len(sizes) == 1:
        return source
    shape = (*ty.shape[:axis], *sizes, *ty.shape[axis + 1 :])
    layout = reshaped_to(ty.encoding, ty.shape, shape)
    b = Builder(reduction.parent, reduction, reduction.loc)
    out: Value = b.add(tt.Reshape(source, result=TensorType(shape, ty.element, layout)))
    if adjacent > 1:
        out = reduced(b, reduction, out, axis + len(sizes) - 1)
    return reduced(b, reduction, out, axis) if wraps > 1 else out


def reduced(b: Builder, like: Any, source: Value, axis: int) -> Value:
    """A reduction like another, of `source` along `axis`, to a tensor."""
    ty: Any = source.type
    left = tuple(n for d, n in enumerate(ty.shape) if d != axis)
    return _reduce(b, like, source, axis, TensorType(left, ty.element, Slice(axis, ty.encoding)))


def _reduce(b: Builder, like: Any, source: Value, axis: int, ty: TensorType) -> Value:
    """A reduction like another, of `source` along `axis`."""
    new = like.clone({like.operands[0]: source})
    new.attributes["axis"] = IntegerAttr(axis, i32)
    new.results[0].type = ty
    out: Value = b.add(new)
    return out


def _neutral(b: Builder, update: Any, ty: TensorType) -> Value:
    """A tensor of the identity element of a combination."""
    element: Any = element_type(ty)
    number = identity_element(update.name, element)
    assert number is not None
    value = constant_attr(number, ty)
    assert isinstance(value, DenseElementsAttr)
    out: Value = b.add(arith.Constant.create([], [ty], {"value": value}))
    return out
