"""The lattice of axis info: the facts about one value; `axis_info` defines their meaning."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import gcd

from ..ir import Type, shape_of

__all__ = ["ANY_DIVISOR", "AxisInfo", "constant", "power_of", "rank_of", "sizes_of", "unknown"]

ANY_DIVISOR = 1 << 62
"""The divisibility of zero: every power of two divides it."""


def power_of(n: int) -> int:
    """The largest power of two that divides n."""
    return n & -n if n else ANY_DIVISOR


class AxisInfo:
    """The facts about one value; `constant`: the one value that all elements have, or None.

    `nonnegative`: no element is negative. `shifted`: some may be, after a subtraction or the addition of a negative.
    """

    __slots__ = ("constancy", "constant", "contiguity", "divisibility", "nonnegative", "shifted")

    def __init__(
        self,
        contiguity: Sequence[int],
        divisibility: Sequence[int],
        constancy: Sequence[int],
        constant: int | None = None,
        nonnegative: bool = False,
        shifted: bool = False,
    ) -> None:
        self.contiguity = tuple(contiguity)
        self.divisibility = tuple(divisibility)
        self.constancy = tuple(constancy)
        self.constant = constant
        self.nonnegative = nonnegative
        self.shifted = shifted and not nonnegative

    @property
    def rank(self) -> int:
        """The number of axes, 1 for a scalar."""
        return len(self.contiguity)

    def _key(self) -> tuple[object, ...]:
        return self.contiguity, self.divisibility, self.constancy, self.constant, self.nonnegative, self.shifted

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AxisInfo) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        parts = [f"contiguity = {list(self.contiguity)}", f"divisibility = {list(self.divisibility)}"]
        parts.append(f"constancy = {list(self.constancy)}")
        if self.constant is not None:
            parts.append(f"constant = {self.constant}")
        return ", ".join(parts)

    def divisor(self, axis: int, step: int) -> int:
        """The largest known divisor of all elements at multiples of `step` along the axis."""
        group, d = self.contiguity[axis], self.divisibility[axis]
        return d if step % group == 0 else gcd(d, step)

    def element_divisor(self) -> int:
        """The largest known divisor of all elements."""
        return max(self.divisor(axis, 1) for axis in range(self.rank))

    def arranged(self, contiguity: Sequence[int], divisibility: Sequence[int], constancy: Sequence[int]) -> AxisInfo:
        """The facts about the same elements in another order."""
        return AxisInfo(contiguity, divisibility, constancy, self.constant, self.nonnegative, self.shifted)

    def join(self, other: AxisInfo) -> AxisInfo:
        """The least upper bound: what holds for both."""
        contiguity = [gcd(a, b) for a, b in zip(self.contiguity, other.contiguity)]
        divisibility = [gcd(self.divisor(i, c), other.divisor(i, c)) for i, c in enumerate(contiguity)]
        constancy = [gcd(a, b) for a, b in zip(self.constancy, other.constancy)]
        constant = self.constant if self.constant == other.constant else None
        nonnegative, shifted = self.nonnegative and other.nonnegative, self.shifted or other.shifted
        return AxisInfo(contiguity, divisibility, constancy, constant, nonnegative, shifted)


@lru_cache(4096)
def unknown(ty: Type) -> AxisInfo:
    """The top element for a type: no contiguity, divisibility or constancy."""
    ones = [1] * rank_of(ty)
    return AxisInfo(ones, ones, ones)


def constant(value: int, ty: Type) -> AxisInfo:
    """All elements are `value`."""
    rank = rank_of(ty)
    return AxisInfo([1] * rank, [power_of(value)] * rank, sizes_of(ty), value, value >= 0, value < 0)


def rank_of(ty: Type) -> int:
    """The number of axes of values of a type, 1 for a scalar."""
    return max(1, len(shape_of(ty)))


def sizes_of(ty: Type) -> list[int]:
    """The longest group of equal elements that each axis can have."""
    return [power_of(n) for n in shape_of(ty)] or [1]
