"""The device library: functions with the names of CUDA's libdevice.

On a GPU a call is lowered to a call of the vendor's library. On other targets it is computed by operations that every
target has: there, several spellings of one function (`fast_expf`, `exp`) are the same, and a function that these
operations cannot compute exactly raises that it is not supported.
"""

from __future__ import annotations

from typing import Any

from ...dialects import arith, math
from ..callee import python_calls
from ..constexpr import constexpr, unwrap
from ..dtypes import bfloat16, dtype, float16, float32, float64, int1, int32, int64, uint32, uint64
from ..errors import LanguageError
from ..tensor import tensor
from . import mathematics as base
from .builtin import BUILTIN, is_builtin, outside_kernel
from .device import missing
from .hints import choose_overload, library_call
from .libdevice_fallbacks import FALLBACKS, Fallback
from .libdevice_symbols import NOT_LOWERED, PREDICATES, library_names, overloads

__all__: list[str] = []  # filled below: every name of the library


def _export(name: str, fn: Any, count: int | None = None) -> None:
    """Define the function `name` of `count` arguments, which is `fn` on targets whose library lacks it."""
    own = [n for n in fn.__code__.co_varnames[: fn.__code__.co_argcount] if not n.startswith("_")]
    count = getattr(fn, "count", len(own)) if count is None else count

    def function(*args: Any, _semantic: Any = None, _generator: Any = None, **kwargs: Any) -> Any:
        if _semantic is None:
            if python_calls.execute is not None:
                return python_calls.execute(function, args, kwargs)
            raise outside_kernel(name)
        args, kwargs = _positional(name, count, own, args, kwargs)
        backend = getattr(_semantic.options, "backend_name", "cpu")
        known = None if backend == "cpu" or (backend == "hip" and name in NOT_LOWERED) else overloads(backend, name)
        if known is None:
            extra = {"_generator": _generator} if name in FALLBACKS else {}
            return _widened(fn, args, {**kwargs, **extra}, _semantic)

        def call(*args: Any, _semantic: Any, **kwargs: Any) -> tensor:
            result = library_call(name, known, [*args, *kwargs.values()], _semantic)
            narrow = int1 if name in PREDICATES else int32 if name == "clz" else result.dtype
            return _semantic.cast(result, narrow)

        return _widened(call, args, kwargs, _semantic)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = fn.__doc__
    function.__module__ = __name__
    function.__wrapped__ = _SHOWN.get(count, fn)  # type: ignore[attr-defined]
    setattr(function, BUILTIN, True)
    function.cache_key = f"{__name__}.{name}"  # type: ignore[attr-defined]
    globals()[name] = function
    __all__.append(name)


#: what inspect.signature shows, by number of arguments: the parameters without internal ones
_SHOWN = {0: lambda: None, 1: lambda arg0: None, 2: lambda arg0, arg1: None, 3: lambda arg0, arg1, arg2: None}
_SHOWN[4] = lambda arg0, arg1, arg2, arg3: None


def _positional(name: str, count: int, own: list[str], args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Keyword arguments arg0, arg1, … as positional ones; named parameters of `fn` stay keywords."""
    given, rest = [*args], dict(kwargs)
    while len(given) < count and f"arg{len(given)}" in rest:
        given.append(rest.pop(f"arg{len(given)}"))
    unknown = next((key for key in rest if key not in own), None)
    if unknown is not None:
        wanted = ", ".join(f"arg{i}" for i in range(count))
        raise LanguageError(f"TypeError: libdevice.{name}() got an unexpected argument {unknown!r}: it takes {wanted}")
    return given, rest


def _widened(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], sem: Any) -> Any:
    """Compute fp16 and bf16 in fp32 and round a float result back: no library has functions for them."""
    halves = {v.dtype for v in (*args, *kwargs.values()) if v.__class__ is tensor and v.dtype in (float16, bfloat16)}
    if not halves:
        return fn(*args, _semantic=sem, **kwargs)

    def wide(v: Any) -> Any:
        return sem.cast(v, float32) if v.__class__ is tensor and v.dtype in halves else v

    result = fn(*map(wide, args), _semantic=sem, **{name: wide(v) for name, v in kwargs.items()})
    return sem.cast(result, halves.pop()) if result.dtype is float32 and len(halves) == 1 else result


def _floats(sem: Any, name: str, args: tuple[Any, ...]) -> list[tensor]:
    """Arguments as floats of one type and shape, fp32 or fp64."""
    values = [unwrap(a) for a in args]
    if not any(v.__class__ is tensor for v in values):
        values = [sem.to_tensor(v) for v in values]
    out = values
    for i in range(1, len(out)):
        out[0], out[i] = sem.binary_operands(out[0], out[i])
    for i in range(1, len(out) - 1):
        out[0], out[i] = sem.binary_operands(out[0], out[i])
    for v in out:
        if v.dtype not in (float32, float64):
            raise LanguageError(
                f"ValueError: libdevice.{name} takes fp32 or fp64, got {v.dtype}", "cast the argument: x.to(tl.float32)"
            )
    return out


def _operation(name: str, op: Any, count: int = 1) -> Any:
    more = {"roundingmode": arith.RoundingMode.to_nearest_even} if name in _NOT_CONTRACTED else {}

    def function(*args: Any, _semantic: Any = None) -> tensor:
        if len(args) != count:
            raise LanguageError(
                f"TypeError: libdevice.{name} takes {count} argument{'s' * (count != 1)}, got {len(args)}"
            )
        values = _floats(_semantic, name, args)
        made = op(*(v.handle for v in values), **more)
        return tensor(_semantic.builder.add(made), values[0].type)

    function.__name__ = function.__qualname__ = name
    function.count = count  # type: ignore[attr-defined]
    function.__doc__ = f"`{op.name}` per element, of fp32 or fp64."
    return function


_NOT_CONTRACTED = ("add_rn", "sub_rn", "mul_rn")
"""CUDA never makes an FMA of them."""

ONE = {
    math.Exp: "exp fast_expf",
    math.Exp2: "exp2",
    math.ExpM1: "expm1",
    math.Log: "log fast_logf",
    math.Log2: "log2 fast_log2f",
    math.Log10: "log10 fast_log10f",
    math.Log1p: "log1p",
    math.Sin: "sin fast_sinf",
    math.Cos: "cos fast_cosf",
    math.Tan: "tan fast_tanf",
    math.Asin: "asin",
    math.Acos: "acos",
    math.Atan: "atan",
    math.Sinh: "sinh",
    math.Cosh: "cosh",
    math.Tanh: "tanh fast_tanhf",
    math.Asinh: "asinh",
    math.Acosh: "acosh",
    math.Atanh: "atanh",
    math.Sqrt: "sqrt sqrt_rn",
    math.Rsqrt: "rsqrt rsqrt_rn",
    math.Cbrt: "cbrt",
    math.Erf: "erf",
    math.Erfc: "erfc",
    math.AbsF: "fabs",
    math.Ceil: "ceil",
    math.Floor: "floor",
    math.Trunc: "trunc",
    math.Round: "round",
    math.RoundEven: "rint nearbyint",
}
TWO = {
    math.Atan2: "atan2",
    math.PowF: "pow fast_powf",
    math.CopySign: "copysign",
    arith.RemF: "fmod",
    arith.MaxNumF: "fmax",
    arith.MinNumF: "fmin",
    arith.AddF: "add_rn",
    arith.SubF: "sub_rn",
    arith.MulF: "mul_rn",
    arith.DivF: "div_rn fast_dividef",
}
for _table, _count in ((ONE, 1), (TWO, 2), ({math.Fma: "fma fma_rn"}, 3)):
    for _op, _names in _table.items():
        for _name in _names.split():
            _export(_name, _operation(_name, _op, _count))


# -- compositions -------------------------------------------------------------------------------------------------


def _composed(fn: Any) -> Any:
    _export(fn.__name__, fn)
    return globals()[fn.__name__]


@_composed
def abs(x: Any, _semantic: Any = None) -> tensor:
    """|x|, of integers and floats."""
    return base.abs(x, _semantic=_semantic)


@_composed
def max(x: Any, y: Any, _semantic: Any = None) -> tensor:
    """The maximum of two numbers."""
    return base.maximum(x, y, _semantic=_semantic)


@_composed
def min(x: Any, y: Any, _semantic: Any = None) -> tensor:
    """The minimum of two numbers."""
    return base.minimum(x, y, _semantic=_semantic)


@_composed
def exp10(x: Any, _semantic: Any = None) -> tensor:
    """10 ** x"""
    (x,) = _floats(_semantic, "exp10", (x,))
    ten = _semantic.full(x.type.shape, 10.0, x.dtype)
    return tensor(_semantic.builder.add(math.PowF(ten.handle, x.handle)), x.type)


@_composed
def fast_exp10f(x: Any, _semantic: Any = None) -> tensor:
    """10 ** x"""
    return exp10(x, _semantic=_semantic)


@_composed
def rcp_rn(x: Any, _semantic: Any = None) -> tensor:
    """1 / x"""
    (x,) = _floats(_semantic, "rcp_rn", (x,))
    return _semantic.truediv(1.0, x)


@_composed
def fdim(x: Any, y: Any, _semantic: Any = None) -> tensor:
    """x - y where x > y, 0 elsewhere; NaN if one is NaN."""
    x, y = _floats(_semantic, "fdim", (x, y))
    return _semantic.where(_semantic.le(x, y), 0.0, _semantic.sub(x, y))


@_composed
def saturatef(x: Any, _semantic: Any = None) -> tensor:
    """x clamped to [0, 1]; 0 for NaN."""
    (x,) = _floats(_semantic, "saturatef", (x,))
    return _semantic.minimum(_semantic.maximum(x, 0.0), 1.0)


@_composed
def isnan(x: Any, _semantic: Any = None) -> tensor:
    """Is x NaN, per element?"""
    (x,) = _floats(_semantic, "isnan", (x,))
    return _semantic.ne(x, x)


@_composed
def isinf(x: Any, _semantic: Any = None) -> tensor:
    """Is x infinite, per element?"""
    (x,) = _floats(_semantic, "isinf", (x,))
    return _semantic.eq(base.abs(x, _semantic=_semantic), float("inf"))


def _finite(x: Any, _semantic: Any = None) -> tensor:
    """Is x finite, per element?"""
    (x,) = _floats(_semantic, "finitef", (x,))
    return _semantic.lt(base.abs(x, _semantic=_semantic), float("inf"))


for _name in ("finitef", "isfinited"):
    _export(_name, _finite)


@_composed
def signbit(x: Any, _semantic: Any = None) -> tensor:
    """1 where the sign bit is set, int32."""
    (x,) = _floats(_semantic, "signbit", (x,))
    bits = _semantic.bitcast(x, int32 if x.dtype is float32 else int64)
    return _semantic.cast(_semantic.lt(bits, 0), int32)


# -- integers -----------------------------------------------------------------------------------------------------


def _integers(sem: Any, name: str, *args: Any) -> list[tensor]:
    values = [sem.to_tensor(a) for a in args]
    for v in values:
        if v.dtype not in (int32, int64, uint32, uint64):
            raise LanguageError(f"ValueError: libdevice.{name} takes 32- or 64-bit integers, got {v.dtype}")
    return values


def _bit_count(name: str, op: Any) -> Any:
    def function(x: Any, _semantic: Any = None) -> tensor:
        (x,) = _integers(_semantic, name, x)
        return _semantic.cast(tensor(_semantic.builder.add(op(x.handle)), x.type), int32)

    function.__name__ = name
    function.__doc__ = f"`{op.name}` per element, int32."
    return function


_export("popc", _bit_count("popc", math.Ctpop))
_export("clz", _bit_count("clz", math.Ctlz))


@_composed
def ffs(x: Any, _semantic: Any = None) -> tensor:
    """The 1-based position of the lowest set bit; 0 without one. int32."""
    (x,) = _integers(_semantic, "ffs", x)
    count = _semantic.cast(tensor(_semantic.builder.add(math.Cttz(x.handle)), x.type), int32)
    return _semantic.where(_semantic.eq(x, 0), 0, _semantic.add(count, 1, False))


@_composed
def umulhi(x: Any, y: Any, _semantic: Any = None) -> tensor:
    """The high half of the unsigned product."""
    return base.umulhi(x, y, _semantic=_semantic)


@_composed
def mulhi(x: Any, y: Any, _semantic: Any = None) -> tensor:
    """The high half of the product, of signed or unsigned integers."""
    x, y = _semantic.binary_operands(*_integers(_semantic, "mulhi", x, y))
    high = base.umulhi(x, y, _semantic=_semantic)
    if x.dtype.is_int_unsigned():
        return high
    # as unsigned, a negative factor is 2^width too large: subtract the other factor from the high half
    sign = x.dtype.int_bitwidth - 1
    for a, b in ((x, y), (y, x)):
        high = _semantic.sub(high, _semantic.and_(_semantic.ashr(a, sign), b), False)
    return high


@_composed
def hadd(x: Any, y: Any, _semantic: Any = None) -> tensor:
    """(x + y) >> 1 without overflow, of 32-bit integers."""
    return _average(_semantic, "hadd", x, y, 0)


@_composed
def rhadd(x: Any, y: Any, _semantic: Any = None) -> tensor:
    """(x + y + 1) >> 1 without overflow, of 32-bit integers."""
    return _average(_semantic, "rhadd", x, y, 1)


def _average(sem: Any, name: str, x: Any, y: Any, plus: int) -> tensor:
    x, y = sem.binary_operands(*_integers(sem, name, x, y))
    wide = sem.add(sem.add(sem.cast(x, int64), sem.cast(y, int64), False), plus, False)
    return sem.cast(sem.rshift(wide, 1), x.dtype)


# -- conversions --------------------------------------------------------------------------------------------------

_NAMES = {"int": int32, "uint": uint32, "ll": int64, "ull": uint64, "float": float32, "double": float64}


def _conversion(name: str, source: dtype, target: dtype, rounding: Any) -> Any:
    def function(x: Any, _semantic: Any = None) -> tensor:
        x = _semantic.to_tensor(x)
        if x.dtype is not source:
            raise LanguageError(f"ValueError: libdevice.{name} takes {source}, got {x.dtype}")
        if rounding is not None:
            x = tensor(_semantic.builder.add(rounding(x.handle)), x.type)
        return _semantic.cast(x, target)

    function.__name__ = name
    function.__doc__ = f"{source} as {target}, rounded by the suffix of the name."
    return function


_TO_INTEGER: dict[str, Any] = {"rn": math.RoundEven, "rz": None, "rd": math.Floor, "ru": math.Ceil}
for _from in ("float", "double"):
    for _to in ("int", "uint", "ll", "ull"):
        for _mode, _rounding in _TO_INTEGER.items():
            _name = f"{_from}2{_to}_{_mode}"
            _export(_name, _conversion(_name, _NAMES[_from], _NAMES[_to], _rounding))
for _from in ("int", "uint", "ll", "ull"):
    for _to in ("float", "double"):
        _name = f"{_from}2{_to}_rn"
        _export(_name, _conversion(_name, _NAMES[_from], _NAMES[_to], None))
_export("double2float_rn", _conversion("double2float_rn", float64, float32, None))
for _name, _target, _op in (("llrint", int64, math.RoundEven), ("llround", int64, math.Round)):

    def _rounded(x: Any, _semantic: Any = None, _name: str = _name, _target: Any = _target, _op: Any = _op) -> tensor:
        (x,) = _floats(_semantic, _name, (x,))
        return _semantic.cast(tensor(_semantic.builder.add(_op(x.handle)), x.type), _target)

    _rounded.__name__ = _name
    _export(_name, _rounded)


def _reinterpretation(name: str, source: dtype, target: dtype) -> Any:
    def function(x: Any, _semantic: Any = None) -> tensor:
        x = _semantic.to_tensor(x)
        if x.dtype is not source:
            raise LanguageError(f"ValueError: libdevice.{name} takes {source}, got {x.dtype}")
        return _semantic.bitcast(x, target)

    function.__name__ = name
    function.__doc__ = f"The bits of {source} as {target}."
    return function


for _a, _b in (("float", "int"), ("float", "uint"), ("double", "ll"), ("double", "longlong")):
    _wide = _NAMES.get(_b, int64)
    _export(f"{_a}_as_{_b}", _reinterpretation(f"{_a}_as_{_b}", _NAMES[_a], _wide))
    _export(f"{_b}_as_{_a}", _reinterpretation(f"{_b}_as_{_a}", _wide, _NAMES[_a]))


# -- fallbacks written in the language ------------------------------------------------------------------------------


def _fallback(name: str, how: Fallback) -> Any:
    def function(*args: Any, _semantic: Any = None, _generator: Any = None) -> tensor:
        known = overloads("cuda", name)
        assert known is not None
        values, _, result = choose_overload(f"libdevice.{name}", known, list(args), _semantic)
        if how.wide:
            values = [_semantic.cast(v, float64) if v.dtype is float32 else v for v in values]
        given = [*values, *map(constexpr, how.constants)]
        call = how.fn if is_builtin(how.fn) else None
        made = call(*given, _semantic=_semantic) if call else _generator.call_callee(how.fn, given)
        return _semantic.cast(made, result)  # type: ignore[no-any-return]

    function.__name__ = name
    function.__doc__ = how.fn.__doc__
    return function


for _name in sorted(library_names("cuda")):
    if _name not in globals():
        _export(_name, _fallback(_name, FALLBACKS[_name]), len(next(iter(overloads("cuda", _name) or ()), ())))
for _name in ("lrint", "lround"):
    _export(_name, missing(f"libdevice.{_name}", f"use l{_name}"), 1)
