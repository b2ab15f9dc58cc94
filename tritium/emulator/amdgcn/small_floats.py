"""The 8-bit floats of gfx942: E4M3FNUZ ("fp8") and E5M2FNUZ ("bf8") (MI300 ISA, section 7.1 "Data Formats").

Both have one zero, no infinities, and one NaN (0x80); exponents are biased by 8 and 16.
"""

from __future__ import annotations

import numpy as np

from ..types import Array

__all__ = ["decode_fnuz", "encode_fnuz"]


def _table(mantissa: int, bias: int) -> Array:
    codes = np.arange(256)
    exponent, fraction = codes >> mantissa & ((1 << (7 - mantissa)) - 1), codes & ((1 << mantissa) - 1)
    scaled = np.where(exponent == 0, fraction, fraction + (1 << mantissa)).astype(np.float64)
    values = np.ldexp(scaled, np.maximum(exponent, 1) - bias - mantissa)
    values = np.where(codes >> 7 == 1, -values, values)
    values[0x80] = np.nan
    return values.astype(np.float32)


_VALUES = {"fp8": _table(3, 8), "bf8": _table(2, 16)}
#: Between neighbours of the positive codes, where a number rounds to the upper one.
_MIDDLES = {name: (v[:127].astype(np.float64) + v[1:128]) / 2 for name, v in _VALUES.items()}


def decode_fnuz(name: str, codes: Array) -> Array:
    """Codes as f32."""
    return _VALUES[name][codes]


def encode_fnuz(name: str, values: Array, saturate: bool = False) -> Array:
    """f32 as codes, rounded to nearest even; what is beyond the largest number becomes NaN, or that number."""
    magnitude = np.abs(values.astype(np.float64))
    middles = _MIDDLES[name]
    code = np.searchsorted(middles, magnitude, side="right")
    tie = (code > 0) & (magnitude == middles[np.maximum(code - 1, 0)])
    code = np.where(tie & (code & 1 == 1), code - 1, code)
    largest = float(_VALUES[name][127])
    step = largest - float(_VALUES[name][126])
    beyond = ~(magnitude < largest + step / 2)
    if saturate:
        code, beyond = np.where(beyond, 127, code), np.zeros_like(beyond)
    code = np.where(np.signbit(values) & (code != 0), code | 0x80, code)
    return np.where(beyond | np.isnan(values), 0x80, code).astype(np.uint8)
