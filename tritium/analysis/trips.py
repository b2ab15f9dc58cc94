"""The trip count of a loop whose bounds have a bounded difference: the maximum, or one that is constant.

    %full = (%n / 128) * 128
    for %i = %full to %n step 128                              1: the remainder of %n
    for %i = %row to min(%row + 128, %n) step 64               2: the blocks on a diagonal

Bounds are compared by their common terms. Sums and multiples by constants are computed modulo 2^w for integers of w
bits, so that wraparound is included: two such integers that differ by c modulo 2^w, 0 <= c < 2^w, differ by c or by
c - 2^w, hence by at most c.

    x and y differ by c modulo 2^w                      x - y <= c
    min(a, b) - y                                       the lesser of a - y and b - y; so x - max(a, b)
    max(a, b) - y                                       the greater one; so x - min(a, b)
    a / k * k, rounded toward zero or down              at most k - 1 from a, without wraparound
    trunc(a), where constants keep a in the fewer bits  the bound of a less a constant y

Where bounds are multiples of the block, there is no remainder:

    %n : divisible by 4
    for %i = %p * 4 to min(%p * 4 + 4, %n) step 1       4 where %p * 4 < %n, else 0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dialects import arith
from ..ir import CountedLoop, IntegerAttr, IntegerType, Value, constant_of

__all__ = ["max_trip_count", "whole_block"]

_DEPTH = 5
"""The depth of the search from a bound: each operation may double the number of differences."""


def max_trip_count(loop: CountedLoop) -> int | None:
    """The maximum trip count of a counted loop; None if the difference of its bounds is not bounded."""
    step = _number(loop.step)
    if loop.unsignedCmp or step is None or step <= 0 or not isinstance(loop.ub.type, IntegerType):
        return None
    most = _difference(loop.ub, loop.lb, _DEPTH)
    return None if most is None else max(0, -(-most // step))


def whole_block(loop: CountedLoop, divisor_of: Callable[[Value], int]) -> tuple[Value, int] | None:
    """`(n, c)` where a loop runs from `lb` to `lb + c` if `lb < n`, and not at all otherwise; None for others.

    Such a loop is bounded by min(lb + c, n), and c, a power of two, divides `lb` and n (`divisor_of`): no multiple of c
    lies between `lb` and `lb + c`, and `lb + c` cannot wrap around where it is at most n. The step divides c.
    """
    step, ty, least = _number(loop.step), loop.ub.type, loop.ub.defining_op
    if loop.unsignedCmp or step is None or step <= 0 or not isinstance(least, arith.MinSI):
        return None
    if not isinstance(ty, IntegerType):
        return None
    for end, n in (least.operands, least.operands[::-1]):
        c = _by_terms(end, loop.lb)
        if not c or c & (c - 1) or c >= 1 << (ty.width - 1) or c % step:
            continue
        if divisor_of(loop.lb) % c == 0 and divisor_of(n) % c == 0:
            return n, c
    return None


def _difference(x: Value, y: Value, depth: int) -> int | None:
    """An upper bound of x - y as signed integers."""
    if depth == 0:
        return None
    found = [_by_terms(x, y)]
    depth -= 1
    op: Any = x.defining_op
    if op.__class__ in _EXTREMA:
        both = [_difference(v, y, depth) for v in op.operands]
        found.append(_least(both) if op.__class__ is arith.MinSI else _greatest(both))
    elif (rounded := _rounded(x)) is not None:
        found.append(_further(_difference(rounded[0], y, depth), rounded[1] - 1))
    elif isinstance(op, arith.TruncI) and (number := _number(y)) is not None:
        found.append(_further(_kept_bound(op.in_, x), -number))
    op = y.defining_op
    if op.__class__ in _EXTREMA:
        both = [_difference(x, v, depth) for v in op.operands]
        found.append(_least(both) if op.__class__ is arith.MaxSI else _greatest(both))
    elif (rounded := _rounded(y)) is not None:
        found.append(_further(_difference(x, rounded[0], depth), rounded[1] - 1))
    return _least(found)


def _kept_bound(wide: Value, narrow: Value) -> int | None:
    """An upper bound of an integer that is truncated without changing its value."""
    low, high = _bounds(wide)
    assert isinstance(narrow.type, IntegerType)
    limit = 1 << (narrow.type.width - 1)
    return high if low is not None and high is not None and -limit <= low and high < limit else None


def _bounds(value: Value) -> tuple[int | None, int | None]:
    """Constants that an integer is not below, and not above."""
    op = value.defining_op
    if not isinstance(op, _EXTREMA):
        number = _number(value)
        return number, number
    bounds = [_bounds(v) for v in op.operands]
    lows, highs = [low for low, _ in bounds], [high for _, high in bounds]
    if isinstance(op, arith.MinSI):
        return (None if None in lows else _least(lows)), _least(highs)
    return max((n for n in lows if n is not None), default=None), _greatest(highs)


_EXTREMA = (arith.MinSI, arith.MaxSI)


def _least(numbers: list[int | None]) -> int | None:
    return min((n for n in numbers if n is not None), default=None)


def _greatest(numbers: list[int | None]) -> int | None:
    return None if None in numbers else max(n for n in numbers if n is not None)


def _further(number: int | None, more: int) -> int | None:
    return None if number is None else number + more


# -- sums ---------------------------------------------------------------------------------------------------------


def _by_terms(x: Value, y: Value) -> int | None:
    """An upper bound of x - y, if all terms but a constant cancel."""
    terms: dict[Value | None, int] = {}
    _add_terms(x, 1, terms, _DEPTH)
    _add_terms(y, -1, terms, _DEPTH)
    assert isinstance(x.type, IntegerType)
    modulus = 1 << x.type.width
    number = terms.pop(None, 0) % modulus
    return None if any(factor % modulus for factor in terms.values()) else number


def _add_terms(value: Value, factor: int, terms: dict[Value | None, int], depth: int) -> None:
    """Add `value * factor` to a linear combination: a factor for each value, and the constant at None."""
    number = _number(value)
    op: Any = value.defining_op
    if number is not None:
        terms[None] = terms.get(None, 0) + number * factor
        return
    if depth > 0 and op.__class__ in (arith.AddI, arith.SubI):
        _add_terms(op.lhs, factor, terms, depth - 1)
        _add_terms(op.rhs, factor if op.__class__ is arith.AddI else -factor, terms, depth - 1)
        return
    if depth > 0 and (scaled := _scaled(op)) is not None:
        _add_terms(scaled[0], factor * scaled[1], terms, depth - 1)
        return
    terms[value] = terms.get(value, 0) + factor


def _scaled(op: Any) -> tuple[Value, int] | None:
    """The operand and the constant of a multiplication by a constant."""
    if op.__class__ is arith.MulI:
        for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if (number := _number(other)) is not None:
                return value, number
    if isinstance(op, arith.ShLI) and (number := _number(op.rhs)) is not None:
        ty = op.lhs.type
        if isinstance(ty, IntegerType) and 0 <= number < ty.width:
            return op.lhs, 1 << number
    return None


# -- multiples ----------------------------------------------------------------------------------------------------


def _rounded(value: Value) -> tuple[Value, int] | None:
    """The value that was rounded toward zero or down to a multiple of k; and k."""
    op: Any = value.defining_op
    found: tuple[Value, int | None] | None = None
    if (scaled := _scaled(op)) is not None:
        found = _undivided(*scaled)
    elif op.__class__ is arith.SubI and (rest := op.rhs.defining_op).__class__ is arith.RemSI and rest.lhs is op.lhs:
        found = op.lhs, _number(rest.rhs)
    elif op.__class__ is arith.AndI and (mask := _number(op.rhs)) is not None and _is_power_of_two(-mask):
        found = op.lhs, -mask
    if found is None or found[1] is None or found[1] <= 0:
        return None
    return found[0], found[1]


def _undivided(quotient: Value, k: int) -> tuple[Value, int] | None:
    """The dividend of a division by k."""
    op: Any = quotient.defining_op
    if op.__class__ is arith.DivSI and _number(op.rhs) == k:
        return op.lhs, k
    if op.__class__ is arith.FloorDivSI and _number(op.rhs) == k and _is_power_of_two(k):  # else it may wrap around
        return op.lhs, k
    if op.__class__ is arith.ShRSI and (bits := _number(op.rhs)) is not None and bits >= 0 and 1 << bits == k:
        return op.lhs, k
    return None


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _number(value: Value) -> int | None:
    attr = constant_of(value)
    return attr.value if isinstance(attr, IntegerAttr) else None
