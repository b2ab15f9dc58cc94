"""assign-cga-layouts: Distribute tensors over the CTAs of a cluster so that each CTA works independently.

    num_ctas = 2:   %x = tt.load …   32x128, CTAs own columns 0-63 and 64-127
                    %s = tt.reduce(%x, axis = 1)                                        no CTA owns a whole row

                    %x = tt.load …   32x128, CTAs own rows 0-15 and 16-31
                    %s = tt.reduce(%x, axis = 1)                                        each CTA owns whole rows

Initial layouts split every tensor on its own, slowest dimension first. This pass derives the distribution from the
operations that combine elements along an axis:

1. rule *dot*: each CTA computes a part of a dot's result of at least 64 by 64, as square as that allows; operands are
   split like the result, and not along K.
2. rule *axis*: tensors are not split along the axis of a reduction, scan or gather, and not at all for a histogram.
   Where the other dimensions are too short, CTAs own copies.
3. rule *access*: loads (through pointers or descriptors) of the operands of such operations, and stores of their
   results, get the same distribution. An access with two conflicting requests follows the first.

Conversions around the operations are left to `remove-layout-conversions`, which recomputes the values in between in the
new layouts. Programs of a single CTA are not changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....dialects import tt, ttg
from ....dialects.ttg_context import num_ctas, num_warps, threads_per_warp
from ....dialects.ttg_defaults import blocked_in
from ....dialects.ttg_layouts import Blocked, DotOperand
from ....dialects.ttg_operands import cluster_bases
from ....ir import (
    Builder,
    DescriptorAccess,
    Operation,
    TensorType,
    Value,
    count,
    functions_of,
    is_descriptor_store,
    is_global_load,
    is_pointer_store,
    may_change,
    pass_on,
    predecessor_operands,
)
from ....layout.bases import cta_bases, is_permutation, per_block
from ...layout_flow import backward, forward, forwarded_values, layout_of, takes_any_result, with_layout
from .coalesce import convert_operation

__all__ = ["assign_cga_layouts"]

Bases = tuple[tuple[int, ...], ...]

#: Minimum and sufficient rows or columns of a dot result per CTA: one warp group computes 64 rows (PTX ISA 8.7, wgmma),
#: two warp groups share the other operand.
MIN_PART, SUFFICIENT_PART = 64, 128


@pass_on("function", statistics={"operations divided": "operations with a new distribution over the CTAs of a cluster"})
def assign_cga_layouts(op: Operation) -> bool:
    """Distribute the operations of a function, or of all functions of a module, over the CTAs of a cluster."""
    changed = 0
    if num_ctas(op) > 1:
        for func in functions_of(op):
            changed += _Distribution(func).apply()
    count("operations divided", changed)
    return changed > 0


def split_except_axis(shape: tuple[int, ...], axis: int | None, ctas: int, sizes: Any, order: Any) -> Bases:
    """The CTA bases that split a tensor of `shape` along all dimensions but `axis`, slowest dimension first.

    `axis` None: along no dimension. CTAs that remain own copies.
    """
    parts = [1] * len(shape)
    left = ctas
    for d in reversed(order):
        if axis is not None and d != axis:
            parts[d] = max(1, min(left, shape[d] // sizes[d]))
            left //= parts[d]
    copies = [1] * len(shape)
    copies[order[0]] = left
    per_cga = tuple(p * c for p, c in zip(parts, copies))
    return cta_bases(per_cga, tuple(parts), tuple(order))


def split_dot_result(rows: int, columns: int, ctas: int) -> Bases:
    """The CTA bases for a dot result of `rows` by `columns`."""
    down = across = 1
    for part in (SUFFICIENT_PART, MIN_PART):
        down = max(1, min(ctas, rows // part))
        across = ctas // down
        if columns // across >= MIN_PART:
            break
    return cta_bases((down, across), (down, across), (1, 0))


def _accessed(op: Any) -> Value:
    """The tensor that determines the distribution of an access: addresses, or the data of a descriptor access."""
    return op.block if isinstance(op, DescriptorAccess) else op.operands[0]  # type: ignore[no-any-return]


class _Distribution:
    """The distribution of the tensors of a function."""

    def __init__(self, func: Operation) -> None:
        self.func = func
        self.ctas = num_ctas(func)
        self.targets: dict[Operation, tuple[list[Any], Any]] = {}  # layouts of operands and results
        self.accesses: dict[Any, Blocked] = {}
        for op in func.walk():
            rule = _RULES.get(op.__class__)
            if rule is not None and any(layout_of(v) is not None for v in op.operands):
                self.targets[op] = rule(self, op)
        for op, (operands, result) in self.targets.items():
            for v, layout in zip(op.operands, operands):
                self.spread(v, layout, [])
            for r in op.results:
                self.spread(None, None, [(r, result)])

    def blocked(self, op: Operation, ty: Any, bases: Bases) -> Blocked:
        """A blocked layout like that of the tensor, distributed over CTAs by `bases`."""
        old, rank = ty.encoding, len(ty.shape)
        plain = isinstance(old, Blocked)
        order = old.order if plain else tuple(range(rank))[::-1]
        share = per_block(ty.shape, bases)
        sizes = tuple(min(n, m) for n, m in zip(old.sizePerThread, share)) if plain else (1,) * rank
        return blocked_in(bases, share, sizes, order, num_warps(op) or 1, threads_per_warp(op))

    # -- rules ------------------------------------------------------------------------------------------------

    def dot(self, op: Any) -> tuple[list[Any], Any]:
        """Rule *dot*."""
        ty = op.result.type
        bases = split_dot_result(*ty.shape[-2:], self.ctas)
        whole = self.blocked(op, ty, tuple(((0,) * (len(ty.shape) - 2)) + basis for basis in bases))
        layouts: list[Any] = [DotOperand(0, whole), DotOperand(1, whole), whole]
        return layouts + [None] * (len(op.operands) - 3), whole

    def along_axis(self, op: Any) -> tuple[list[Any], Any]:
        """Rule *axis*."""
        ty = op.operands[0].type
        old = ty.encoding
        order = old.order if isinstance(old, Blocked) else tuple(range(len(ty.shape)))[::-1]
        sizes = old.sizePerThread if isinstance(old, Blocked) else (1,) * len(ty.shape)
        axis = None if isinstance(op, tt.Histogram) else op.axis
        layout = self.blocked(op, ty, split_except_axis(ty.shape, axis, self.ctas, sizes, order))
        if isinstance(op, tt.Gather):
            return [layout, None], None
        if isinstance(op, tt.Histogram):
            mask = [layout] * (len(op.operands) - 1)
            return [layout, *mask], None
        return [layout] * len(op.operands), forward(op, 0, layout)

    # -- access -----------------------------------------------------------------------------------------------

    def spread(self, value: Value | None, layout: Any, ahead: list[tuple[Value, Any]]) -> None:
        """Rule *access*: propagate backward from `value`, and forward from the values in `ahead`."""
        back = [(value, layout)] if value is not None and layout is not None else []
        seen: set[Any] = set()
        while back or ahead:
            forwards = not back
            node = ahead.pop() if forwards else back.pop()
            if node[1] is None or layout_of(node[0]) is None or (node, forwards) in seen:  # type: ignore[arg-type]
                continue
            seen.add((node, forwards))
            if forwards:
                ahead += self.users(*node)  # type: ignore[arg-type]
            else:
                back += self.before(*node, ahead)  # type: ignore[arg-type]

    def before(self, value: Value, layout: Any, ahead: list[tuple[Value, Any]]) -> list[tuple[Value, Any]]:
        """The operands that determine a value, with their layouts; a load is recorded, and propagated forward."""
        op: Any = value.defining_op
        edges = predecessor_operands(value)
        if edges is not None:
            return [(user.operands[i], layout) for user, i in edges]
        if op is None or op in self.targets:
            return []
        if is_global_load(op):
            if self.access(op, value.type, layout):
                ahead.append((value, self.accesses[op]))
            return []
        if isinstance(op, ttg.ConvertLayout):
            return [(op.src, layout)]
        if takes_any_result(op, layout):
            return []
        return [(v, w) for v, w in zip(op.operands, backward(op, layout) or []) if w is not None]

    def users(self, value: Value, layout: Any) -> list[tuple[Value, Any]]:
        """The values computed from a value, with their layouts; a store is recorded."""
        out: list[tuple[Value, Any]] = []
        for user, i in value.uses:
            values = forwarded_values(user, i)
            if values is not None:
                out += [(v, layout) for v in values]
            elif user.__class__ is tt.AtomicRMW or is_pointer_store(user):
                if i == 1:
                    self.access(user, value.type, layout)
            elif is_descriptor_store(user):
                if value is user.src:
                    self.access(user, value.type, layout)
            elif user not in self.targets:
                out += [(r, forward(user, i, layout)) for r in user.results]
        return out

    def access(self, op: Any, ty: Any, layout: Any) -> bool:
        """Record the distribution of an access, unless one was recorded before or it contains copies."""
        bases = cluster_bases(layout, ty.shape)
        if op in self.accesses or not is_permutation(bases, len(ty.shape)):
            return False
        self.accesses[op] = self.blocked(op, _accessed(op).type, bases)
        return True

    # -- rewriting --------------------------------------------------------------------------------------------

    def apply(self) -> int:
        """Apply the recorded layouts; returns the number of operations changed."""
        changed = 0
        for op, layout in self.accesses.items():
            if layout_of(_accessed(op)) is not layout and may_change("access", op):
                convert_operation(op, layout)
                changed += 1
        for op, (operands, result) in self.targets.items():
            if may_change("divide", op):
                changed += _convert(op, operands, result)
        return changed


_RULES: dict[type, Callable[[_Distribution, Any], tuple[list[Any], Any]]] = {
    tt.Dot: _Distribution.dot,
    tt.Reduce: _Distribution.along_axis,
    tt.Scan: _Distribution.along_axis,
    tt.Gather: _Distribution.along_axis,
    tt.Histogram: _Distribution.along_axis,
}


def _convert(op: Any, operands: list[Any], result: Any) -> bool:
    """Set the layouts of an operation, with conversions around it."""
    b = Builder(op.parent, op, op.loc)
    values: list[Value] = []
    for v, layout in zip(op.operands, operands):
        same = layout is None or layout_of(v) is layout
        values.append(v if same else b.add(ttg.ConvertLayout(v, result=with_layout(v.type, layout))))
    changed = any(v is not old for v, old in zip(values, op.operands))
    op.set_operands(values)
    b = Builder(op.parent, op.next, op.loc)
    for r in op.results:
        old = r.type
        if isinstance(old, TensorType) and result is not None and old.encoding is not result:
            users = list(r.users)
            r.type = with_layout(old, result)
            back = b.add(ttg.ConvertLayout(r, result=old))
            for user in users:
                user.set_operands([back if v is r else v for v in user.operands])
            changed = True
    return changed
