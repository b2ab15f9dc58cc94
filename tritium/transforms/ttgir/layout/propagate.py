"""Propagate layouts from anchors: the first part of `remove-layout-conversions`.

1. Anchors keep their layouts: dots, accesses to at least as many elements as there are threads, atomics, descriptor
   accesses, gathers and reshapes with a chosen layout, function arguments.
2. The layout of every anchor is propagated to its users, through operations and around loops (`layout_flow`); a value
   reached by several anchors has several candidates.
3. One candidate is chosen: a dot's layout, which is the most expensive to convert to; else the one that passes through
   the largest tensors on its way from an anchor, because the others can be converted where fewer elements are; else the
   first one.
4. All types are changed at once; then, in program order, mismatching operands are converted, once per value and layout,
   at the definition of the value.

A conversion on the way takes the layout of its operand, and becomes a no-op.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ....analysis.dataflow import propagate
from ....dialects import arith, tt, ttg
from ....dialects.ttg_layouts import Blocked, Mma
from ....dialects.ttg_operands import cluster_bases
from ....ir import (
    READ,
    Attribute,
    BlockArgument,
    Builder,
    DenseElementsAttr,
    IfLike,
    Memory,
    Operation,
    PointerAccess,
    TensorType,
    Value,
    accessed_values,
    is_buffer_store,
    is_descriptor_load,
    is_register_dot,
    shape_of,
)
from ...layout_flow import (
    backward,
    forward,
    forwarded_values,
    is_expensive_access,
    layout_of,
    reduces_within_cta,
    takes_any_result,
    with_layout,
)

__all__ = ["is_anchor", "propagate_layouts"]


def _accepts_any_layout(op: Operation) -> bool:
    """Whether the operand may have any layout (with the same distribution over CTAs as the buffer)."""
    return isinstance(op, (ttg.ConvertLayout, ttg.LocalAlloc)) or is_buffer_store(op)


def keeps_ctas(op: Any) -> bool:
    """Whether each CTA owns the part of a tensor that an operation stores to that CTA's buffer."""
    if not (isinstance(op, ttg.LocalAlloc) or is_buffer_store(op)) or op.src is None:
        return True
    layout, shape = layout_of(op.src), op.src.type.shape
    if layout is None or layout.ctas == 1:
        return True
    buffer = op.result.type if isinstance(op, ttg.LocalAlloc) else op.dst.type
    return cluster_bases(layout, shape) == cluster_bases(buffer.encoding, shape)


def is_anchor(op: Any) -> bool:
    """Whether the layouts of an operation's results must be kept."""
    if is_register_dot(op) or is_descriptor_load(op):
        return True
    if isinstance(op, PointerAccess):
        return op.vectorized and (op.atomic or is_expensive_access(op))
    if any(accessed_values(op, READ, Memory.TENSOR)):
        return True
    if isinstance(op, tt.Gather):
        return bool(op.efficient_layout)
    return isinstance(op, tt.Reshape) and bool(op.allow_reorder or op.efficient_layout)


def propagate_layouts(func: Operation) -> int:
    """Propagate the layouts of a function's anchors; returns the number of values with a new layout."""
    chosen = _Propagation(func).chosen()
    chosen = {value: layout for value, layout in chosen.items() if layout_of(value) is not layout}
    if chosen:
        _Rewriter(func, chosen).run()
    return len(chosen)


class _Propagation:
    """The layouts that reach each value, in order of arrival: `candidates[value][layout]`.

    The number with a layout is the size, in elements, of the smallest tensor on its way from an anchor, the greatest of
    all ways: the least that a conversion on each way must move.
    """

    def __init__(self, func: Operation) -> None:
        self.candidates: dict[Value, dict[Attribute, int]] = {}
        anchors: list[Value] = list(func.regions[0].blocks[0].args)
        for op in func.walk():
            if is_anchor(op):
                anchors += op.results
        for value in anchors:
            if layout_of(value) is not None:
                self.candidates[value] = {layout_of(value): _elements(value)}
        propagate(list(self.candidates), self.visit)

    def visit(self, value: Value) -> list[Value]:
        """Pass the candidates of a value to its users; the values whose candidates have changed."""
        layouts = dict(self.candidates[value])
        return [v for user, i in reversed(value.uses) for v in self.reach(user, i, layouts)]

    def reach(self, user: Operation, i: int, layouts: dict[Attribute, int]) -> list[Value]:
        """The values that get new candidates, or larger sizes, if operand i of `user` may have these layouts."""
        changed = []
        values = forwarded_values(user, i)
        flowing = list(layouts.items())
        if values is None:
            values = list(user.results)
            through = [(forward(user, i, layout), size) for layout, size in flowing] if values else []
            flowing = [(layout, size) for layout, size in through if layout is not None]
        for value in values:
            if layout_of(value) is not None and self.add(value, flowing):
                changed.append(value)
        return changed

    def add(self, value: Value, flowing: list[tuple[Attribute, int]]) -> bool:
        """Add candidates of a value; whether one is new or has a larger size."""
        have, own, changed = self.candidates.setdefault(value, {}), _elements(value), False
        for layout, size in flowing:
            if min(size, own) > have.get(layout, 0):
                have[layout] = min(size, own)
                changed = True
        return changed

    def chosen(self) -> dict[Value, Attribute]:
        """One layout for every value that has candidates."""
        return {value: self.choice(value, layouts) for value, layouts in self.candidates.items() if layouts}

    def choice(self, value: Value, layouts: dict[Attribute, int]) -> Any:
        """An access prefers a blocked layout, anything else a dot's layout, then that of the largest tensors."""
        maker = value.defining_op
        kind = Blocked if isinstance(maker, PointerAccess) and maker.vectorized else Mma
        preferred = [layout for layout in layouts if isinstance(layout, kind)]
        return preferred[0] if preferred else max(layouts, key=layouts.__getitem__)


def _elements(value: Value) -> int:
    """The number of elements of a tensor."""
    return prod(shape_of(value.type))


class _Rewriter:
    """Change the layouts of values, then convert mismatching operands."""

    def __init__(self, func: Operation, chosen: dict[Value, Attribute]) -> None:
        self.func = func
        self.before = {value: layout_of(value) for value in chosen}
        self.converted: dict[tuple[Value, Attribute], Value] = {}
        for value, layout in chosen.items():
            value.type = with_layout(value.type, layout)
            op: Any = value.defining_op
            if op.__class__ is arith.Constant:
                op.attributes["value"] = DenseElementsAttr(op.value.values, value.type)

    def run(self) -> None:
        for op in list(self.func.walk()):
            if op.operands and op is not self.func:
                self.repair(op)

    def repair(self, op: Operation) -> None:
        """Convert the operands of one operation that have other layouts than it needs."""
        for i, (value, layout) in enumerate(zip(list(op.operands), self.needed(op))):
            if layout is not None and layout_of(value) not in (None, layout):
                op.set_operand(i, self.as_layout(value, layout))

    def needed(self, op: Any) -> list[Any]:
        """The required layout of each operand."""
        if _accepts_any_layout(op) or isinstance(op, IfLike):
            return [] if keeps_ctas(op) else [self.before.get(op.src)]
        if forwarded_values(op, len(op.operands) - 1) is not None:
            taking = [forwarded_values(op, i) for i in range(len(op.operands))]
            return [layout_of(values[0]) if values else None for values in taking]
        before = self.before
        if not any(v in before for v in (*op.operands, *op.results)):
            return []
        tensors = [v for v in op.operands if layout_of(v) is not None]
        if tensors and (isinstance(op, tt.Assert) or (isinstance(op, tt.Reduce) and layout_of(op.results[0]) is None)):
            layout = layout_of(tensors[0])
            if isinstance(op, tt.Assert) or reduces_within_cta(op, layout):
                return [layout] * len(op.operands)
        if not any(r in before for r in op.results):
            return [before.get(v, layout_of(v)) for v in op.operands]
        return self.for_result(op, layout_of(op.results[0]))

    def for_result(self, op: Any, layout: Any) -> list[Any]:
        """The layouts of the operands from which the results get `layout`: their current ones, if these do."""
        for result in op.results:
            if layout_of(result) is not None:
                result.type = with_layout(result.type, layout)
        if takes_any_result(op, layout):
            return [self.before.get(v, layout_of(v)) for v in op.operands]
        if isinstance(op, tt.Gather):
            return [self.before.get(op.src, layout_of(op.src)), layout]
        for i, v in enumerate(op.operands):
            have = layout_of(v)
            if have is not None and forward(op, i, have) is layout:
                return [have] * len(op.operands)
        return backward(op, layout) or [None] * len(op.operands)

    def as_layout(self, value: Value, layout: Attribute) -> Value:
        """The value in a layout: converted once, at its definition."""
        key = value, layout
        if key not in self.converted:
            self.converted[key] = convert_after(value, layout)
        return self.converted[key]


def convert_after(value: Any, layout: Attribute) -> Value:
    """Convert `value` right after its definition."""
    ty: TensorType = with_layout(value.type, layout)
    block = value.block
    anchor = block.first if isinstance(value, BlockArgument) else value.defining_op.next
    loc = anchor.loc if isinstance(value, BlockArgument) else value.defining_op.loc
    return Builder(block, anchor, loc).add(ttg.ConvertLayout(value, result=ty))
