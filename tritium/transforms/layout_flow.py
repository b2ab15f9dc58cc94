"""Propagation rules of layouts: from operands to results, from results to operands, and along control flow edges.

    forward(op, i, layout)    the layout of the results of `op` when operand i has `layout`
    backward(op, layout)      the layout of each operand from which the results get `layout`
    forwarded_values(op, i)   the values that operand i is forwarded to along control flow edges

None means unknown. All passes that propagate layouts use these rules, so an operation with a rule of its own needs one
entry in the tables below.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import Any

from ..dialects import arith, tt, ttg
from ..dialects.ttg_inference import joined, packed, reshaped_to, split, transposed
from ..dialects.ttg_layouts import Blocked, Distributed, Slice
from ..dialects.ttg_maps import map_or_none
from ..dialects.ttg_rules import rule_of, same_layout, unpacked
from ..ir import REARRANGES, REPEATS, Operation, PointerAccess, TensorType, Value, memory_effects, successor_values
from ..layout.tiling import shrink
from ..layout.views import unique_registers

__all__ = [
    "backward",
    "forward",
    "forwarded_values",
    "elements_per_thread",
    "is_elementwise",
    "is_expensive_access",
    "reduces_within_cta",
    "layout_of",
    "moves_elements",
    "same_places",
    "repeats",
    "takes_any_result",
    "with_layout",
]


def layout_of(value: Value) -> Any:
    """The layout of a tensor; None for other values, and for tensors without one."""
    ty = value.type
    return ty.encoding if isinstance(ty, TensorType) else None


def with_layout(ty: Any, layout: Any) -> TensorType:
    """The tensor type with another layout."""
    return TensorType(ty.shape, ty.element, layout)


# -- operations ---------------------------------------------------------------------------------------------------


class _Alike(dict[type, bool]):
    """Whether the operands and results of an operation class must have the same layout, by its verifier."""

    def __missing__(self, cls: Any) -> bool:
        alike = rule_of(cls) is same_layout or cls is tt.Broadcast
        self[cls] = alike
        return alike


_ALIKE = _Alike()


def is_elementwise(op: Any) -> bool:
    """Whether each thread computes its elements of the results from its elements of the operands alone."""
    return _ALIKE[op.__class__] and not memory_effects(op)


def reduces_within_cta(op: Any, layout: Any) -> bool:
    """Whether no row along the axis of an operation is split over the CTAs of a cluster."""
    if layout.ctas == 1:
        return True
    whole = map_or_none(layout, op.operands[0].type.shape)
    return whole is not None and not any(v[op.axis] for v in whole.bases["block"])


def _sliced(op: Any, layout: Any) -> Any:
    return Slice(op.axis, layout) if layout.rank > 1 and reduces_within_cta(op, layout) else None


def _unsliced(op: Any, layout: Any) -> Any:
    return layout.parent if isinstance(layout, Slice) and layout.dim == op.axis else None


def _reduced(op: Any, layout: Any) -> Any:
    whole = _unsliced(op, layout)
    return whole if whole is not None and reduces_within_cta(op, whole) else None


def _scanned(op: Any, layout: Any) -> Any:
    return layout if isinstance(layout, Blocked) and reduces_within_cta(op, layout) else None


def _inverse_transposed(op: Any, layout: Any) -> Any:
    inverse = [0] * len(op.order)
    for k, d in enumerate(op.order):
        inverse[d] = k
    return transposed(layout, op.result.type.shape, tuple(inverse))


def _reshape_forward(op: Any, layout: Any) -> Any:
    if op.allow_reorder or op.efficient_layout:
        return None
    return reshaped_to(layout, op.src.type.shape, op.result.type.shape)


def _reshape_backward(op: Any, layout: Any) -> Any:
    if _reshape(op, layout):
        return layout_of(op.src)
    return reshaped_to(layout, op.result.type.shape, op.src.type.shape)


@functools.lru_cache(4096)
def repeats(whole_shape: tuple[int, ...], whole: Any, shape: tuple[int, ...], layout: Any) -> bool:
    """Whether a tensor of `shape` in `layout` is a part of one of `whole_shape` in `whole`, with no element moved."""
    if whole is layout:
        return True
    large, small = map_or_none(whole, whole_shape), map_or_none(layout, shape)
    if large is None or small is None:
        return False
    cut = shrink(large, dict(zip(large.outs, shape)))
    return cut.without_zeros("register") is small.without_zeros("register")


def _repeated(op: Any, layout: Any) -> Any:
    """The layout is kept, unless the operation changes it already and may continue to."""
    old, new = op.src.type, op.result.type
    keeps = old.encoding is not new.encoding and repeats(new.shape, new.encoding, old.shape, layout)
    return new.encoding if keeps else layout


def _unrepeated(op: Any, layout: Any) -> Any:
    old, new = op.src.type, op.result.type
    keeps = old.encoding is not new.encoding and repeats(new.shape, layout, old.shape, old.encoding)
    return old.encoding if keeps else layout


def _packed(op: Any, layout: Any) -> Any:
    found = packed(layout, op.result.type.shape, op.axis)
    if found is None or unpacked(with_layout(op.src.type, found), with_layout(op.result.type, layout), op.axis):
        return None
    return found


_FORWARD: dict[type, Callable[[Any, Any], Any]] = {
    tt.Reduce: _sliced,
    tt.ExpandDims: _unsliced,
    tt.Trans: lambda op, layout: transposed(layout, op.src.type.shape, op.order),
    tt.Reshape: _reshape_forward,
    tt.Join: lambda op, layout: joined(layout, op.lhs.type.shape),
    tt.Split: lambda op, layout: split(layout, op.src.type.shape),
    tt.Scan: _scanned,
    tt.Broadcast: _repeated,
    ttg.ConvertLayout: lambda op, layout: layout,
}

_BACKWARD: dict[type, Callable[[Any, Any], Any]] = {
    tt.Reduce: _reduced,
    tt.ExpandDims: lambda op, layout: Slice(op.axis, layout),
    tt.Trans: _inverse_transposed,
    tt.Reshape: _reshape_backward,
    tt.Join: lambda op, layout: split(layout, op.result.type.shape),
    tt.Split: lambda op, layout: joined(layout, op.results[0].type.shape),
    tt.Scan: _scanned,
    tt.Broadcast: _unrepeated,
    ttg.Fp4ToFp: _packed,
}


def forward(op: Operation, i: int, layout: Any) -> Any:
    """The layout of the results when operand i has `layout`; None for memory accesses, which keep their own."""
    cls = op.__class__
    if cls is tt.Gather:
        return layout if i == 1 and not op.efficient_layout else None  # type: ignore[attr-defined]
    rule = _FORWARD.get(cls)
    if rule is not None:
        out = rule(op, layout)
        return _as_spelt(op.results[0], out) if _rearranges(op) else out
    return layout if _ALIKE[cls] and not (isinstance(op, PointerAccess) and op.vectorized) else None


def backward(op: Operation, layout: Any) -> list[Any] | None:
    """The layout that each operand needs (None: any) so that the results have `layout`."""
    cls = op.__class__
    if cls is tt.Gather:
        return [None, layout]
    rule = _BACKWARD.get(cls)
    wanted = layout if _ALIKE[cls] else None
    if rule is not None:
        wanted = rule(op, layout)
        wanted = _as_spelt(op.operands[0], wanted) if _rearranges(op) else wanted
    if wanted is None and op.operands:
        return None
    return [wanted if isinstance(v.type, TensorType) else None for v in op.operands]


def _rearranges(op: Operation) -> bool:
    """Whether the layout of `op` follows from another by a map, which may give an equal one in another form."""
    return op.traits & (REARRANGES | REPEATS) == REARRANGES


def _as_spelt(value: Value, layout: Any) -> Any:
    """`layout`, or that of `value` if both are the same map: then nothing has to change."""
    have = layout_of(value)
    return have if layout is not None and have is not None and same_places(value.type.shape, have, layout) else layout  # type: ignore[attr-defined]


@functools.lru_cache(4096)
def same_places(shape: tuple[int, ...], a: Any, b: Any) -> bool:
    """Whether two layouts of a tensor of `shape` are the same map."""
    return a is b or (map_or_none(a, shape) is map_or_none(b, shape) is not None)


# -- control flow -------------------------------------------------------------------------------------------------


def forwarded_values(op: Operation, i: int) -> list[Value] | None:
    """The values that operand `i` is forwarded to unchanged, which have its layout; None if `op` does not forward it.

    Those are its successors in control flow, and the results of a wait.
    """
    return [op.results[i]] if op.name == "ttng.warp_group_dot_wait" else successor_values(op, i)


# -- layout-independent operations --------------------------------------------------------------------------------


def is_expensive_access(op: Any) -> bool:
    """Whether a memory access is of a tensor with at least as many elements as there are threads.

    Smaller tensors are loaded by several threads redundantly, from the cache.
    """
    ty = op.operands[0].type
    if not isinstance(ty, TensorType) or not isinstance(ty.encoding, Distributed):
        return False
    elements = prod(ty.shape)
    return elements > 1 and elements >= ty.encoding.lanes * ty.encoding.warps


def elements_per_thread(ty: Any, layout: Any) -> int:
    """The number of distinct elements that a thread holds in `layout`; 0 where the map is unknown."""
    return _held(ty.shape, layout)


@functools.lru_cache(4096)
def _held(shape: tuple[int, ...], layout: Any) -> int:
    whole = map_or_none(layout, shape)
    return 0 if whole is None else unique_registers(whole)


def takes_any_result(op: Any, layout: Any) -> bool:
    """Whether the results of `op` may have `layout` with the layouts of the operands unchanged."""
    test = _ANY_RESULT.get(op.__class__)
    return test is not None and test(op, layout)


def _always(op: Any, layout: Any) -> bool:
    return True


def _cat(op: Any, layout: Any) -> bool:
    """A thread must hold the same number of elements of the result as of both operands."""
    return 2 * elements_per_thread(op.lhs.type, layout_of(op.lhs)) == elements_per_thread(op.result.type, layout) > 0


def _reshape(op: Any, layout: Any) -> bool:
    """Elements may be in any order, as long as they stay in their threads."""
    if not op.allow_reorder or op.efficient_layout:
        return False
    return not moves_elements(op.src.type, with_layout(op.result.type, layout))


def moves_elements(before: Any, after: Any) -> bool:
    """Whether a reshape in any order moves elements between threads.

    It does not if each thread holds as many elements as before, and copies are in the same threads.
    """
    a, b = map_or_none(before.encoding, before.shape), map_or_none(after.encoding, after.shape)
    if a is None or b is None:
        return True
    return a.redundant() != b.redundant() or a.ins["register"] != b.ins["register"]


_ANY_RESULT: dict[type, Callable[[Any, Any], bool]] = {
    arith.Constant: _always,
    tt.MakeRange: _always,
    tt.Splat: _always,
    tt.Histogram: _always,
    ttg.LocalLoad: _always,
    ttg.ConvertLayout: _always,
    tt.Cat: _cat,
    tt.Reshape: _reshape,
}
