"""A third opinion: the text of a kernel run as Python over NumPy arrays, knowing nothing of the compiler.

`run(text, grid, scalars, arrays)` changes the arrays as the kernel would, or raises Uncovered for a kernel that uses what
is not here (descriptors, atomics, products of floats whose order matters, …). Rules of types are those of `elements`.
Values are whole arrays of the exact numbers in f64, i64 or u64 beside the type they are rounded to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from .elements import TYPES, Element, bits_of, computed_in, values_of

__all__ = ["Uncovered", "run"]

GUARD = 64
BEYOND = re.compile(
    r"noinline|@tritium\.aggregate|libdevice\.\w+\(|(?<![\w.])(?:min|max)\("
)  # not Python's meaning, or none
I1, I32, U32, I64, F32 = (TYPES[n] for n in ("i1", "i32", "u32", "i64", "f32"))


class Uncovered(Exception):
    """The kernel uses something that this reference does not know."""


def wrapped(data: np.ndarray, e: Element) -> np.ndarray:
    """Integers modulo 2^bits, as i64 or u64 (i1: 0 or 1)."""
    if e.kind == "b":
        return np.asarray(data).astype(np.uint64) & np.uint64(1)
    bits = np.asarray(data).astype(np.int64 if np.asarray(data).dtype.kind != "u" else np.uint64).view(np.uint64)
    bits = bits & np.uint64(2**e.bits - 1)
    if e.kind == "u" or e.bits == 64:
        return bits if e.kind == "u" else bits.view(np.int64)
    sign = np.uint64(1 << (e.bits - 1))
    return ((bits ^ sign) - sign).view(np.int64)


def rounded(data: np.ndarray, e: Element) -> np.ndarray:
    """f64 numbers to nearest even in a float type; 8-bit floats only where they are exact."""
    data = np.asarray(data, np.float64)
    with np.errstate(all="ignore"):
        if e.name in ("f64", "f32", "f16"):
            return data.astype(e.storage).astype(np.float64)
        if e.name == "bf16":
            fraction, exponent = np.frexp(data)
            low = np.maximum(exponent, -125)  # subnormal numbers have a unit of 2^-133
            near = np.ldexp(np.rint(np.ldexp(data, 8 - low)), low - 8)
            near = np.where(np.abs(near) >= 2.0**128, np.copysign(np.inf, data), near)
            return np.where(np.isfinite(data), near, data)
        return _to_eight_bits(data, e)


def _to_eight_bits(data: np.ndarray, e: Element) -> np.ndarray:
    """The nearest of all numbers of the type, of two the one whose code is even."""
    if not np.isfinite(data).all():
        raise Uncovered("NaN in 8-bit floats")
    codes = np.arange(128, dtype=np.uint8)
    numbers = values_of(codes, e)
    numbers = numbers[np.isfinite(numbers)]
    size = np.abs(data)
    high = np.minimum(np.searchsorted(numbers, size), len(numbers) - 1)
    low = np.maximum(high - 1, 0)
    down, up = size - numbers[low], numbers[high] - size
    code = np.where((down < up) | ((down == up) & (low % 2 == 0)), low, high)
    return np.copysign(numbers[code], data)


class Tile:
    """A scalar or block: numbers (f64, i64, u64) and their type."""

    __array_priority__ = 1000

    def __init__(self, data: Any, e: Element) -> None:
        self.e = e
        self.data = np.asarray(data, np.float64) if e.kind == "f" else wrapped(np.asarray(data), e)

    @property
    def dtype(self) -> Element:
        return self.e

    def __bool__(self) -> bool:
        return bool(self.data.reshape(-1)[0])

    def __index__(self) -> int:
        return int(self.data)

    def to(self, e: Element, bitcast: bool = False) -> Tile:
        if bitcast:
            return bits(self, e)
        if e is self.e:
            return self
        if self.e.kind == "f":
            if e.kind == "f":
                return Tile(rounded(self.data, e), e)
            if e.kind == "b":
                return Tile(self.data != 0, e)
            return Tile(np.trunc(self.data).astype(np.int64), e)
        if e.kind == "f":
            return Tile(from_integer(self.data, e), e)
        return Tile(self.data != 0, e) if e.kind == "b" else Tile(self.data, e)

    def reshape(self, *shape: Any) -> Tile:
        return reshape(self, *shape)

    def sum(self, axis: Any = None, keep_dims: bool = False) -> Tile:
        return total(self, axis, keep_dims)

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        if not all(k is None or k == slice(None) for k in keys if not isinstance(k, Tile)) or any(
            isinstance(k, Tile) for k in keys
        ):
            raise Uncovered("elements")
        return Tile(self.data[key], self.e)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise Uncovered("elements")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # NumPy asks for protocols
            raise AttributeError(name)
        raise Uncovered(name)

    def __neg__(self) -> Tile:
        return Tile(-self.data, self.e) if self.e.kind == "f" else 0 - self

    def __pos__(self) -> Tile:
        return self

    def __invert__(self) -> Tile:
        return Tile(~self.data, self.e)


def from_integer(data: np.ndarray, e: Element) -> np.ndarray:
    """Integers rounded once: f64 by NumPy, narrower types by Python's exact numbers where f64 has not all of them."""
    if (np.abs(data.astype(np.float64)) <= 2.0**53).all():
        return rounded(data.astype(np.float64), e)
    if e.name in ("f64", "f32"):
        return data.astype(e.storage).astype(np.float64)
    raise Uncovered("large integers")


def bits(x: Tile, e: Element) -> Tile:
    """The bits of a value as another type."""
    raw = bits_of(x.data, x.e) if x.e.kind == "f" else x.data.astype(x.e.storage)
    raw = np.ascontiguousarray(raw).reshape(raw.shape)  # a scalar stays one
    if e.kind == "f":
        return Tile(values_of(raw.view(e.storage), e), e)
    return Tile(raw.view(e.storage), e)


def number(value: Any, other: Element) -> Tile:
    """A Python number beside a tensor: of its type, unless the number is of a higher kind."""
    rank = {"b": 0, "i": 1, "u": 1, "f": 2}
    mine = 0 if isinstance(value, bool) else 1 if isinstance(value, int) else 2
    e = other if mine <= rank[other.kind] else (I32 if mine == 1 else F32)
    if e is not other and mine == 2:
        e = F32
    if e.kind == "f":
        return Tile(rounded(np.float64(value), e), e)
    return Tile(np.array(value, np.uint64 if value >= 2**63 else np.int64), e)


def both(a: Any, b: Any, division: bool = False) -> tuple[Tile, Tile, Element]:
    """Operands in the type that they are computed in."""
    if not isinstance(a, Tile):
        a = number(a, b.e)
        a = a.to(F32) if division and b.e.name in ("f16", "bf16") else a
        b = b.to(F32) if division and b.e.name in ("f16", "bf16") else b
    elif not isinstance(b, Tile):
        b = number(b, a.e)
        b = b.to(F32) if division and a.e.name in ("f16", "bf16") else b
        a = a.to(F32) if division and a.e.name in ("f16", "bf16") else a
    e = computed_in(a.e, b.e, division)
    return a.to(e), b.to(e), e


def operator(function: Callable, division: bool = False) -> tuple[Callable, Callable]:
    """The methods of an operator, and of the operator with its sides turned."""

    def apply(x: Any, y: Any) -> Any:
        if isinstance(y, Pointer):
            return y + x
        a, b, e = both(x, y, division)
        with np.errstate(all="ignore"):
            return Tile(rounded(function(a.data, b.data, e), e) if e.kind == "f" else function(a.data, b.data, e), e)

    return apply, lambda x, y: apply(y, x)


def _divide(a: np.ndarray, b: np.ndarray, e: Element) -> np.ndarray:
    """Rounded towards zero."""
    if e.kind == "u":
        return a // b
    quotient = a // b
    return quotient + ((a % b != 0) & ((a < 0) != (b < 0)))


def _remainder(a: np.ndarray, b: np.ndarray, e: Element) -> np.ndarray:
    return np.fmod(a, b) if e.kind == "f" else a - _divide(a, b, e) * b


def _inexact(a: np.ndarray, b: np.ndarray, e: Element) -> np.ndarray:
    if e.kind != "f":
        raise Uncovered("division of integers")
    raise Uncovered("division")


def _plain(function: Callable) -> Callable:
    def apply(a: np.ndarray, b: np.ndarray, e: Element) -> np.ndarray:
        if e.name == "f64":
            return function(a, b)
        if e.kind == "f" and e.bits == 32:
            return function(a.astype(np.float32), b.astype(np.float32)).astype(np.float64)
        return function(a, b)

    return apply


def _shift(left: bool) -> Callable:
    def apply(a: np.ndarray, b: np.ndarray, e: Element) -> np.ndarray:
        return a << b.astype(a.dtype) if left else a >> b.astype(a.dtype)

    return apply


for _name, _function, _division in (
    ("add", _plain(np.add), False),
    ("sub", _plain(np.subtract), False),
    ("mul", _plain(np.multiply), False),
    ("and", lambda a, b, e: a & b, False),
    ("or", lambda a, b, e: a | b, False),
    ("xor", lambda a, b, e: a ^ b, False),
    ("floordiv", _divide, True),
    ("mod", _remainder, True),
    ("truediv", _inexact, True),
    ("lshift", _shift(True), False),
    ("rshift", _shift(False), False),
):
    _forward, _turned = operator(_function, _division)
    setattr(Tile, f"__{_name}__", _forward)
    setattr(Tile, f"__r{_name}__", _turned)


def _comparison(function: Callable) -> Callable:
    def apply(x: Any, y: Any) -> Tile:
        a, b, _ = both(x, y)
        return Tile(function(a.data, b.data), I1)

    return apply


for _name, _function in (("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal)):
    setattr(Tile, f"__{_name}__", _comparison(_function))
Tile.__eq__ = _comparison(np.equal)  # type: ignore[method-assign,assignment]
Tile.__ne__ = _comparison(np.not_equal)  # type: ignore[method-assign,assignment]
Tile.__hash__ = None  # type: ignore[assignment]


class Pointer:
    """Addresses in an array: numbers of elements from its first."""

    def __init__(self, array: np.ndarray, e: Element, at: Any = 0) -> None:
        self.array, self.e, self.at = array, e, at

    def __add__(self, offset: Any) -> Pointer:
        more = offset.data.astype(np.int64) if isinstance(offset, Tile) else offset
        return Pointer(self.array, self.e, self.at + more)

    __radd__ = __add__


def _mask(mask: Any) -> Any:
    return True if mask is None else mask.data != 0 if isinstance(mask, Tile) else bool(mask)


def load(p: Pointer, mask: Any = None, other: Any = 0, **hints: Any) -> Tile:
    """What is masked off without `other` is 0, which nobody may see."""
    if not isinstance(p, Pointer) or "boundary_check" in hints:
        raise Uncovered("block pointers")
    at, on = np.broadcast_arrays(p.at, _mask(mask))
    raw = p.array[np.where(on, at, 0) + GUARD]
    data = values_of(raw, p.e) if p.e.kind == "f" else raw
    filler = number(other, p.e).to(p.e) if not isinstance(other, Tile) else other.to(p.e)
    return where(Tile(on, I1), Tile(data, p.e), filler)


def store(p: Pointer, value: Any, mask: Any = None, **hints: Any) -> None:
    if not isinstance(p, Pointer) or "boundary_check" in hints:
        raise Uncovered("block pointers")
    value = value.to(p.e) if isinstance(value, Tile) else number(value, p.e).to(p.e)
    at, on, data = np.broadcast_arrays(p.at, _mask(mask), value.data)
    raw = bits_of(np.ascontiguousarray(data), p.e) if p.e.kind == "f" else data.astype(p.e.storage)
    p.array[at[on] + GUARD] = raw[on]


def where(condition: Any, x: Any, y: Any) -> Tile:
    """A choice of two values; 64-bit integers keep all their bits."""
    x = x if isinstance(x, Tile) else number(x, y.e if isinstance(y, Tile) else F32)
    a, b, e = both(x, y)
    return Tile(np.where(condition.data != 0, a.data, b.data), e)


def _promoted(x: Any) -> Any:
    return x.to(F32) if isinstance(x, Tile) and x.e.name == "bf16" else x


def _extremum(smaller: bool) -> Callable:
    def apply(x: Any, y: Any, propagate_nan: Any = None) -> Tile:
        a, b, e = both(_promoted(x), _promoted(y))
        if e.kind != "f":
            return Tile((np.minimum if smaller else np.maximum)(a.data, b.data), e)
        if propagate_nan:
            return Tile((np.minimum if smaller else np.maximum)(a.data, b.data), e)
        return Tile((np.fmin if smaller else np.fmax)(a.data, b.data), e)

    return apply


minimum, maximum = _extremum(True), _extremum(False)


def clamp(x: Tile, low: float, high: float, propagate_nan: Any = None) -> Tile:
    x = x.to(F32) if x.e.bits < 32 else x
    return minimum(maximum(x, low, propagate_nan), high, propagate_nan)


def absolute(x: Tile) -> Tile:
    return x if x.e.kind in "ub" else Tile(np.abs(x.data), x.e)


def umulhi(x: Tile, y: Tile) -> Tile:
    half = [v.data.astype(np.int64).view(np.uint64) & np.uint64(2**x.e.bits - 1) for v in (x, y)]
    product = half[0].astype(object) * half[1].astype(object)
    return Tile(np.asarray(product >> x.e.bits).astype(np.uint64), x.e)


def cast(x: Tile, e: Element, bitcast: bool = False, fp_downcast_rounding: str = "rtne") -> Tile:
    if fp_downcast_rounding == "rtz":
        raise Uncovered("rounding towards zero")
    return x.to(e, bitcast)


# -- shapes ------------------------------------------------------------------------------------------------------------


def _sizes(shape: tuple) -> list[int]:
    return list(shape[0]) if isinstance(shape[0], (list, tuple)) else list(shape)


def reshape(x: Tile, *shape: Any) -> Tile:
    return Tile(x.data.reshape(_sizes(shape)), x.e)


def total(x: Tile, axis: Any = None, keep_dims: bool = False, dtype: Element | None = None) -> Tile:
    e = x.e
    x = widened(x) if dtype is None else x.to(dtype)
    if x.e.kind == "f" and not exact_sums(x.data):
        raise Uncovered("sums of floats")
    return narrowed(Tile(x.data.sum(axis=axis, keepdims=keep_dims), x.e), e, dtype)


def exact_sums(data: np.ndarray) -> bool:
    """Multiples of 2^-4 whose sums fp32 has."""
    return bool(np.isfinite(data).all() and (data * 16 == np.rint(data * 16)).all() and np.abs(data).sum() < 2**20)


def widened(x: Tile) -> Tile:
    if x.e.kind == "f":
        return _promoted(x)
    return x if x.e.bits >= 32 else x.to(I32 if x.e.kind == "i" else U32)


def narrowed(sums: Tile, e: Element, dtype: Element | None) -> Tile:
    """Sums of bf16, which are made in fp32, are bf16."""
    return sums.to(e) if dtype is None and e.name == "bf16" else sums


def _reduced(function: Callable) -> Callable:
    def apply(x: Tile, axis: Any = None, keep_dims: bool = False, return_indices: bool = False) -> Tile:
        if return_indices:
            raise Uncovered("indices")
        e = x.e if x.e.bits >= 32 else F32 if x.e.kind == "f" else I32
        return Tile(function(x.to(e).data, axis=axis, keepdims=keep_dims), e)

    return apply


def _index_of(function: Callable) -> Callable:
    def apply(x: Tile, axis: Any = None, keep_dims: bool = False) -> Tile:
        if axis is None and keep_dims:
            raise Uncovered("indices")
        return Tile(function(x.data, axis=axis, **({"keepdims": True} if keep_dims else {})), I32)

    return apply


def cumsum(x: Tile, axis: int = 0, reverse: bool = False, dtype: Element | None = None) -> Tile:
    e = x.e
    x = widened(x) if dtype is None else x.to(dtype)
    if x.e.kind == "f" and not exact_sums(x.data):
        raise Uncovered("sums of floats")
    data = np.flip(x.data, axis) if reverse else x.data
    data = np.cumsum(data, axis=axis)
    return narrowed(Tile(np.flip(data, axis) if reverse else data, x.e), e, dtype)


def sort(x: Tile, descending: bool = False) -> Tile:
    data = np.sort(x.data, axis=-1)
    return Tile(np.flip(data, -1) if descending else data, x.e)


def join(a: Tile, b: Tile) -> Tile:
    return Tile(np.stack([a.data, b.data], -1), a.e)


def interleave(a: Tile, b: Tile) -> Tile:
    c = np.stack([a.data, b.data], -1)
    return Tile(c.reshape(*a.data.shape[:-1], -1), a.e)


def histogram(x: Tile, bins: int, mask: Any = None) -> Tile:
    counted = x.data if mask is None else x.data[mask.data.astype(bool)]
    return Tile(np.bincount(counted.astype(np.int64), minlength=bins)[:bins], I32)


def dot(a: Tile, b: Tile, c: Any = None, **precision: Any) -> Tile:
    e = {"i8": I32, "f64": TYPES["f64"]}.get(a.e.name, F32)
    product = a.data @ b.data
    if e.kind == "f" and not exact_sums(product):
        raise Uncovered("sums of floats")
    return Tile(product if c is None else product + c.data, e)


class _Range:
    """`range` of tensors: its numbers are int32, or int64 where a bound is."""

    def __new__(cls, *bounds: Any, **hints: Any) -> Any:
        e = I64 if any(isinstance(b, Tile) and b.e.bits == 64 for b in bounds) else I32
        return (Tile(np.int64(i), e) for i in range(*(int(b) for b in bounds)))


def _language(place: tuple[int, ...], grid: tuple[int, ...]) -> dict[str, Any]:
    names: dict[str, Any] = {e.tl.removeprefix("tl."): e for e in TYPES.values()}
    same = lambda f: lambda x, *rest, **named: Tile(f(x.data, *rest, **named), x.e)  # noqa: E731
    names |= {
        "program_id": lambda axis: Tile(np.int64(place[axis]), I32),
        "num_programs": lambda axis: Tile(np.int64(grid[axis]), I32),
        "arange": lambda a, b: Tile(np.arange(a, b, dtype=np.int64), I32),
        "static_assert": lambda condition: None,
        "full": lambda shape, value, e: Tile(np.full(shape, value), e),
        "zeros": lambda shape, e: Tile(np.zeros(shape), e),
        "load": load, "store": store, "where": where, "minimum": minimum, "maximum": maximum, "clamp": clamp,
        "abs": absolute, "umulhi": umulhi, "floor": same(np.floor), "ceil": same(np.ceil), "reshape": reshape, "view": reshape,
        "trans": same(np.transpose), "permute": same(lambda d, *o: np.transpose(d, _sizes(o))),
        "expand_dims": same(np.expand_dims), "broadcast_to": same(lambda d, *s: np.broadcast_to(d, _sizes(s))),
        "join": join, "interleave": interleave, "cat": lambda a, b, dim: Tile(np.concatenate([a.data, b.data], dim), a.e),
        "split": lambda x: (Tile(x.data[..., 0], x.e), Tile(x.data[..., 1], x.e)), "flip": same(np.flip),
        "gather": lambda x, i, axis: Tile(np.take_along_axis(x.data, i.data.astype(np.int64), axis), x.e),
        "sum": total, "max": _reduced(np.max), "min": _reduced(np.min), "argmax": _index_of(np.argmax), "argmin": _index_of(np.argmin),
        "cumsum": cumsum, "sort": sort, "histogram": histogram, "dot": dot, "range": _Range,
        "static_range": range, "cast": cast, "constexpr": None,
        "PropagateNan": SimpleNamespace(ALL=True, NONE=False),
    }  # fmt: skip
    return names


class _Language:
    """`tl`"""

    def __init__(self, place: tuple[int, ...], grid: tuple[int, ...]) -> None:
        self.__dict__.update(_language(place, grid))

    def __getattr__(self, name: str) -> Any:
        raise Uncovered(name)


def run(text: str, grid: tuple[int, ...], scalars: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Run the kernel of a text for every program; arrays are bytes with guards, as `compare` makes them."""
    text = re.sub(r"^(\s*)(i\d+) = 0$", r"\1\2 = tl.zeros([], tl.int32)", text, flags=re.M)
    text = re.sub(r"= not (\w+)$", r"= ~\1", text, flags=re.M)  # Python's `not` gives no tensor; of int1 it is this
    if (beyond := BEYOND.search(text)) is not None:
        raise Uncovered(beyond[0])
    text = re.sub(r"^(?:import|from) tritium.*\n", "", text, flags=re.M)
    code = compile(text, "reference", "exec")
    for place in np.ndindex(*grid):
        names: dict[str, Any] = {
            "tl": _Language(place, grid),
            "tritium": SimpleNamespace(jit=lambda f: f),
            "range": _Range,
        }
        exec(code, names)
        values: dict[str, Any] = {k: _argument(k, v) for k, v in scalars.items()}
        for name, whole in arrays.items():
            e = TYPES[name.rsplit("_", 1)[1]]
            values[name] = Pointer(whole.view(e.storage), e)
        function = names["kernel"]
        parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
        with np.errstate(all="ignore"):
            function(**{p: values[p] for p in parameters})


def _argument(name: str, value: Any) -> Any:
    """1 is a compile-time constant."""
    if value == 1 and isinstance(value, int):
        return value
    e = {"q": I64, "u": TYPES["u64"], "f": F32}.get(name, I32)
    return Tile(np.float64(value) if e.kind == "f" else np.array(value, e.storage), e)
