"""The one table of elementwise math functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ....support.dataclasses import dataclass
from . import (
    errorfunction,
    exponential,
    gamma,
    hyperbolic,
    inverse_trigonometric,
    logarithm,
    native,
    power,
    trigonometric,
)
from .builder import F32, F64, MathFunction, Value, define

__all__ = ["MATH_FUNCTIONS", "MEASURED", "MathSpec", "vector_math_function"]

_FORMATS = {"f32": F32, "f64": F64}


@dataclass(frozen=True)
class MathSpec:
    """A function: operands, the error in units in the last place it keeps below (0.5: correctly rounded), remarks.

    `body` is None for what LLVM has as an intrinsic.
    """

    name: str
    arity: int
    ulp_f32: float
    ulp_f64: float
    notes: str
    body: Callable[..., Value] | None = None


_SPECS = (
    MathSpec("exp", 1, 1.0, 1.0, "gradual underflow", exponential.exp),
    MathSpec("exp2", 1, 1.0, 1.0, "exact for integers", exponential.exp2),
    MathSpec("exp10", 1, 1.25, 1.25, "", exponential.exp10),
    MathSpec("expm1", 1, 1.25, 1.5, "", exponential.expm1),
    MathSpec("log", 1, 1.0, 1.0, "", logarithm.log),
    MathSpec("log2", 1, 1.0, 1.25, "exact for powers of two", logarithm.log2),
    MathSpec("log10", 1, 1.0, 1.0, "", logarithm.log10),
    MathSpec("log1p", 1, 1.0, 1.0, "", logarithm.log1p),
    MathSpec("sin", 1, 1.0, 1.0, "every finite argument (Payne-Hanek beyond 2^16, 2^20)", trigonometric.sin),
    MathSpec("cos", 1, 1.0, 1.0, "every finite argument (Payne-Hanek beyond 2^16, 2^20)", trigonometric.cos),
    MathSpec("tan", 1, 1.0, 1.0, "every finite argument (Payne-Hanek beyond 2^16, 2^20)", trigonometric.tan),
    MathSpec("tanh", 1, 1.5, 1.5, "", hyperbolic.tanh),
    MathSpec("sinh", 1, 1.5, 1.5, "", hyperbolic.sinh),
    MathSpec("cosh", 1, 1.0, 1.0, "", hyperbolic.cosh),
    MathSpec("asinh", 1, 1.0, 1.25, "", hyperbolic.asinh),
    MathSpec("acosh", 1, 1.0, 1.25, "", hyperbolic.acosh),
    MathSpec("atanh", 1, 1.0, 1.25, "", hyperbolic.atanh),
    MathSpec("asin", 1, 1.0, 1.0, "", inverse_trigonometric.asin),
    MathSpec("acos", 1, 1.0, 1.0, "", inverse_trigonometric.acos),
    MathSpec("atan", 1, 1.5, 1.5, "", inverse_trigonometric.atan),
    MathSpec("atan2", 2, 1.75, 1.75, "", inverse_trigonometric.atan2),
    MathSpec("pow", 2, 1.0, 1.0, "", power.pow),
    MathSpec("cbrt", 1, 1.0, 1.0, "", power.cbrt),
    MathSpec("hypot", 2, 1.0, 1.0, "", power.hypot),
    MathSpec("fmod", 2, 0.0, 0.0, "exact", power.fmod),
    MathSpec("erf", 1, 1.25, 1.25, "", errorfunction.erf),
    MathSpec("erfc", 1, 1.0, 4.0, "", errorfunction.erfc),
    MathSpec("erfinv", 1, 1.0, 3.0, "", errorfunction.erfinv),
    MathSpec("lgamma", 1, 1.0, 6.0, "for x < 0 in units of lgamma(-x), as it is a difference", gamma.lgamma),
    MathSpec("tgamma", 1, 1.0, 7.0, "", gamma.tgamma),
    MathSpec("rsqrt", 1, 1.5, 1.5, "1 / sqrt(x), two roundings", native.rsqrt),
    *(MathSpec(name, arity, 0.5, 0.5, f"llvm.{llvm_name}") for name, (llvm_name, arity) in native.INTRINSICS.items()),
)

# The largest errors found, f32 and f64, 2026-11 (`tests/conversion/llvm/ulp_sweep.py`). f32 functions of one argument
# except erfinv: all 2^32 arguments. Everything else: twelve million, spread over all bit patterns and the
# usual range. The results are the same bits on AVX-512, AVX2, SSE2 and AArch64.
MEASURED: dict[str, tuple[float, float]] = {
    "exp": (0.877, 0.875),
    "exp2": (0.879, 0.809),
    "exp10": (1.067, 1.115),
    "expm1": (1.087, 1.197),
    "log": (0.819, 0.867),
    "log2": (0.985, 1.025),
    "log10": (0.890, 0.909),
    "log1p": (0.890, 0.861),
    "sin": (0.783, 0.771),
    "cos": (0.783, 0.773),
    "tan": (0.988, 0.961),
    "tanh": (1.325, 1.299),
    "sinh": (1.331, 1.311),
    "cosh": (0.875, 0.875),
    "asinh": (0.501, 0.983),
    "acosh": (0.501, 0.990),
    "atanh": (0.501, 0.972),
    "asin": (0.714, 0.782),
    "acos": (0.677, 0.733),
    "atan": (1.274, 1.292),
    "atan2": (1.505, 1.486),
    "pow": (0.502, 0.850),
    "cbrt": (0.501, 0.501),
    "hypot": (0.501, 0.501),
    "fmod": (0.000, 0.000),
    "erf": (1.083, 1.155),
    "erfc": (0.512, 3.759),
    "erfinv": (0.599, 2.082),
    "lgamma": (0.501, 5.062),
    "tgamma": (0.505, 5.680),
    "rsqrt": (1.491, 1.492),
}

MATH_FUNCTIONS: dict[str, MathSpec] = {spec.name: spec for spec in _SPECS}


@cache
def vector_math_function(name: str, element: str, lanes: int, avx512: bool = False) -> MathFunction:
    """The function `name` of MATH_FUNCTIONS over `lanes` lanes of `element` ("f32" or "f64"); one lane is a scalar.

    With `avx512` it may use what only that has: `vscalef` in exp and exp2 of whole registers.

    Raises KeyError for an unknown name or element, ValueError for lanes < 1.
    """
    spec, format = MATH_FUNCTIONS[name], _FORMATS[element]
    if lanes < 1:
        raise ValueError(f"{lanes} lanes")
    if spec.body is None:
        return native.intrinsic_function(name, format, lanes)
    has_scalef = avx512 and name in ("exp", "exp2") and lanes * format.bits == 512
    return define(name, format, lanes, spec.arity, spec.body, has_scalef=has_scalef)
