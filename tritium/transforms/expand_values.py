"""Expand values of bundled types into their parts.

    %d: !tt.ptr<tensor<8xf32>>          %d.base: !tt.ptr<f32>, %d.shape: i64, %d.stride: i64, %d.offset: i64
    scf.for iter_args(%d)          =>   scf.for iter_args(%d.base, %d.shape, %d.stride, %d.offset)

Handlers rewrite the operations that define or use such a value; every other operation that only forwards one (a loop, a
branch, a call, a return, a function) has the parts instead. A select becomes a select of each part; an undefined value
(the result of a loop that has not returned yet) has undefined parts.

Parts that a loop does not change are dropped by canonicalize afterwards, so that a block pointer which a loop advances
costs only its offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dialects import arith, tt, ub
from ..ir import (
    RETURN_LIKE,
    ArrayAttr,
    Block,
    Builder,
    DenseArrayAttr,
    DictionaryAttr,
    FunctionType,
    Op,
    Operation,
    Region,
    Type,
    TypeAttr,
    Value,
)
from ..support import TritiumError

__all__ = ["Bundle", "Expander", "UnsupportedBundleError"]

Bundle = list[tuple[str, Type]]
"""The parts of a bundled type: (suffix for names, type)."""


class UnsupportedBundleError(TritiumError):
    """A block pointer or descriptor is used by an operation that does not support it."""


class Expander:
    """Expand values into their parts; `parts_of` gives the bundle of a type, or None for other types."""

    def __init__(
        self,
        parts_of: Callable[[Type], Bundle | None],
        handlers: dict[type[Operation], Callable[[Any, Expander], None]],
    ) -> None:
        self.parts_of = parts_of
        self.handlers = {arith.Select: _select, ub.Poison: _poison, **handlers}
        self.parts: dict[Value, list[Value]] = {}
        self.finished: list[Operation] = []
        self.arguments: list[tuple[Block, list[int]]] = []

    def run(self, func: Any) -> bool:
        """Expand all values in a function; returns whether there were any."""
        old_types = [arg.type for arg in func.entry.args]
        for block in func.regions[0].blocks:
            self.block_arguments(block)
        for block in func.regions[0].blocks:
            self.block(block)
        for op in reversed(self.finished):
            op.erase()
        for block, positions in reversed(self.arguments):
            for i in reversed(positions):
                block.erase_argument(i)
        self.signature(func, old_types)
        return bool(self.finished or self.arguments)

    def signature(self, func: Any, old_types: list[Type]) -> None:
        """Update the function type and argument attributes from its entry block."""
        results = [t for r in func.function_type.results for t in self.types(r)]
        ty = FunctionType(tuple(a.type for a in func.entry.args), tuple(results))
        if ty is func.function_type:
            return
        func.attributes["function_type"] = TypeAttr(ty)
        if func.arg_attrs is not None:
            empty = DictionaryAttr({})
            rows: list[Any] = []
            for old, attrs in zip(old_types, func.arg_attrs.elements):
                parts = self.parts_of(old)
                rows += [attrs] if parts is None else [empty] * len(parts)
            func.attributes["arg_attrs"] = ArrayAttr(tuple(rows))

    def types(self, ty: Type) -> list[Type]:
        """The types of the parts, or the type itself."""
        parts = self.parts_of(ty)
        return [ty] if parts is None else [t for _, t in parts]

    def block_arguments(self, block: Block) -> None:
        """Give a block the parts as arguments, beside the values they replace, which are removed at the end."""
        positions, at = [], 0
        while at < len(block.args):
            arg = block.args[at]
            bundle = self.parts_of(arg.type)
            if bundle is not None:
                positions.append(at)
                fresh = [block.insert_argument(at + 1 + k, ty, arg.loc) for k, (_, ty) in enumerate(bundle)]
                self.name(fresh, arg, bundle)
                self.parts[arg] = list(fresh)
                at += len(bundle)
            at += 1
        if positions:
            self.arguments.append((block, positions))

    def name(self, parts: list[Any], whole: Value, bundle: Bundle) -> None:
        """Name the parts after the value they come from."""
        if whole.hint is not None:
            for part, (suffix, _) in zip(parts, bundle):
                if part.hint is None:
                    part.hint = f"{whole.hint}_{suffix}" if suffix else whole.hint

    def block(self, block: Block) -> None:
        """Expand operands and results of the operations in a block, whose arguments are expanded."""
        for op in block:
            handler = self.handlers.get(op.__class__)
            if handler is not None and self.concerns(op):
                handler(op, self)
                self.finished.append(op)
                continue
            op = self.passing_on(op)
            for region in op.regions:
                for inner in region.blocks:
                    self.block_arguments(inner)
                for inner in region.blocks:
                    self.block(inner)

    def concerns(self, op: Operation) -> bool:
        """True when an operand or result of `op` is expanded."""
        return any(v in self.parts for v in op.operands) or any(self.parts_of(r.type) for r in op.results)

    def passing_on(self, op: Operation) -> Operation:
        """`op`, or its replacement with parts as operands and results."""
        if not self.concerns(op):
            return op
        if not (op.regions or op.successors or op.__class__ is tt.Call or op.traits & RETURN_LIKE):
            taken = next(ty for ty in (v.type for v in (*op.operands, *op.results)) if self.parts_of(ty) is not None)
            raise UnsupportedBundleError(f"{op.name} does not support a value of type {taken}")
        operands = [part for v in op.operands for part in self.parts.get(v, [v])]
        self.resize_segments(op)
        if not any(self.parts_of(r.type) for r in op.results):
            op.set_operands(operands)
            return op
        types = [t for r in op.results for t in self.types(r.type)]
        regions: list[Region] = op.regions
        op.regions = []
        assert isinstance(op, Op)
        new: Operation = type(op).create(operands, types, dict(op.attributes), regions, list(op.successors), op.loc)
        assert op.parent is not None
        op.parent.insert_before(new, op)
        self.match_results(op, new)
        self.finished.append(op)
        return new

    def match_results(self, op: Operation, new: Operation) -> None:
        """Replace results that are kept, and record those that are expanded."""
        at = 0
        for r in op.results:
            bundle = self.parts_of(r.type)
            if bundle is None:
                new.results[at].hint = r.hint
                r.replace_all_uses_with(new.results[at])
                at += 1
            else:
                self.parts[r] = list(new.results[at : at + len(bundle)])
                self.name(self.parts[r], r, bundle)
                at += len(bundle)

    def resize_segments(self, op: Operation) -> None:
        """Resize segments of operands by their parts."""
        sizes = op.attributes.get("operandSegmentSizes")
        if not isinstance(sizes, DenseArrayAttr):
            return
        new, at = [], 0
        for n in sizes.values:
            new.append(sum(len(self.parts.get(v, [v])) for v in op.operands[at : at + n]))
            at += n
        op.attributes["operandSegmentSizes"] = DenseArrayAttr(tuple(new), sizes.element)


def _select(op: Any, values: Expander) -> None:
    b = Builder(op.parent, op, op.loc)
    pairs = zip(values.parts[op.true_value], values.parts[op.false_value])
    values.parts[op.result] = [x if x is y else b.add(arith.Select(op.condition, x, y)) for x, y in pairs]


def _poison(op: Any, values: Expander) -> None:
    b = Builder(op.parent, op, op.loc)
    values.parts[op.result] = [b.add(ub.Poison(result=ty)) for ty in values.types(op.result.type)]
