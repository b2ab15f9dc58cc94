"""Integers on their way to bf16, through a float that does not hold all of them: they are to be rounded once."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["PRECISION", "fit_for_rounding"]

# bits of an integer -> significant bits of the float that it passes through: f32, f64
PRECISION = {32: 24, 64: 53}


def fit_for_rounding(write: Callable[[str], str], value: str, ty: str, bits: int, signed: bool) -> str:
    """An integer that f32 (for 64 bits, f64) holds, and that becomes the same bf16 as `value`, of LLVM's type `ty`.

    Numbers that the float holds stay as they are. The others have midpoints between two bf16 only at multiples of 2^16:
    of the bits below the float's last one, it is enough to know whether there are any.
    """

    def number(n: int) -> str:
        return f"splat (i{bits} {n})" if ty.startswith("<") else str(n)

    exact = 1 << PRECISION[bits]
    last = 1 << (bits - PRECISION[bits])  # of the greatest numbers
    low = 2 * last - 1
    some = write(f"and {ty} {value}, {number(low)}")
    carried = write(f"add nuw nsw {ty} {some}, {number(low)}")  # has the bit above `low` where there are any
    sticky = write(f"and {ty} {write(f'lshr {ty} {carried}, {number(1)}')}, {number(last)}")
    fitted = write(f"or disjoint {ty} {write(f'and {ty} {value}, {number(~low)}')}, {sticky}")
    distance = write(f"add {ty} {value}, {number(exact)}") if signed else value
    is_exact = write(f"icmp ule {ty} {distance}, {number(2 * exact if signed else exact)}")
    condition = ty.replace(f"i{bits}", "i1")
    return write(f"select {condition} {is_exact}, {ty} {value}, {ty} {fitted}")
