"""By how much may a result differ that is rounded elsewhere? Found out by rounding at random.

Machine code may round differently than the evaluator: it contracts to FMAs, adds in another order, and computes
exp or a quotient by instructions that are off by some units in the last place. How far that carries depends on the
kernel and its data, so it is measured. The program is evaluated several times, and each float operation whose result
was rounded is off by what hardware may make of it, up or down at random (stochastic arithmetic: Vignes, "A stochastic
arithmetic for reliable scientific computation", 1993). The largest deviation of an element, times SAFETY, is what it
may differ by. Where nothing is rounded, nothing is allowed.

| operation | off by at most |
|---|---|
| additions, multiplications, divisions, conversions, square roots | one unit in the last place |
| exp, exp2 | 2 + abs(x) units: the argument is rounded before the instruction takes it |
| log, log2 | 2 units, and 2^-21: `lg2.approx` near 1 (PTX ISA, "lg2") |
| other functions | 4 units |
| functions of libraries | 16 units (of those known here the CUDA C++ programming guide states at most 11) |
| reductions, dots | one unit of the sum of magnitudes |
| operands of tf32 dots | truncated or rounded to 10 bits, as tensor cores and the assembler do |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...interpreter import Evaluator
from ...interpreter.evaluator import Buffer, shaped
from ...ir import FloatType, Operation, Type, element_type
from .compare import Result, format_of, values_of
from .runs import Launch

__all__ = ["NoisyEvaluator", "tolerances"]

RUNS = 4
SAFETY = 4.0
_PRECISION = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
_EXACT = {f"arith.{n}" for n in ("negf", "maximumf", "minimumf", "maxnumf", "minnumf", "constant", "select", "extf")}
_EXACT |= {f"math.{name}" for name in ("absf", "copysign", "ceil", "floor", "trunc", "round", "roundeven")}
_EXACT |= {"arith.bitcast", "arith.remf", "tt.clampf"}
_DOTS = ("tt.dot", "ttng.warp_group_dot")
_WIDE = {"arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide}


def unit(ty: FloatType) -> float:
    """The distance of 1 to the next number of a type, relative to numbers of any size."""
    digits = _PRECISION.get(ty.name)
    if digits is None:  # fp8: the digits stand in the name
        digits = int(ty.name.partition("M")[2][:1]) + 1
    return 2.0 ** (1 - digits)


class NoisyEvaluator(Evaluator):
    """An evaluator whose float operations are off at random, as much as hardware may make them."""

    def __init__(self, *args: Any, seed: int = 0, **more: Any) -> None:
        super().__init__(*args, **more)
        self.rng = np.random.default_rng(seed)
        self.rounds = seed % 2

    def execute(self, op: Operation, env: Any) -> Any:
        """As for every evaluator, and then off."""
        if op.name in _DOTS and self._narrow(op):
            env = {**env, **{v: self._tf32(env[v]) for v in op.operands[:2]}}
        out = super().execute(op, env)
        size = _SIZES.get(op.name) or (_of_function if op.name.startswith(("math.", "arith.", "tt.fp_to_fp")) else None)
        if size is None or op.name in _EXACT or not isinstance(out, (list, tuple)):
            return out
        operands = [env[v] for v in op.operands if v in env]
        return [self._off(op, r.type, value, size, operands) for r, value in zip(op.results, out)]

    def _narrow(self, op: Operation) -> bool:
        """Whether the operands of a dot are rounded to tf32."""
        f32 = all(getattr(element_type(v.type), "name", "") == "f32" for v in op.operands[:2])
        return f32 and "ieee" not in str(op.attributes.get("inputPrecision", ""))

    def _tf32(self, value: Any) -> Any:
        """Numbers with 10 digits behind the point: cut off by every other evaluator, rounded by those between."""
        array = getattr(value, "array", value)
        bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
        with np.errstate(over="ignore"):
            cut = ((bits + np.uint32(0x1000 * self.rounds)) & np.uint32(0xFFFFE000)).view(np.float32)
        made = np.where(np.isfinite(array), cut, array)
        return Buffer(made) if isinstance(value, Buffer) else made

    def _off(self, op: Operation, ty: Type, value: Any, size: Callable[..., Any], operands: list[Any]) -> Any:
        element = element_type(ty)
        if not isinstance(element, FloatType) or isinstance(value, Buffer):
            return value
        exact = np.asarray(value, np.float64)
        rounded = np.asarray(shaped(value, ty), np.float64)
        wide = _WIDE.get(op.name)
        if wide is not None:
            exact = wide(*(np.asarray(x, np.float64) for x in operands))
        by = size(op, rounded, operands, unit(element)) if size is not None else 0.0
        signs = self.rng.integers(0, 2, rounded.shape) * 2 - 1
        off = rounded + signs * by
        known = (exact == rounded) & (element.name != "f64") if size is _of_function else False
        return np.where(known | ~np.isfinite(rounded), rounded, off)


def _of_function(op: Operation, rounded: Any, operands: list[Any], u: float) -> Any:
    """Of an operation on elements."""
    size = np.abs(rounded) * u
    if op.name in ("math.exp", "math.exp2"):
        return size * (2 + np.abs(np.asarray(operands[0], np.float64)))
    if op.name in ("math.log", "math.log2", "math.log10"):
        return size * 2 + 2.0**-21
    return size * 4 if op.name.startswith("math.") and op.name not in ("math.sqrt", "math.fma") else size


def _of_product(op: Any, rounded: Any, operands: list[Any], u: float) -> Any:
    a, b = (np.abs(np.asarray(getattr(v, "array", v), np.float64)) for v in operands[:2])
    total = np.matmul(np.nan_to_num(a), np.nan_to_num(b)) + np.abs(rounded)
    return total * 2.0**-23


def _of_sum(op: Any, rounded: Any, operands: list[Any], u: float) -> Any:
    if not any(inner.name == "arith.addf" for inner in op.regions[0].blocks[0]):
        return 0.0
    x = np.nan_to_num(np.abs(np.asarray(operands[0], np.float64)), posinf=0.0)
    total = x.sum(op.axis) if op.name == "tt.reduce" else np.cumsum(x, op.axis)
    return total.reshape(np.shape(rounded)) * u


def _of_scaled(op: Any, rounded: Any, operands: list[Any], u: float) -> Any:
    return np.abs(rounded) * 2.0**-18


def _of_library(op: Operation, rounded: Any, operands: list[Any], u: float) -> Any:
    return np.abs(rounded) * u * 16


_SIZES: dict[str, Callable[..., Any]] = {
    "tt.extern_elementwise": _of_library,
    "tt.dot": _of_product,
    "ttng.warp_group_dot": _of_product,
    "tt.dot_scaled": _of_scaled,
    "tt.reduce": _of_sum,
    "tt.scan": _of_sum,
    "tt.precise_divf": _of_function,
    "tt.approx_divf": _of_function,
    "tt.precise_sqrt": _of_function,
}


def tolerances(launch: Launch, text: str, expected: Result, runs: int = RUNS) -> list[np.ndarray | None]:
    """By how much each element of each region may differ from `expected`; None for regions of integers.

    Integers, and elements that become NaN in a noisy run, tell nothing and are allowed nothing. As few runs are
    lucky for some elements, each is allowed what nine of ten are, of its own size and at all; and one unit where
    anything was rounded.
    """
    regions = launch.arguments.regions
    found: list[np.ndarray | None] = []
    for region, raw in zip(regions, expected.regions):
        values = values_of(raw, region.array.element)
        found.append(np.zeros(values.shape) if values.dtype.kind == "f" else None)
    for seed in range(runs):
        result = launch.on_text(text, lambda m, grid, _, seed=seed: NoisyEvaluator(m, grid, seed=seed))
        if not isinstance(result, Result):
            continue
        for region, raw, noisy, size in zip(regions, expected.regions, result.regions, found):
            if size is not None:
                np.maximum(size, _apart(raw, noisy, region.array.element), out=size)
    for region, raw, size in zip(regions, expected.regions, found):
        if size is not None and size.any():
            _level(size, np.abs(values_of(raw, region.array.element).astype(np.float64)), region.array.element)
    return found


def _apart(raw: np.ndarray, noisy: np.ndarray, element: str) -> np.ndarray:
    x, y = (values_of(r, element).astype(np.float64) for r in (raw, noisy))
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.abs(x - y), nan=0.0, posinf=0.0)


def _level(size: np.ndarray, values: np.ndarray, element: str) -> None:
    """Make of deviations what is allowed."""
    touched = size > 0
    ty = format_of(element)
    assert ty is not None
    with np.errstate(all="ignore"):
        relative = np.nan_to_num(size[touched] / values[touched], posinf=0.0)
        usual = np.minimum(np.quantile(relative, 0.9) * values, np.quantile(size[touched], 0.9))
        size[:] = np.nan_to_num(np.maximum(size, usual), posinf=0.0) * SAFETY + unit(ty) * values
    size[~np.isfinite(size)] = 0.0
