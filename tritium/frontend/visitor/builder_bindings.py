"""Methods of Triton's builder that take operands only: `builder.create_fadd(a, b)`.

User-defined builtins call them on `_semantic.builder`; `_C.libtriton.ir.builder` has the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects import arith, math, tt
from ...ir import Builder

__all__ = ["OPERATIONS", "method"]

#: create_<name> -> the operation, constructed from its operands.
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": arith.AddI,
    "addptr": tt.AddPtr,
    "and": arith.AndI,
    "ashr": arith.ShRSI,
    "ceil": math.Ceil,
    "cos": math.Cos,
    "erf": math.Erf,
    "exp": math.Exp,
    "exp2": math.Exp2,
    "fabs": math.AbsF,
    "fadd": arith.AddF,
    "fdiv": arith.DivF,
    "floor": math.Floor,
    "fma": math.Fma,
    "fmul": arith.MulF,
    "fneg": arith.NegF,
    "frem": arith.RemF,
    "fsub": arith.SubF,
    "iabs": math.AbsI,
    "log": math.Log,
    "log2": math.Log2,
    "lshr": arith.ShRUI,
    "maximumf": arith.MaximumF,
    "maxnumf": arith.MaxNumF,
    "maxsi": arith.MaxSI,
    "maxui": arith.MaxUI,
    "minimumf": arith.MinimumF,
    "minnumf": arith.MinNumF,
    "minsi": arith.MinSI,
    "minui": arith.MinUI,
    "mul": arith.MulI,
    "or": arith.OrI,
    "rsqrt": math.Rsqrt,
    "sdiv": arith.DivSI,
    "select": arith.Select,
    "shl": arith.ShLI,
    "sin": math.Sin,
    "sqrt": math.Sqrt,
    "srem": arith.RemSI,
    "sub": arith.SubI,
    "udiv": arith.DivUI,
    "urem": arith.RemUI,
    "xor": arith.XOrI,
}


def method(builder: Builder, name: str) -> Callable[..., Any] | None:
    """The method `create_…` of a builder, which inserts the operation and returns its result; None if unknown."""
    make = OPERATIONS.get(name.removeprefix("create_")) if name.startswith("create_") else None
    return None if make is None else lambda *operands: builder.add(make(*operands))
