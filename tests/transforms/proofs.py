"""Semantics of arith and math expressions for proofs: exhaustive over NumPy arrays, or symbolic with z3.

This is docs/semantics.md as a model, written apart from the rules' own evaluation and from the interpreter. Every
operation is total, so that a rewrite has no input for which its result does not matter:

| operation | value |
|---|---|
| x / 0, x % 0 | x and 0, whatever the sign and the rounding |
| the least integer / -1, and % | itself and 0: the quotient wraps |
| a shift by the width or more | 0, or -1 for an arithmetic shift of a negative number |
| a float out of range as an integer | the nearer end of the type; 0 for NaN |
| maxnum, minnum of NaN and x | x; maximum, minimum: NaN |
| maximum and minimum of both zeros | -0.0 is less than 0.0 |

Of floats, NaN equals NaN, and 0.0 does not equal -0.0 (`test_rules_proofs.same`). A semantics is a function of the
operation and the values of its operands. Integers of width w are arrays of signed numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import z3

from tritium.dialects import arith
from tritium.dialects import math as mathd
from tritium.ir import Attribute, FloatType, Operation, Value, element_type

Meaning = Callable[..., Any]


def wrap(x: Any, w: int) -> Any:
    """The low `w` bits, signed; numbers of 64 bits are taken to fit."""
    if w >= 63:
        return np.asarray(x)
    x = np.asarray(x) & ((1 << w) - 1)
    return np.where(x >> (w - 1) != 0, x - (1 << w), x)


def low_bits(x: Any, w: int) -> Any:
    """The low `w` bits, unsigned; numbers of 64 bits are taken not to be negative."""
    if w >= 63:
        return np.asarray(x)
    return np.asarray(x) & ((1 << w) - 1)


def width_of(value: Any) -> int:
    return element_type(value.type).width  # type: ignore[attr-defined]


def _division(rounding: str, unsigned: bool, remainder: bool = False) -> Meaning:
    def meaning(op: Any, a: Any, b: Any) -> Any:
        w = width_of(op.results[0])
        if unsigned:
            a, b = low_bits(a, w), low_bits(b, w)
        by = np.where(b == 0, 1, b)
        q, rest = np.floor_divide(a, by), np.mod(a, by)
        q = q + ((rest != 0) & ((rounding == "ceil") | ((rounding == "trunc") & ((a < 0) != (by < 0)))))
        return wrap(np.where(b == 0, 0 if remainder else a, a - q * by if remainder else q), w)

    return meaning


def _shift(op: Any, a: Any, b: Any) -> Any:
    w = width_of(op.results[0])
    by = low_bits(b, w)
    inside = by < w
    by = np.where(inside, by, 0)
    if isinstance(op, arith.ShRSI):
        return np.where(inside, wrap(a >> by, w), -(np.asarray(a) < 0).astype(np.int64))
    return np.where(inside, wrap(a << by if isinstance(op, arith.ShLI) else low_bits(a, w) >> by, w), 0)


def _wrapping(fn: Any) -> Meaning:
    return lambda op, a, b: wrap(fn(a, b), width_of(op.results[0]))


def _unsigned_choice(fn: Any) -> Meaning:
    def meaning(op: Any, a: Any, b: Any) -> Any:
        w = width_of(op.results[0])
        return wrap(fn(low_bits(a, w), low_bits(b, w)), w)

    return meaning


def _extended(op: Any, a: Any, b: Any) -> Any:
    w = width_of(op.results[0])
    if not isinstance(op, arith.MulSIExtended):
        a, b = low_bits(a, w), low_bits(b, w)
    if isinstance(op, arith.AddUIExtended):
        return [wrap(a + b, w), wrap((a + b) >> w, 1)]
    return [wrap(a * b, w), wrap((a * b) >> w, w)]


def _cmpi(op: Any, a: Any, b: Any) -> Any:
    name, w = op.predicate.name, width_of(op.lhs)
    if name.startswith("u"):
        a, b = low_bits(a, w), low_bits(b, w)
    fn = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater}
    return -(fn.get(name[-2:], np.greater_equal)(a, b).astype(np.int64))


def _cmpf(op: Any, a: Any, b: Any) -> Any:
    name = op.predicate.name
    nan = np.isnan(a) | np.isnan(b)
    ordered = {
        "eq": a == b, "gt": a > b, "ge": a >= b, "lt": a < b, "le": a <= b, "ne": (a != b) & ~nan, "rd": ~nan,
        "no": nan & False, "se": nan & False, "ue": ~nan,
    }[name[-2:]]  # fmt: skip
    result = ordered | nan if name[0] == "u" or name == "true" else ordered
    return -(result.astype(np.int64))


def _choose(op: Any, c: Any, a: Any, b: Any) -> Any:
    return np.where(c != 0, a, b)


def _cast(op: Any, a: Any) -> Any:
    w = width_of(op.operands[0])
    if isinstance(op, (arith.ExtUI, arith.IndexCastUI)):
        a = low_bits(a, w)
    return wrap(a, min(width_of(op.results[0]), 62))


def _to_float(op: Any, a: Any) -> Any:
    a = low_bits(a, width_of(op.operands[0])) if isinstance(op, arith.UIToFP) else a
    return np.asarray(a, np.float64).astype(float_dtype(op.results[0]))


def _to_int(op: Any, a: Any) -> Any:
    w = width_of(op.results[0])
    low, high = (0, 1 << w) if isinstance(op, arith.FPToUI) else (-(1 << (w - 1)), 1 << (w - 1))
    whole = np.nan_to_num(np.trunc(np.asarray(a, np.float64)), nan=0.0)
    return wrap(np.clip(whole, low, high - 1).astype(np.int64), w)  # of at most 32 bits: exact in double


def float_dtype(value: Any) -> Any:
    return {"f16": np.float16, "f32": np.float32, "f64": np.float64}[str(element_type(value.type))]


def _floats(fn: Any) -> Meaning:
    return lambda op, *args: np.asarray(fn(*args)).astype(float_dtype(op.results[0]))


def _extreme(upwards: bool, keep_nan: bool) -> Meaning:
    def choose(op: Any, a: Any, b: Any) -> Any:
        larger = (a > b) | ((a == b) & ~np.signbit(a))
        result = np.where(larger == upwards, a, b)
        either = np.where(np.isnan(a), b, np.where(np.isnan(b), a, result))
        return np.where(np.isnan(a) | np.isnan(b), np.nan, result) if keep_nan else either

    return choose


def _fma(a: Any, b: Any, c: Any) -> Any:
    """Exact for f16 in double: a product has 22 bits, and the sum of it and c spans at most 22 + 40 + 11 of them."""
    wide = np.longdouble
    return (np.asarray(a, wide) * np.asarray(b, wide) + np.asarray(c, wide)).astype(np.float64)


def _bitcast(op: Any, a: Any) -> Any:
    source, target = element_type(op.operands[0].type), element_type(op.results[0].type)
    if isinstance(source, FloatType):
        raw = np.asarray(a, float_dtype(op.operands[0])).view(f"i{source.width // 8}")
    else:
        raw = np.asarray(a).astype(f"i{source.width // 8}")
    return raw.view(float_dtype(op.results[0])) if isinstance(target, FloatType) else raw.astype(np.int64)


def _half_away(x: Any) -> Any:
    return np.copysign(np.floor(np.abs(np.asarray(x, np.float64)) + 0.5), x)


MEANINGS: dict[type, Meaning] = {
    arith.AddI: _wrapping(np.add),
    arith.SubI: _wrapping(np.subtract),
    arith.MulI: _wrapping(np.multiply),
    arith.AndI: _wrapping(np.bitwise_and),
    arith.OrI: _wrapping(np.bitwise_or),
    arith.XOrI: _wrapping(np.bitwise_xor),
    arith.DivSI: _division("trunc", False),
    arith.FloorDivSI: _division("floor", False),
    arith.CeilDivSI: _division("ceil", False),
    arith.DivUI: _division("floor", True),
    arith.CeilDivUI: _division("ceil", True),
    arith.RemSI: _division("trunc", False, remainder=True),
    arith.RemUI: _division("floor", True, remainder=True),
    arith.ShLI: _shift,
    arith.ShRSI: _shift,
    arith.ShRUI: _shift,
    arith.MaxSI: _wrapping(np.maximum),
    arith.MinSI: _wrapping(np.minimum),
    arith.MaxUI: _unsigned_choice(np.maximum),
    arith.MinUI: _unsigned_choice(np.minimum),
    arith.AddUIExtended: _extended,
    arith.MulSIExtended: _extended,
    arith.MulUIExtended: _extended,
    arith.CmpI: _cmpi,
    arith.CmpF: _cmpf,
    arith.Select: _choose,
    **dict.fromkeys((arith.ExtSI, arith.ExtUI, arith.TruncI, arith.IndexCast, arith.IndexCastUI), _cast),
    **dict.fromkeys((arith.SIToFP, arith.UIToFP), _to_float),
    **dict.fromkeys((arith.FPToSI, arith.FPToUI), _to_int),
    **dict.fromkeys((arith.ExtF, arith.TruncF), _floats(lambda a: a)),
    arith.Bitcast: _bitcast,
    arith.AddF: _floats(np.add),
    arith.SubF: _floats(np.subtract),
    arith.MulF: _floats(np.multiply),
    arith.DivF: _floats(np.divide),
    arith.RemF: _floats(np.fmod),
    arith.NegF: _floats(np.negative),
    arith.MaximumF: _extreme(True, True),
    arith.MinimumF: _extreme(False, True),
    arith.MaxNumF: _extreme(True, False),
    arith.MinNumF: _extreme(False, False),
    mathd.AbsF: _floats(np.abs),
    mathd.Ceil: _floats(np.ceil),
    mathd.Floor: _floats(np.floor),
    mathd.Trunc: _floats(np.trunc),
    mathd.Round: _floats(_half_away),
    mathd.RoundEven: _floats(np.rint),
    mathd.Sqrt: _floats(lambda a: np.sqrt(np.asarray(a, np.float64))),
    mathd.CopySign: _floats(np.copysign),
    mathd.Fma: _floats(_fma),
    mathd.AbsI: lambda op, a: wrap(np.abs(a), width_of(op.results[0])),
    mathd.Ctpop: lambda op, a: _bits(op, a, lambda x, w: bin(x).count("1")),
    mathd.Ctlz: lambda op, a: _bits(op, a, lambda x, w: w - len(bin(x)[2:].lstrip("0"))),
    mathd.Cttz: lambda op, a: _bits(op, a, lambda x, w: w if x == 0 else len(bin(x)) - len(bin(x).rstrip("0"))),
}


def _bits(op: Any, a: Any, fn: Any) -> Any:
    w = width_of(op.results[0])
    return wrap(np.vectorize(lambda x: fn(int(x), w), otypes=[np.int64])(low_bits(a, w)), w)


def number(attribute: Any, like: Value) -> Any:
    """A constant attribute as a number of the type of `like`."""
    value = attribute.values[0] if hasattr(attribute, "values") else attribute.value
    if isinstance(element_type(like.type), FloatType):
        return np.asarray(value, float_dtype(like))
    return wrap(value, min(width_of(like), 62))


def evaluate(value: Any, env: dict[Value, Any], like: Value) -> Any:
    """The value of a value, operation or attribute that takes the place of the result `like`."""
    if isinstance(value, Attribute):
        return number(value, like)
    if isinstance(value, Operation):
        value = value.results[0]
    if value in env:
        return env[value]
    op = value.defining_op
    if isinstance(op, arith.Constant):
        env[value] = number(op.value, value)
        return env[value]
    operands = [evaluate(v, env, v) for v in op.operands]
    with np.errstate(all="ignore"):
        out = MEANINGS[op.__class__](op, *operands)
    for r, part in zip(op.results, out if len(op.results) > 1 else [out], strict=True):
        env[r] = part
    return env[value]


# -- z3 -----------------------------------------------------------------------------------------------------------


def _z3_divide(fn: Any, by_zero: Any = lambda a: a) -> Any:
    """z3's quotient of the least number and -1 wraps, as ours."""
    return lambda op, a, b: z3.If(b == 0, by_zero(a), fn(a, b))


def _z3_remainder(fn: Any) -> Any:
    return _z3_divide(fn, lambda a: z3.BitVecVal(0, a.size()))


def _z3_rounded(up: bool, signed: bool) -> Any:
    def fn(a: Any, b: Any) -> Any:
        q = a / b if signed else z3.UDiv(a, b)
        r = z3.SRem(a, b) if signed else z3.URem(a, b)
        same = (r < 0) == (b < 0) if signed else z3.BoolVal(True)
        return z3.If(z3.And(r != 0, same == z3.BoolVal(up)), q + 1 if up else q - 1, q)

    return _z3_divide(fn)


def _z3_shift(fn: Any, arithmetic: bool = False) -> Any:
    def meaning(op: Any, a: Any, b: Any) -> Any:
        sign = z3.If(a < 0, z3.BitVecVal(-1, a.size()), z3.BitVecVal(0, a.size()))
        return z3.If(z3.ULT(b, a.size()), fn(a, b), sign if arithmetic else z3.BitVecVal(0, a.size()))

    return meaning


def _z3_total(fn: Any) -> Any:
    return lambda op, *args: fn(*args)


def _z3_cmp(op: Any, a: Any, b: Any) -> Any:
    p = {
        "eq": a == b, "ne": a != b, "slt": a < b, "sle": a <= b, "sgt": a > b, "sge": a >= b,
        "ult": z3.ULT(a, b), "ule": z3.ULE(a, b), "ugt": z3.UGT(a, b), "uge": z3.UGE(a, b),
    }[op.predicate.name]  # fmt: skip
    return z3.If(p, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def _z3_cast(op: Any, a: Any) -> Any:
    grow = op.results[0].type.width - a.size()
    if grow <= 0:
        return z3.Extract(op.results[0].type.width - 1, 0, a)
    return (z3.SignExt if isinstance(op, arith.ExtSI) else z3.ZeroExt)(grow, a)


Z3_MEANINGS: dict[type, Any] = {
    arith.AddI: _z3_total(lambda a, b: a + b),
    arith.SubI: _z3_total(lambda a, b: a - b),
    arith.MulI: _z3_total(lambda a, b: a * b),
    arith.AndI: _z3_total(lambda a, b: a & b),
    arith.OrI: _z3_total(lambda a, b: a | b),
    arith.XOrI: _z3_total(lambda a, b: a ^ b),
    arith.DivSI: _z3_divide(lambda a, b: a / b),
    arith.DivUI: _z3_divide(z3.UDiv),
    arith.RemSI: _z3_remainder(z3.SRem),
    arith.RemUI: _z3_remainder(z3.URem),
    arith.FloorDivSI: _z3_rounded(False, True),
    arith.CeilDivSI: _z3_rounded(True, True),
    arith.CeilDivUI: _z3_rounded(True, False),
    arith.ShLI: _z3_shift(lambda a, b: a << b),
    arith.ShRSI: _z3_shift(lambda a, b: a >> b, arithmetic=True),
    arith.ShRUI: _z3_shift(z3.LShR),
    arith.MaxSI: _z3_total(lambda a, b: z3.If(a > b, a, b)),
    arith.MinSI: _z3_total(lambda a, b: z3.If(a < b, a, b)),
    arith.MaxUI: _z3_total(lambda a, b: z3.If(z3.UGT(a, b), a, b)),
    arith.MinUI: _z3_total(lambda a, b: z3.If(z3.ULT(a, b), a, b)),
    arith.CmpI: _z3_cmp,
    arith.Select: _z3_total(lambda c, a, b: z3.If(c == 1, a, b)),
    **dict.fromkeys((arith.ExtSI, arith.ExtUI, arith.TruncI), _z3_cast),
}


def z3_value(value: Any, env: dict[Value, Any], like: Value) -> Any:
    """The bit vector of a value, operation or attribute that takes the place of the result `like`."""
    if isinstance(value, Attribute):
        return z3.BitVecVal(value.value, like.type.width)  # type: ignore[attr-defined]
    if isinstance(value, Operation):
        value = value.results[0]
    if value in env:
        return env[value]
    op = value.defining_op
    if isinstance(op, arith.Constant):
        return z3.BitVecVal(op.value.value, value.type.width)
    operands = [z3_value(v, env, v) for v in op.operands]
    env[value] = Z3_MEANINGS[op.__class__](op, *operands)
    return env[value]
