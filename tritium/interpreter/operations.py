"""The evaluator's arith, math, scf and cf operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..ir import DenseElementsAttr, element_type
from .evaluator import AssertionFailed, Jump, undefined
from .extremes import maximum, maximum_number, minimum, minimum_number
from .fused import fused_multiply_add
from .meanings import OPERATIONS, meaning
from .numbers import decode, dtype_of, encode, fit, is_narrow, within


def unsigned(x: Any) -> Any:
    x = np.asarray(x)
    return x.astype(np.uint8) if x.dtype == np.bool_ else x.view(f"u{x.dtype.itemsize}")


def signed(x: Any) -> Any:
    """i1's true is -1 where it is signed."""
    x = np.asarray(x)
    return -x.astype(np.int8) if x.dtype == np.bool_ else x


def width(op: Any) -> int:
    return element_type(op.operands[0].type).width  # type: ignore[attr-defined]


# -- integers -----------------------------------------------------------------------------------------------------


def _quotient(a: Any, b: Any, rounding: str) -> Any:
    """Exact integer division of int64 or uint64 arrays; by zero the dividend, as on all targets."""
    safe = np.where(b == 0, np.ones_like(b), b)
    if a.dtype.kind == "u":
        return np.where(b == 0, a, (a // safe) + ((a % safe != 0) if rounding == "ceil" else 0))
    floor = np.floor_divide(a, safe)
    inexact = floor * safe != a
    if rounding == "ceil":
        floor = floor + inexact
    elif rounding == "trunc":
        floor = floor + (inexact & ((a < 0) != (safe < 0)))
    return np.where(b == 0, a, floor)


def _binary(fn: Any, view: Any = lambda x: x) -> Any:
    return lambda ev, op, a, b: fn(view(a), view(b))


for _name, _fn in {"addi": np.add, "subi": np.subtract, "muli": np.multiply}.items():
    OPERATIONS[f"arith.{_name}"] = _binary(_fn, lambda x: unsigned(x))
for _name, _fn in {"andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor}.items():
    OPERATIONS[f"arith.{_name}"] = _binary(_fn)
for _name, _fn, _view in (
    ("maxsi", np.maximum, signed),
    ("minsi", np.minimum, signed),
    ("maxui", np.maximum, unsigned),
    ("minui", np.minimum, unsigned),
):
    OPERATIONS[f"arith.{_name}"] = _binary(_fn, _view)
for _name, _rounding in {"divsi": "trunc", "floordivsi": "floor", "ceildivsi": "ceil"}.items():
    OPERATIONS[f"arith.{_name}"] = _binary(lambda a, b, r=_rounding: _quotient(a, b, r), signed)
for _name, _rounding in {"divui": "floor", "ceildivui": "ceil"}.items():
    OPERATIONS[f"arith.{_name}"] = _binary(lambda a, b, r=_rounding: _quotient(a, b, r), unsigned)


@meaning("arith.remsi")
def _remsi(ev: Any, op: Any, a: Any, b: Any) -> Any:
    a, b = signed(a), signed(b)
    return np.where(b == 0, 0, a - _quotient(a, b, "trunc") * b)


@meaning("arith.remui")
def _remui(ev: Any, op: Any, a: Any, b: Any) -> Any:
    a, b = unsigned(a), unsigned(b)
    return np.where(b == 0, np.zeros_like(a), a - _quotient(a, b, "floor") * b)


@meaning("arith.shli", "arith.shrsi", "arith.shrui")
def _shift(ev: Any, op: Any, a: Any, b: Any) -> Any:
    w = width(op)
    by = unsigned(b)
    inside = by < w
    by = np.where(inside, by, 0).astype(by.dtype)
    if op.name == "arith.shrsi":
        a = signed(a)
        return np.where(inside, a >> by.astype(a.dtype), a >> a.dtype.type(min(w, a.dtype.itemsize * 8) - 1))
    a = unsigned(a)
    return np.where(inside, a << by if op.name == "arith.shli" else a >> by, 0)


@meaning("arith.addui_extended")
def _add_extended(ev: Any, op: Any, a: Any, b: Any) -> Any:
    low = unsigned(a) + unsigned(b)
    return low, low < unsigned(a)


def _high_product(a: Any, b: Any, w: int) -> Any:
    """The high half of the multiplication, through Python's integers."""
    fn = np.frompyfunc(lambda x, y: (int(x) * int(y)) >> w, 2, 1)
    fold = np.frompyfunc(lambda p: ((p + (1 << (w - 1))) % (1 << w)) - (1 << (w - 1)), 1, 1)
    return np.asarray(fold(fn(a, b))).astype(np.int64)


@meaning("arith.mulsi_extended", "arith.mului_extended")
def _mul_extended(ev: Any, op: Any, a: Any, b: Any) -> Any:
    view = signed if op.name == "arith.mulsi_extended" else unsigned
    return unsigned(a) * unsigned(b), _high_product(view(a), view(b), width(op))


@meaning("tt.mulhiui")
def _mulhiui(ev: Any, op: Any, a: Any, b: Any) -> Any:
    return _high_product(unsigned(a), unsigned(b), width(op))


@meaning("math.absi", "math.ctpop", "math.ctlz", "math.cttz")
def _bit_functions(ev: Any, op: Any, a: Any) -> Any:
    w = width(op)
    if op.name == "math.absi":
        return np.abs(signed(a))
    one = {
        "math.ctpop": lambda x: int(x).bit_count(),
        "math.ctlz": lambda x: w - int(x).bit_length(),
        "math.cttz": lambda x: w if not x else (int(x) & -int(x)).bit_length() - 1,
    }[op.name]
    return np.asarray(np.frompyfunc(one, 1, 1)(unsigned(a))).astype(np.int64)


# -- comparisons and choice ---------------------------------------------------------------------------------------

_COMPARE = {"e": np.equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


@meaning("arith.cmpi")
def _cmpi(ev: Any, op: Any, a: Any, b: Any) -> Any:
    name = op.predicate.name
    if name in ("eq", "ne"):
        return (np.asarray(a) == np.asarray(b)) == (name == "eq")
    view = signed if name[0] == "s" else unsigned
    return _COMPARE[name[1:]](view(a), view(b))


@meaning("arith.cmpf")
def _cmpf(ev: Any, op: Any, a: Any, b: Any) -> Any:
    """oXX: both are numbers and a XX b; uXX: or one is NaN."""
    name = op.predicate.name
    unordered = np.isnan(a) | np.isnan(b)
    if name in ("true", "false"):
        return np.full(unordered.shape, name == "true")
    if name in ("ord", "uno"):
        return unordered == (name == "uno")
    compared = np.not_equal(a, b) if name[1:] == "ne" else _COMPARE["e" if name[1:] == "eq" else name[1:]](a, b)
    return compared | unordered if name[0] == "u" else compared & ~unordered


@meaning("arith.select")
def _select(ev: Any, op: Any, c: Any, a: Any, b: Any) -> Any:
    if np.ndim(c) == 0:
        return a if c else b
    return np.where(c, a, b)


# -- floats -------------------------------------------------------------------------------------------------------


for _name, _fn in {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
}.items():
    OPERATIONS[f"arith.{_name}"] = _binary(_fn)
OPERATIONS["tt.precise_divf"] = OPERATIONS["tt.approx_divf"] = OPERATIONS["arith.divf"]
OPERATIONS["arith.negf"] = lambda ev, op, a: -np.asarray(a)
OPERATIONS["arith.maximumf"] = _binary(maximum)
OPERATIONS["arith.minimumf"] = _binary(minimum)
OPERATIONS["arith.maxnumf"] = _binary(maximum_number)
OPERATIONS["arith.minnumf"] = _binary(minimum_number)


@meaning("tt.clampf")
def _clamp(ev: Any, op: Any, x: Any, low: Any, high: Any) -> Any:
    if int(op.propagateNan) != 0:
        return minimum(maximum(x, low), high)
    return minimum_number(maximum_number(x, low), high)


def _half_away(x: Any) -> Any:
    whole = np.trunc(x)
    return whole + np.copysign((np.abs(x - whole) >= 0.5).astype(np.float64), x)


_erf, _erfc = np.vectorize(math.erf, [float]), np.vectorize(math.erfc, [float])
_MATH = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt, "erf": _erf,
    "erfc": _erfc, "absf": np.abs, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round": _half_away,
    "roundeven": np.rint, "atan2": np.arctan2, "powf": np.power, "copysign": np.copysign,
}  # fmt: skip


def _in_double(fn: Any) -> Any:
    def wide(ev: Any, op: Any, *args: Any) -> Any:
        return fn(*[np.asarray(a, np.float64) for a in args])

    return wide


for _name, _fn in _MATH.items():
    OPERATIONS[f"math.{_name}"] = _in_double(_fn)
OPERATIONS["tt.precise_sqrt"] = OPERATIONS["math.sqrt"]


@meaning("math.fma")
def _fma(ev: Any, op: Any, a: Any, b: Any, c: Any) -> Any:
    return fused_multiply_add(a, b, c)


# -- conversions --------------------------------------------------------------------------------------------------


@meaning("arith.extsi", "arith.index_cast")
def _extsi(ev: Any, op: Any, a: Any) -> Any:
    return signed(a).astype(np.int64)


@meaning("arith.extui", "arith.index_castui")
def _extui(ev: Any, op: Any, a: Any) -> Any:
    return unsigned(a).astype(np.uint64)


@meaning("arith.trunci", "arith.extf")
def _same(ev: Any, op: Any, a: Any) -> Any:
    return a


@meaning("arith.sitofp")
def _sitofp(ev: Any, op: Any, a: Any) -> Any:
    return _from_integer(signed(a), op.results[0].type)


@meaning("arith.uitofp")
def _uitofp(ev: Any, op: Any, a: Any) -> Any:
    return _from_integer(unsigned(a), op.results[0].type)


def _from_integer(a: Any, ty: Any) -> Any:
    """One rounding: NumPy's own for f32 and f64; of what double does not hold, one bit tells narrow types enough."""
    if not is_narrow(ty) and dtype_of(ty) != np.float16:
        return a.astype(dtype_of(ty))
    if a.dtype.itemsize == 8:
        large = np.abs(a.astype(np.float64)) >= 2.0**53
        a = np.where(large, (a & ~a.dtype.type(0xFFF)) | np.where(a & 0xFFF, 0x800, 0).astype(a.dtype), a)
    return within(a.astype(np.float64), ty)


@meaning("arith.fptosi", "arith.fptoui")
def _from_float(ev: Any, op: Any, a: Any) -> Any:
    """Out of range, the nearer end of the type, and 0 for NaN, as on all targets (docs/semantics.md)."""
    width, signed_ = element_type(op.results[0].type).width, op.name == "arith.fptosi"
    low, high = (-(1 << (width - 1)), 1 << (width - 1)) if signed_ else (0, 1 << width)
    kind = np.int64 if signed_ else np.uint64
    x = np.trunc(np.asarray(a, np.float64))
    inside = (x >= low) & (x < high)
    ends = np.where(x >= high, kind(high - 1), np.where(x < low, kind(low), kind(0)))
    return fit(np.where(inside, np.where(inside, x, 0).astype(kind), ends), op.results[0].type)


@meaning("arith.truncf", "tt.fp_to_fp")
def _truncf(ev: Any, op: Any, a: Any) -> Any:
    ty = op.results[0].type
    towards_zero = getattr(op, "rounding", None) == 0 or "toward_zero" in str(op.attributes.get("roundingmode", ""))
    nearest = fit(within(a, ty), ty)
    if not towards_zero:
        return nearest
    bits = encode(nearest, ty)
    exact = np.asarray(a, np.float64)
    away = np.abs(np.asarray(nearest, np.float64)) > np.abs(exact)
    stepped = decode((bits - away.astype(bits.dtype)).astype(bits.dtype), ty)
    stepped = np.where(np.isnan(stepped), 0.0, stepped).astype(nearest.dtype)  # some types have NaN where -0 would be
    return np.where(away, stepped, nearest)


@meaning("arith.bitcast", "tt.bitcast")
def _bitcast(ev: Any, op: Any, a: Any) -> Any:
    return decode(encode(a, op.operands[0].type), op.results[0].type)


@meaning("arith.constant")
def _constant(ev: Any, op: Any) -> Any:
    value, ty = op.value, op.results[0].type
    if not isinstance(value, DenseElementsAttr):
        return np.asarray(value.value).astype(dtype_of(ty))
    if value.is_splat:
        return np.full(ty.shape, value.values[0], dtype_of(ty))
    return np.array(value.values).reshape(ty.shape).astype(dtype_of(ty))


@meaning("ub.poison")
def _poison(ev: Any, op: Any) -> Any:
    return undefined(op.results[0].type)


# -- control flow -------------------------------------------------------------------------------------------------


@meaning("tt.return", "tt.reduce.return", "tt.scan.return")
def _leave(ev: Any, op: Any, *values: Any) -> Jump:
    return Jump("leave", list(values))


@meaning("cf.br")
def _br(ev: Any, op: Any, *values: Any) -> Jump:
    return Jump("branch", list(values), op.successors[0])


@meaning("cf.cond_br")
def _cond_br(ev: Any, op: Any, condition: Any, *values: Any) -> Jump:
    n = len(op.true_operands)
    return (
        Jump("branch", list(values[:n]), op.successors[0])
        if condition
        else Jump("branch", list(values[n:]), op.successors[1])
    )


@meaning("tt.assert", "cf.assert")
def _assert(ev: Any, op: Any, condition: Any) -> None:
    if not np.all(condition):
        message = op.attributes["message" if op.name == "tt.assert" else "msg"].value
        raise AssertionFailed(f"assertion failed: {message}")


@meaning("llvm.intr.assume")
def _assume(ev: Any, op: Any, condition: Any) -> None:
    if not condition:
        raise AssertionFailed("an assumption does not hold")
