"""Sums of two floats: what a rounding lost, kept beside the rounded value (Dekker, Knuth; products by fma)."""

from __future__ import annotations

from .builder import FunctionBuilder, Number, Value

__all__ = ["Pair", "divide", "fast_two_sum", "pair_over", "pair_plus", "pair_times"]
__all__ += ["product", "two_product", "two_sum"]

# (high, low): their exact sum is meant, and low is at most about an ulp of high.
Pair = tuple[Value, Value]


def two_sum(a: Value, b: Value) -> Pair:
    """(s, e): s = a + b rounded, s + e = a + b exactly, whichever of the two is larger (Knuth)."""
    s = a + b
    back = s - a
    return s, (a - (s - back)) + (b - back)


def fast_two_sum(large: Value, small: Value) -> Pair:
    """(s, e): s = large + small rounded, s + e their exact sum, if |large| >= |small| or large is 0 (Dekker)."""
    s = large + small
    return s, small - (s - large)


def two_product(b: FunctionBuilder, x: Value, y: Value) -> Pair:
    """(p, e): p = x y rounded, p + e = x y exactly (unless it underflows)."""
    p = x * y
    return p, b.fma(x, y, -p)


def pair_plus(x: Pair, y: Pair) -> Pair:
    """x + y; relative error about 2^-105 in f64 unless they cancel."""
    s, e = two_sum(x[0], y[0])
    return fast_two_sum(s, e + (x[1] + y[1]))


def product(b: FunctionBuilder, x: Pair, y: Pair) -> Pair:
    """x y, not normalized: the second float may be some ulp of the first. For use as a factor or an addend."""
    p, e = two_product(b, x[0], y[0])
    return p, b.fma(x[0], y[1], b.fma(x[1], y[0], e))


def pair_times(b: FunctionBuilder, x: Pair, y: Pair) -> Pair:
    """x y; relative error about 2^-104 in f64."""
    return fast_two_sum(*product(b, x, y))


def _quotient(b: FunctionBuilder, above: Value, above_low: Value | Number, below: Pair) -> Pair:
    """(q, c) with q + c = (above + above_low) / below, to about twice the precision; one division."""
    inverse = 1.0 / below[0]
    q = above * inverse
    rest = b.fma(-q, below[0], above)
    if isinstance(above_low, Value):
        rest = rest + above_low
    return q, b.fma(-q, below[1], rest) * inverse


def pair_over(b: FunctionBuilder, above: tuple[Value, Value | Number], below: Pair) -> Pair:
    """above / below; relative error about 2^-104 in f64."""
    return fast_two_sum(*_quotient(b, above[0], above[1], below))


def divide(b: FunctionBuilder, above: Value, above_low: Value | Number, below: Value, below_low: Value) -> Value:
    """(above + above_low) / (below + below_low), nearly correctly rounded."""
    q, correction = _quotient(b, above, above_low, (below, below_low))
    return q + correction
