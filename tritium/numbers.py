"""Integer arithmetic for grids and block sizes: Python functions that kernels may also call at compile time.

>>> cdiv(1000, 256), next_power_of_2(1000)
(4, 1024)
"""

from __future__ import annotations

from .frontend.callee import constexpr_function

__all__ = ["cdiv", "next_power_of_2"]


@constexpr_function
def cdiv(x: int, y: int) -> int:
    """x / y rounded up, for y > 0."""
    return (x + y - 1) // y


@constexpr_function
def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least `n`; 0 for 0 (as in Triton)."""
    return 1 << (n - 1).bit_length() if n > 0 else 0
