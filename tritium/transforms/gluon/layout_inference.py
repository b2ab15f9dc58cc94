"""Infer layouts that a program leaves open, from tensors whose layouts are known.

A layout is propagated both ways, from operands to results, from results to operands and along control flow, through all
tensors whose encoding is a placeholder (`#gluon.auto_encoding`, `#gluon.coalesced_encoding`). Two layouts that meet at
one tensor are an error: the program must say where elements move.
"""

from __future__ import annotations

from typing import Any

from ...analysis.dataflow import propagate
from ...dialects import gluon
from ...dialects.ttg_layouts import Layout
from ...ir import (
    Attribute,
    BlockArgument,
    DenseElementsAttr,
    MemoryAccess,
    Operation,
    TensorType,
    Value,
    predecessor_operands,
    successor_values,
)
from ...support.errors import UnsupportedOperation
from ..layout_flow import backward, forward, layout_of, with_layout

__all__ = ["LayoutInference"]


class LayoutInference:
    """The layouts of the tensors in `func` whose encoding is a `placeholder`."""

    def __init__(self, func: Operation, placeholder: type[Attribute]) -> None:
        self.func = func
        self.placeholder = placeholder
        self.found: dict[Value, Any] = {}

    def infer(self, known: list[tuple[Value, Any]]) -> None:
        """Propagate the layouts of `known` tensors. Raises UnsupportedOperation where two different ones meet."""
        propagate([v for value, layout in known for v in self._assign(value, layout)], self._neighbors)

    def apply(self) -> int:
        """Change the types of the tensors; returns their number."""
        for value, layout in self.found.items():
            value.type = ty = with_layout(value.type, layout)
            op = value.defining_op
            constant = None if op is None else op.attributes.get("value")
            if op is not None and isinstance(constant, DenseElementsAttr):
                op.attributes["value"] = DenseElementsAttr(constant.values, ty)
        return len(self.found)

    def require_all(self, what: str) -> None:
        """Raise UnsupportedOperation for the first tensor that still has the placeholder."""
        for op in self.func.walk():
            arguments = [a for region in op.regions for block in region.blocks for a in block.args]
            if any(isinstance(layout_of(value), self.placeholder) for value in (*arguments, *op.results)):
                raise UnsupportedOperation(op, what)

    def _assign(self, value: Value, layout: Any) -> list[Value]:
        """The value, if it has a placeholder and gets a layout now."""
        if not isinstance(layout_of(value), self.placeholder) or not isinstance(layout, Layout):
            return []
        have = self.found.get(value)
        if have is None:
            self.found[value] = layout
            return [value]
        if have is not layout:
            where = self.func if isinstance(value, BlockArgument) else value.defining_op
            raise UnsupportedOperation(
                where, f"has a tensor for which two layouts are inferred: {have} and {layout}; convert one of them"
            )
        return []

    def _neighbors(self, value: Value) -> list[Value]:
        """The tensors that get a layout from `value`."""
        layout = self.found[value]
        changed = []
        for user, i in value.uses:
            for other, wanted in self._around(user, i, layout):
                changed += self._assign(other, wanted)
        op = value.defining_op
        if op is not None and not isinstance(op, gluon.SetAutoLayout):
            changed += [v for other, wanted in self._before(op, layout) for v in self._assign(other, wanted)]
        for source, i in predecessor_operands(value) or ():
            changed += self._assign(source.operands[i], layout)
        return changed

    def _around(self, user: Operation, i: int, layout: Any) -> list[tuple[Value, Any]]:
        """The tensors of `user`, and what it forwards operand i to, with the layouts that follow."""
        forwarded = successor_values(user, i)
        if forwarded is not None:
            return [(value, layout) for value in forwarded]
        if isinstance(user, gluon.SetAutoLayout):
            return []
        if isinstance(user, MemoryAccess) and user.vectorized:
            return [(v, layout) for v in (*user.operands, *user.results) if isinstance(v.type, TensorType)]
        result = forward(user, i, layout)
        if result is None:
            return []
        return [(r, result) for r in user.results] + self._before(user, result)

    def _before(self, op: Operation, layout: Any) -> list[tuple[Value, Any]]:
        """The operands of `op`, and its other results, with the layouts that follow from that of a result."""
        if isinstance(op, MemoryAccess) and op.vectorized:
            return [(v, layout) for v in (*op.operands, *op.results) if isinstance(v.type, TensorType)]
        wanted = backward(op, layout) or []
        return [(r, layout) for r in op.results] + [(v, w) for v, w in zip(op.operands, wanted) if w is not None]
