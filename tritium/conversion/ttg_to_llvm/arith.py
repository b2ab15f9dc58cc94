"""Constants and arithmetic on integers: the same in every register."""

from __future__ import annotations

from typing import Any

from ...dialects import arith
from ...ir import TensorType
from .context import FunctionContext, elementwise, lowers
from .types import literal, llvm_type, registers_of

__all__: list[str] = []


@lowers(arith.Constant)
def _constant(e: FunctionContext, op: arith.Constant) -> None:
    values, ty = literal(op.value), op.result.type
    if isinstance(ty, TensorType) and len(values) == 1:
        values = values * registers_of(ty)
    e.bind(op.result, values)


_INTEGER = {
    arith.AddI: "add",
    arith.SubI: "sub",
    arith.MulI: "mul",
    arith.AndI: "and",
    arith.OrI: "or",
    arith.XOrI: "xor",
}


@lowers(*_INTEGER)
def _integer(e: FunctionContext, op: Any) -> None:
    name, ty = _INTEGER[type(op)], llvm_type(op.result.type)
    elementwise(e, op, lambda a, b: e.op(f"{name} {ty} {a}, {b}"))


@lowers(arith.CmpI)
def _compare(e: FunctionContext, op: arith.CmpI) -> None:
    ty = llvm_type(op.lhs.type)
    elementwise(e, op, lambda a, b: e.op(f"icmp {op.predicate.name} {ty} {a}, {b}"))
