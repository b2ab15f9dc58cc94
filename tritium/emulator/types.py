"""The types of PTX as values: what an instruction's last suffixes mean for the bits of a register.

A register is an array of unsigned integers over the threads; a type says how an instruction sees it. Types that NumPy
lacks (bf16, tf32, fp8, …) keep the unsigned view, and `floats` turns them into numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["TYPES", "UNSIGNED", "Array", "Type", "types_of"]

Array = np.ndarray[Any, Any]

UNSIGNED: dict[int, np.dtype[Any]] = {
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}


class Type(NamedTuple):
    """A fundamental or packed type: `kind` is one of b, u, s, f, pred; `lanes` numbers stand in one register."""

    name: str
    kind: str
    bits: int
    dtype: np.dtype[Any]
    lanes: int = 1
    element: str = ""

    @property
    def bytes(self) -> int:
        return self.bits // 8


def _table() -> dict[str, Type]:
    table: dict[str, Type] = {}
    for bits, unsigned in UNSIGNED.items():
        table[f"b{bits}"] = Type(f"b{bits}", "b", bits, unsigned)
        table[f"u{bits}"] = Type(f"u{bits}", "u", bits, unsigned)
        table[f"s{bits}"] = Type(f"s{bits}", "s", bits, np.dtype(f"int{bits}"))
    table["f16"] = Type("f16", "f", 16, np.dtype(np.float16))
    table["f32"] = Type("f32", "f", 32, np.dtype(np.float32))
    table["f64"] = Type("f64", "f", 64, np.dtype(np.float64))
    for name, bits in (("bf16", 16), ("tf32", 32), ("e4m3", 8), ("e5m2", 8)):
        table[name] = Type(name, "f", bits, UNSIGNED[bits])
    for name, bits, element in (
        ("f16x2", 32, "f16"),
        ("bf16x2", 32, "bf16"),
        ("f32x2", 64, "f32"),
        ("e4m3x2", 16, "e4m3"),
        ("e5m2x2", 16, "e5m2"),
        ("s16x2", 32, "s16"),
        ("u16x2", 32, "u16"),
    ):
        table[name] = Type(name, table[element].kind, bits, UNSIGNED[bits], 2, element)
    table["pred"] = Type("pred", "pred", 1, np.dtype(np.bool_))
    table["b128"] = Type("b128", "b", 128, UNSIGNED[64])
    return table


TYPES = _table()


def types_of(modifiers: tuple[str, ...]) -> list[Type]:
    """The types among an opcode's suffixes, in order."""
    return [TYPES[m] for m in modifiers if m in TYPES]
