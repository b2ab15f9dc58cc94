"""Ranges of fixed-width integers, and the effect of arithmetic on them.

A range bounds an integer of `width` bits both ways that its bits can be read:

    [umin, umax]  unsigned          [smin, smax]  signed, two's complement

    x in [0, 7], y in [-1, 1]       x + y in [-1, 8], x * y in [-7, 7], x & 3 in [0, 3]

Each function takes the ranges of the operands and returns a range that contains every possible result; arithmetic that
may wrap around gives all integers of the width. Divisions and shifts whose result is undefined for some operand give
all integers, too. The two readings are computed apart and intersected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

__all__ = ["BINARY", "IntegerRange", "compare", "full", "of_signed", "of_unsigned", "truncated"]


class IntegerRange(NamedTuple):
    """All integers of `width` bits within both pairs of bounds."""

    width: int
    umin: int
    umax: int
    smin: int
    smax: int

    def join(self, other: IntegerRange) -> IntegerRange:
        """The least range that contains both."""
        return IntegerRange(
            self.width,
            min(self.umin, other.umin),
            max(self.umax, other.umax),
            min(self.smin, other.smin),
            max(self.smax, other.smax),
        )

    def meet(self, other: IntegerRange) -> IntegerRange:
        """What is in both; this range where that is nothing."""
        umin, umax = max(self.umin, other.umin), min(self.umax, other.umax)
        smin, smax = max(self.smin, other.smin), min(self.smax, other.smax)
        return self if umin > umax or smin > smax else IntegerRange(self.width, umin, umax, smin, smax)

    def contains(self, value: int) -> bool:
        """Whether an integer, signed or unsigned, is in the range."""
        unsigned = value & ((1 << self.width) - 1)
        return self.umin <= unsigned <= self.umax and self.smin <= _signed(unsigned, self.width) <= self.smax

    @property
    def constant(self) -> int | None:
        """The only integer of the range, unsigned; None where it has several."""
        return self.umin if self.umin == self.umax else None

    def __str__(self) -> str:
        return f"unsigned : [{self.umin}, {self.umax}] signed : [{self.smin}, {self.smax}]"


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) & 1 else value


@lru_cache(maxsize=16)
def full(width: int) -> IntegerRange:
    """All integers of a width."""
    half = 1 << (width - 1)
    return IntegerRange(width, 0, 2 * half - 1, -half, half - 1)


def of_signed(width: int, low: int, high: int) -> IntegerRange:
    """The integers from `low` to `high` as signed ones; all where one does not fit into the width."""
    every = full(width)
    if low < every.smin or high > every.smax or low > high:
        return every
    if (low < 0) == (high < 0):
        return IntegerRange(width, low & every.umax, high & every.umax, low, high)
    return IntegerRange(width, 0, every.umax, low, high)


def of_unsigned(width: int, low: int, high: int) -> IntegerRange:
    """The integers from `low` to `high` as unsigned ones; all where one does not fit into the width."""
    every = full(width)
    if low < 0 or high > every.umax or low > high:
        return every
    first, last = _signed(low, width), _signed(high, width)
    if (first < 0) == (last < 0):
        return IntegerRange(width, low, high, first, last)
    return IntegerRange(width, low, high, every.smin, every.smax)


# -- arithmetic ---------------------------------------------------------------------------------------------------


def _both(width: int, signed: Iterable[int], unsigned: Iterable[int]) -> IntegerRange:
    """The range of results whose extremes are among those given, for each reading."""
    s, u = list(signed), list(unsigned)
    return of_signed(width, min(s), max(s)).meet(of_unsigned(width, min(u), max(u)))


def _add(x: IntegerRange, y: IntegerRange) -> IntegerRange:
    return _both(x.width, (x.smin + y.smin, x.smax + y.smax), (x.umin + y.umin, x.umax + y.umax))


def _sub(x: IntegerRange, y: IntegerRange) -> IntegerRange:
    return _both(x.width, (x.smin - y.smax, x.smax - y.smin), (x.umin - y.umax, x.umax - y.umin))


def _mul(x: IntegerRange, y: IntegerRange) -> IntegerRange:
    corners = [a * b for a in (x.smin, x.smax) for b in (y.smin, y.smax)]
    return _both(x.width, corners, (x.umin * y.umin, x.umax * y.umax))


def _quotient(a: int, b: int) -> int:
    """a / b rounded toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _signed_division(divide: Callable[[int, int], int]) -> Callable[[IntegerRange, IntegerRange], IntegerRange]:
    def division(x: IntegerRange, y: IntegerRange) -> IntegerRange:
        if y.smin <= 0 <= y.smax:
            return full(x.width)
        corners = [divide(a, b) for a in (x.smin, x.smax) for b in (y.smin, y.smax)]
        return of_signed(x.width, min(corners), max(corners))

    return division


def _unsigned_division(divide: Callable[[int, int], int]) -> Callable[[IntegerRange, IntegerRange], IntegerRange]:
    def division(x: IntegerRange, y: IntegerRange) -> IntegerRange:
        if y.umin == 0:
            return full(x.width)
        return of_unsigned(x.width, divide(x.umin, y.umax), divide(x.umax, y.umin))

    return division


def _rem_signed(x: IntegerRange, y: IntegerRange) -> IntegerRange:
    if y.smin <= 0 <= y.smax:
        return full(x.width)
    divisor = y.smax if y.smin > 0 else -y.smin
    low = 1 - divisor if x.smin < 0 else 0
    high = divisor - 1 if x.smax > 0 else 0
    if y.smin == y.smax and x.smax - x.smin < divisor:
        first, last = (a - _quotient(a, divisor) * divisor for a in (x.smin, x.smax))
        if first <= last:
            low, high = first, last
    return of_signed(x.width, low, high)


def _rem_unsigned(x: IntegerRange, y: IntegerRange) -> IntegerRange:
    if y.umin == 0:
        return full(x.width)
    low, high = 0, y.umax - 1
    if y.umin == y.umax and x.umax - x.umin < y.umax and x.umin % y.umax <= x.umax % y.umax:
        low, high = x.umin % y.umax, x.umax % y.umax
    return of_unsigned(x.width, low, high)


# -- bits ---------------------------------------------------------------------------------------------------------


def _bits(x: IntegerRange) -> tuple[int, int]:
    """The range widened to one in which the low bits are free: all of them zeros, all of them ones."""
    free = (1 << (x.umin ^ x.umax).bit_length()) - 1
    return x.umin & ~free, x.umax | free


def _bitwise(combine: Callable[[int, int], int]) -> Callable[[IntegerRange, IntegerRange], IntegerRange]:
    def bitwise(x: IntegerRange, y: IntegerRange) -> IntegerRange:
        (x_low, x_high), (y_low, y_high) = _bits(x), _bits(y)
        return of_unsigned(x.width, combine(x_low, y_low), combine(x_high, y_high))

    return bitwise


def _xor(x: IntegerRange, y: IntegerRange) -> IntegerRange:
    (x_low, x_high), (y_low, y_high) = _bits(x), _bits(y)
    free = (x_low ^ x_high) | (y_low ^ y_high)
    fixed = (x_low ^ y_low) & ~free
    return of_unsigned(x.width, fixed, fixed | free)


def _shift_left(x: IntegerRange, y: IntegerRange) -> IntegerRange:
    if y.umax >= x.width:
        return full(x.width)
    corners = [a << b for a in (x.smin, x.smax) for b in (y.umin, y.umax)]
    return _both(x.width, corners, (x.umin << y.umin, x.umax << y.umax))


def _shift_right_signed(x: IntegerRange, y: IntegerRange) -> IntegerRange:
    if y.umax >= x.width:
        return full(x.width)
    corners = [a >> b for a in (x.smin, x.smax) for b in (y.umin, y.umax)]
    return of_signed(x.width, min(corners), max(corners))


def _shift_right_unsigned(x: IntegerRange, y: IntegerRange) -> IntegerRange:
    if y.umax >= x.width:
        return full(x.width)
    return of_unsigned(x.width, x.umin >> y.umax, x.umax >> y.umin)


# -- extremes -----------------------------------------------------------------------------------------------------


def _extreme(choose: Callable[[int, int], int], signed: bool) -> Callable[[IntegerRange, IntegerRange], IntegerRange]:
    def extreme(x: IntegerRange, y: IntegerRange) -> IntegerRange:
        if signed:
            return of_signed(x.width, choose(x.smin, y.smin), choose(x.smax, y.smax))
        return of_unsigned(x.width, choose(x.umin, y.umin), choose(x.umax, y.umax))

    return extreme


BINARY: dict[str, Callable[[IntegerRange, IntegerRange], IntegerRange]] = {
    "arith.addi": _add,
    "arith.subi": _sub,
    "arith.muli": _mul,
    "arith.divsi": _signed_division(_quotient),
    "arith.divui": _unsigned_division(lambda a, b: a // b),
    "arith.ceildivsi": _signed_division(lambda a, b: -(-a // b)),
    "arith.ceildivui": _unsigned_division(lambda a, b: -(-a // b)),
    "arith.floordivsi": _signed_division(lambda a, b: a // b),
    "arith.remsi": _rem_signed,
    "arith.remui": _rem_unsigned,
    "arith.andi": _bitwise(lambda a, b: a & b),
    "arith.ori": _bitwise(lambda a, b: a | b),
    "arith.xori": _xor,
    "arith.shli": _shift_left,
    "arith.shrsi": _shift_right_signed,
    "arith.shrui": _shift_right_unsigned,
    "arith.maxsi": _extreme(max, signed=True),
    "arith.minsi": _extreme(min, signed=True),
    "arith.maxui": _extreme(max, signed=False),
    "arith.minui": _extreme(min, signed=False),
}
"""The functions for operations of two operands, by the name of the operation."""


def truncated(x: IntegerRange, width: int) -> IntegerRange:
    """The low `width` bits."""
    modulus = 1 << width
    out = full(width)
    if x.umin // modulus == x.umax // modulus:
        out = of_unsigned(width, x.umin % modulus, x.umax % modulus)
    every = full(width)
    if every.smin <= x.smin and x.smax <= every.smax:
        out = out.meet(of_signed(width, x.smin, x.smax))
    return out


# -- comparisons --------------------------------------------------------------------------------------------------


def compare(predicate: str, x: IntegerRange, y: IntegerRange) -> bool | None:
    """The result of `arith.cmpi` for all integers of two ranges; None where it depends on them.

    >>> compare("slt", of_signed(32, 0, 7), of_signed(32, 8, 9)), compare("eq", full(32), full(32))
    (True, None)
    """
    if predicate in ("eq", "ne"):
        apart = x.umax < y.umin or y.umax < x.umin or x.smax < y.smin or y.smax < x.smin
        same = x.constant is not None and x.constant == y.constant
        return None if not (apart or same) else same == (predicate == "eq")
    if predicate[1:] in ("gt", "ge"):
        return compare(predicate[0] + {"gt": "lt", "ge": "le"}[predicate[1:]], y, x)
    low, high, other_low, other_high = (
        (x.smin, x.smax, y.smin, y.smax) if predicate[0] == "s" else (x.umin, x.umax, y.umin, y.umax)
    )
    if predicate[1:] == "lt":
        return True if high < other_low else False if low >= other_high else None
    return True if high <= other_low else False if low > other_high else None
