"""Element types as random kernels know them: their names, their numbers, and the type that two of them make.

The rules of promotion stand here a second time, written from the language's documentation and not from the compiler:
kernels assert the types that these rules say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["FLOATS", "INTEGERS", "TYPES", "Element", "bits_of", "computed_in", "values_of"]


@dataclass(frozen=True)
class Element:
    """`name` as in names of parameters ("bf16"); `kind` f, i, u or b; `precision` bits of a float with the hidden one.

    `most` bounds floats that programs make of it, so that nothing overflows.
    """

    name: str
    tl: str
    kind: str
    bits: int
    precision: int = 0
    most: float = 0.0
    exponent: int = 0

    @property
    def storage(self) -> np.dtype:
        """What NumPy holds it in: its bits, where NumPy has no such type."""
        if self.kind == "b":
            return np.dtype(np.bool_)
        if self.kind in "iu":
            return np.dtype(f"{self.kind}{self.bits // 8}")
        return np.dtype(f"f{self.bits // 8}" if self.name in ("f16", "f32", "f64") else f"u{self.bits // 8}")


TYPES = {
    e.name: e
    for e in (
        Element("i1", "tl.int1", "b", 1),
        *(Element(f"i{n}", f"tl.int{n}", "i", n) for n in (8, 16, 32, 64)),
        *(Element(f"u{n}", f"tl.uint{n}", "u", n) for n in (8, 16, 32, 64)),
        Element("e5", "tl.float8e5", "f", 8, 3, 2.0**12, 5),
        Element("e4", "tl.float8e4nv", "f", 8, 4, 200.0, 4),
        Element("f16", "tl.float16", "f", 16, 11, 2.0**13, 5),
        Element("bf16", "tl.bfloat16", "f", 16, 8, 2.0**30, 8),
        Element("f32", "tl.float32", "f", 32, 24, 2.0**30, 8),
        Element("f64", "tl.float64", "f", 64, 53, 2.0**60, 11),
    )
}
INTEGERS = [e for e in TYPES.values() if e.kind in "iu"]
FLOATS = [e for e in TYPES.values() if e.kind == "f"]
BY_NUMBER = {"f32": TYPES["f32"], "i32": TYPES["i32"], "i1": TYPES["i1"]}


def computed_in(a: Element, b: Element, division: bool = False) -> Element | None:
    """The type of `a op b` for two tensors; None where the language has none. `division`: / // %."""
    order = [e.name for e in (a, b)]
    for name in ("f64", "f32"):
        if name in order:
            return TYPES[name]
    if "f16" in order:
        return TYPES["f32" if division else "f16"]
    if "bf16" in order:
        return TYPES["bf16"] if order == ["bf16", "bf16"] and not division else TYPES["f32"]
    if a.kind == "f" and b.kind == "f":
        return a if a is b else TYPES["f16"]
    if "f" in (a.kind, b.kind):
        return None
    signs = [e.kind == "i" for e in (a, b)]
    if signs[0] == signs[1]:
        return a if a.bits > b.bits else b
    if division:
        return None
    unsigned, signed = (b, a) if signs[0] else (a, b)
    return unsigned if unsigned.bits >= signed.bits else signed


def _small_floats(values: np.ndarray, e: Element) -> np.ndarray:
    """The bits of floats (which `e` has exactly, or that are rounded towards zero) in a type NumPy lacks."""
    if e.name == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if e.name == "e5":
        return (values.astype(np.float16).view(np.uint16) >> 8).astype(np.uint8)
    sign = np.signbit(values).astype(np.uint8) << 7
    with np.errstate(all="ignore"):
        fraction, exponent = np.frexp(np.abs(values).astype(np.float64))
        normal = np.floor(fraction * 16).astype(np.int64) - 8 + ((exponent + 6) << 3)
        tiny = np.floor(np.abs(values) * 512).astype(np.int64)
    code = np.where(values == 0, 0, np.where(exponent + 6 > 0, normal, tiny))
    code = np.where(np.isnan(values), 127, np.minimum(code, 126))
    return sign | code.astype(np.uint8)


def bits_of(values: np.ndarray, e: Element) -> np.ndarray:
    """Numbers in the storage of a float type."""
    kept = e.storage.kind == "f"
    return values.astype(e.storage) if kept else _small_floats(values, e)


def values_of(bits: np.ndarray, e: Element) -> np.ndarray:
    """The numbers (f64) that stored floats are."""
    with np.errstate(all="ignore"):
        if e.name == "bf16":
            return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        if e.name == "e5":
            return (bits.astype(np.uint16) << 8).view(np.float16).astype(np.float64)
        if e.name != "e4":
            return bits.astype(np.float64)
        code = (bits & 127).astype(np.int64)
        size = np.where(code >= 8, np.ldexp(8.0 + (code & 7), (code >> 3) - 10), code / 512.0)
        return np.where(code == 127, np.nan, np.where(bits & 128, -size, size))
