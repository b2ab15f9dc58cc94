"""Mathematical functions, per element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects import math, tt
from ..constexpr import unwrap
from ..dtypes import float32
from ..errors import LanguageError
from ..tensor import tensor
from .builtin import builtin, flag, member

__all__ = [
    "PropagateNan",
    "abs",
    "ceil",
    "clamp",
    "cos",
    "div_rn",
    "erf",
    "exp",
    "exp2",
    "fdiv",
    "floor",
    "fma",
    "log",
    "log2",
    "maximum",
    "minimum",
    "rsqrt",
    "sin",
    "sqrt",
    "sqrt_rn",
    "umulhi",
]


class PropagateNan:
    """NaN operands of minimum and maximum: propagate them (ALL), or return the other operand (NONE)."""

    NONE = tt.PropagateNan.none
    ALL = tt.PropagateNan.all


FLOATS = ("fp32", "fp64")


def check_operands(name: str, args: Sequence[tensor], names: Sequence[str]) -> None:
    """Raise unless the dtype of every argument is one of `names`."""
    for x in args:
        if x.dtype.name not in names:
            hint = "cast the argument: x.to(tl.float32)" if "fp32" in names else None
            if x.dtype.is_ptr():
                hint = "a pointer is an address, the values there are tl.load(pointer + offsets)"
            raise LanguageError(f"ValueError: {name} expects dtype {list(names)} but got {x.dtype}", hint)


def unary_float(name: str, op: Any, what: str, names: Sequence[str] = FLOATS, fn_name: str = "") -> Any:
    """A builtin of one float argument that emits the operation `op`."""

    def function(x: Any, _semantic: Any = None) -> tensor:
        x = _semantic.to_tensor(x)
        check_operands(name, [x], names)
        return tensor(_semantic.builder.add(op(x.handle)), x.type)

    function.__name__ = function.__qualname__ = fn_name or name
    function.__doc__ = f"{what} of each element; fp32 or fp64."
    return builtin(function)


exp = member(unary_float("exp", math.Exp, "e to the power"))
exp2 = member(unary_float("exp2", math.Exp2, "2 to the power"))
log = member(unary_float("log", math.Log, "The natural logarithm"))
log2 = member(unary_float("log2", math.Log2, "The logarithm to base 2"))
sin = member(unary_float("sin", math.Sin, "The sine"))
cos = member(unary_float("cos", math.Cos, "The cosine"))
sqrt = member(unary_float("sqrt", math.Sqrt, "The square root"))
sqrt_rn = member(unary_float("sqrt_rn", tt.PreciseSqrt, "The correctly rounded square root", ("fp32",)))
rsqrt = member(unary_float("rsqrt", math.Rsqrt, "1 / sqrt(x)"))
erf = member(unary_float("erf", math.Erf, "The error function"))
floor = member(unary_float("floor", math.Floor, "The greatest integer not above, as a float,"))
ceil = member(unary_float("ceil", math.Ceil, "The least integer not below, as a float,"))


@member
@builtin
def abs(x: Any, _semantic: Any = None) -> tensor:
    """|x|"""
    x = _semantic.to_tensor(x)
    kind = x.dtype
    if kind.is_fp8():
        return _semantic.cast(abs(_semantic.cast(x, float32), _semantic=_semantic), kind)
    if kind.is_floating():
        return tensor(_semantic.builder.add(math.AbsF(x.handle)), x.type)
    if kind.is_int_signed():
        return tensor(_semantic.builder.add(math.AbsI(x.handle)), x.type)
    if kind.is_int_unsigned():
        return x
    raise LanguageError(f"TypeError: Unexpected dtype {kind} in tl.abs")


@builtin
def minimum(x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE, _semantic: Any = None) -> tensor:
    """min(x, y) per element; a NaN operand is ignored unless `propagate_nan` is PropagateNan.ALL."""
    x, y = _small_floats(unwrap(x), unwrap(y), _semantic)
    return _semantic.minimum(x, y, propagate_nan)


@builtin
def maximum(x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE, _semantic: Any = None) -> tensor:
    """max(x, y) per element; a NaN operand is ignored unless `propagate_nan` is PropagateNan.ALL."""
    x, y = _small_floats(unwrap(x), unwrap(y), _semantic)
    return _semantic.maximum(x, y, propagate_nan)


def _small_floats(*values: Any) -> list[Any]:
    """bf16 operands become fp32, as in Triton; numbers without a tensor operand become tensors."""
    *operands, sem = values
    out = [sem.cast(v, float32) if v.__class__ is tensor and v.dtype.is_bf16() else v for v in operands]
    if not any(v.__class__ is tensor for v in out):
        return [sem.to_tensor(v) for v in out]
    return out


@builtin
def clamp(x: Any, min: Any, max: Any, propagate_nan: Any = PropagateNan.NONE, _semantic: Any = None) -> tensor:
    """min(max(x, low), high) per element, of floats."""
    x, low, high = _small_floats(unwrap(x), unwrap(min), unwrap(max), _semantic)
    return _semantic.clamp(x, low, high, propagate_nan)


@builtin
def fma(x: Any, y: Any, z: Any, _semantic: Any = None) -> tensor:
    """x * y + z, rounded once."""
    x, y, z = unwrap(x), unwrap(y), unwrap(z)
    x = _semantic.to_tensor(x) if not any(v.__class__ is tensor for v in (x, y, z)) else x
    x, y = _semantic.binary_operands(x, y)
    z, x = _semantic.binary_operands(z, x)
    z, y = _semantic.binary_operands(z, y)
    check_operands("fma", [x], ("fp16", "bf16", "fp32", "fp64"))
    return tensor(_semantic.builder.add(math.Fma(x.handle, y.handle, z.handle)), x.type)


@builtin
def fdiv(x: Any, y: Any, ieee_rounding: Any = False, approx: Any = False, _semantic: Any = None) -> tensor:
    """x / y of floats: correctly rounded with `ieee_rounding`, approximate and faster with `approx` (fp32)."""
    return _semantic.fdiv(unwrap(x), unwrap(y), flag(ieee_rounding), flag(approx))


@builtin
def div_rn(x: Any, y: Any, _semantic: Any = None) -> tensor:
    """x / y of fp32, correctly rounded."""
    x, y = _semantic.binary_operands(unwrap(x), unwrap(y))
    check_operands("div_rn", [x, y], ("fp32",))
    return tensor(_semantic.builder.add(tt.PreciseDivF(x.handle, y.handle)), x.type)


@builtin
def umulhi(x: Any, y: Any, _semantic: Any = None) -> tensor:
    """The high half of the product of two unsigned integers of 32 or 64 bits (signed ones are reinterpreted)."""
    x, y = _semantic.to_tensor(x), _semantic.to_tensor(y)
    check_operands("umulhi", [x, y], ("int32", "int64", "uint32", "uint64"))
    x, y = _semantic.binary_operands(x, y)
    return tensor(_semantic.builder.add(tt.MulhiUI(x.handle, y.handle)), x.type)
