"""Functions that LLVM knows as vector intrinsics, and those that are one or two instructions."""

from __future__ import annotations

from .builder import FloatFormat, FunctionBuilder, MathFunction, Value, VectorType

__all__ = ["INTRINSICS", "intrinsic_function", "rsqrt"]

# Our name: (LLVM's name, arity).
INTRINSICS = {
    "abs": ("fabs", 1),
    "ceil": ("ceil", 1),
    "copysign": ("copysign", 2),
    "floor": ("floor", 1),
    "fma": ("fma", 3),
    "rint": ("rint", 1),
    "round": ("round", 1),
    "roundeven": ("roundeven", 1),
    "sqrt": ("sqrt", 1),
    "trunc": ("trunc", 1),
}


def intrinsic_function(name: str, format: FloatFormat, lanes: int) -> MathFunction:
    """The intrinsic as a function without text."""
    llvm_name, arity = INTRINSICS[name]
    type = VectorType(format.element, lanes)
    symbol = f"llvm.{llvm_name}.{type.suffix}"
    declare = f"declare {type.text} @{symbol}({', '.join([type.text] * arity)})"
    return MathFunction(name, format.name, lanes, symbol, "", frozenset({declare}))


def rsqrt(b: FunctionBuilder, x: Value) -> Value:
    """1 / sqrt(x)."""
    return 1.0 / b.sqrt(x)
