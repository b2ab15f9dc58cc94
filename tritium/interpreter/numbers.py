"""The IR's element types as NumPy arrays, and back to the bits that memory holds.

| IR type | array | in memory |
|---|---|---|
| i1 | bool | one byte, 0 or 1 |
| iN | intN (signed) | the same |
| index, pointers, buffers of CPU programs | int64 | the same |
| f16, f32, f64 | the NumPy type | the same |
| bf16, fp8 | float32 that holds only values of the type | its bits |
"""

from __future__ import annotations

import functools

import numpy as np

from ..dialects import tt, ttc
from ..ir import FloatType, IndexType, IntegerType, Type, element_type

INTEGERS = {1: np.bool_, 8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
NATIVE_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def dtype_of(ty: Type) -> np.dtype:
    """The NumPy type that elements of `ty` are computed in."""
    element = element_type(ty)
    if isinstance(element, IntegerType):
        return np.dtype(INTEGERS[element.width])
    if isinstance(element, (IndexType, tt.PointerType, ttc.BufferType)):
        return np.dtype(np.int64)
    assert isinstance(element, FloatType), f"no array for {ty}"
    return np.dtype(NATIVE_FLOATS.get(element.name, np.float32))


def byte_size(ty: Type) -> int:
    """The size of an element in memory in bytes."""
    element = element_type(ty)
    if isinstance(element, tt.PointerType):
        return 8
    return max(1, element.width // 8)  # type: ignore[attr-defined]


def is_narrow(ty: Type) -> bool:
    """True for float types that NumPy does not have."""
    element = element_type(ty)
    return isinstance(element, FloatType) and element.name not in NATIVE_FLOATS


def fit(array: np.ndarray, ty: Type) -> np.ndarray:
    """A computed array as one of `ty`: integers wrap, floats are rounded to nearest even."""
    if is_narrow(ty):
        return decode(encode(array, ty), ty)
    dtype = dtype_of(ty)
    array = np.asarray(array)
    if dtype == np.bool_ and array.dtype != np.bool_:
        return (array & 1).astype(np.bool_)
    return array.astype(dtype, copy=False)


def encode(array: np.ndarray, ty: Type) -> np.ndarray:
    """The bits of each element as unsigned integers, rounding to nearest even where the type is narrower."""
    element = element_type(ty)
    if is_narrow(ty):
        assert isinstance(element, FloatType)
        return _encode_bf16(array) if element.name == "bf16" else _encode_table(array, element)
    array = np.asarray(array).astype(dtype_of(ty), order="C")  # a copy, of the same rank: views need that
    return array.view(UNSIGNED[array.dtype.itemsize])


def decode(bits: np.ndarray, ty: Type) -> np.ndarray:
    """`encode` backwards."""
    element = element_type(ty)
    if is_narrow(ty):
        assert isinstance(element, FloatType)
        if element.name == "bf16":
            return (bits.astype(np.uint32) << 16).view(np.float32)
        return _table(element)[0][bits]
    if dtype_of(ty) == np.bool_:
        return (bits & 1).astype(np.bool_)
    return np.array(bits, order="C").view(dtype_of(ty))


def within(array: np.ndarray, ty: Type) -> np.ndarray:
    """The input of a conversion to `ty`: 8-bit floats are clamped to the largest finite number on all targets."""
    element = element_type(ty)
    if not isinstance(element, FloatType) or element.width != 8:
        return array
    largest = float(_table(element)[1][-1])
    return np.clip(array, -largest, largest)


def _encode_bf16(array: np.ndarray) -> np.ndarray:
    """By way of float32, rounded to odd first where the input is wider, so that rounding twice is rounding once."""
    array = np.asarray(array)
    single = array.astype(np.float32)
    bits = np.array(single, order="C").view(np.uint32)
    if array.dtype == np.float64:
        inexact = (single.astype(np.float64) != array) & np.isfinite(array) & np.isfinite(single)
        away = np.abs(single.astype(np.float64)) > np.abs(array)
        bits = np.where(inexact, (bits - away.astype(np.uint32)) | 1, bits)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(single), (bits >> 16).astype(np.uint16) | 0x40, rounded).astype(np.uint16)


@functools.cache
def _table(element: FloatType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(value of each pattern, the finite values from 0 upwards, their patterns) of an 8-bit type."""
    bits = np.arange(256)
    finite_only = element.name.endswith(("FN", "UZ"))
    bias = 11 if "B11" in element.name else (1 << (element.exponent - 1)) - (not element.name.endswith("UZ"))
    exponent = (bits >> element.mantissa) & ((1 << element.exponent) - 1)
    mantissa = bits & ((1 << element.mantissa) - 1)
    scale = 1 << element.mantissa
    value = np.where(
        exponent > 0, (mantissa / scale + 1) * 2.0 ** (exponent - bias), mantissa / scale * 2.0 ** (1 - bias)
    )
    if element.name.endswith("UZ"):
        value[0x80] = np.nan
    elif element.name == "f8E4M3FN":
        value[(bits & 0x7F) == 0x7F] = np.nan
    elif not finite_only:
        top = exponent == (1 << element.exponent) - 1
        value[top] = np.where(mantissa[top] == 0, np.inf, np.nan)
    value = np.where(bits & 0x80, -value, value).astype(np.float32)
    positive = [b for b in range(128) if np.isfinite(value[b])]
    return value, value[positive], np.array(positive)


def _encode_table(array: np.ndarray, element: FloatType) -> np.ndarray:
    values, finite, patterns = _table(element)
    x = np.asarray(array, np.float64)
    size = np.abs(x)
    high = np.clip(np.searchsorted(finite, size), 1, len(finite) - 1)
    low = high - 1
    below, above = size - finite[low], finite[high] - size
    choose_high = (above < below) | ((above == below) & (patterns[high] % 2 == 0))
    bits = np.where(choose_high, patterns[high], patterns[low])
    step = finite[-1] - finite[-2].astype(np.float64)
    too_large = size >= finite[-1] + step / 2  # halfway to what would come next rounds away
    infinity = np.flatnonzero(np.isinf(values[:128]))
    nan = 0x80 if element.name.endswith("UZ") else int(np.flatnonzero(np.isnan(values[:128]))[-1])
    bits = np.where(too_large, infinity[0] if len(infinity) else nan, bits)
    unsigned_zero = element.name.endswith("UZ")
    negative = np.signbit(x) & ~(unsigned_zero & ((bits == 0) | (bits == nan)))
    bits = np.where(negative, bits | 0x80, bits)
    return np.where(np.isnan(x), nan, bits).astype(np.uint8)
