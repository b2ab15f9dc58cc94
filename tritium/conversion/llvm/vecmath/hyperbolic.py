"""tanh (and its kin) by way of e^x - 1."""

from __future__ import annotations

from .builder import FunctionBuilder, Value, divide
from .exponential import expm1_sum, expm1_terms, two_to

__all__ = ["tanh"]

# tanh x is 1 to the last bit beyond these: 2 e^(-2x) < 2^-25, 2^-54.
_TANH_LIMIT = {"f32": 9.5, "f64": 19.5}


def expm1_pair(b: FunctionBuilder, x: Value) -> tuple[Value, Value]:
    """e^x - 1 as a sum of two floats, for x within the range where 2^(x / ln 2) is finite."""
    large, small, n_bits = expm1_terms(b, x)
    return expm1_sum(large, small, two_to(b, n_bits), 1.0)


def tanh(b: FunctionBuilder, x: Value) -> Value:
    """tanh |x| = t / (t + 2) with t = e^(2|x|) - 1, which keeps its relative accuracy down to 0."""
    size = b.at_most(b.abs(x), _TANH_LIMIT[b.format.name])
    t, t_low = expm1_pair(b, size + size)
    below, lost = b.two_sum(t, b.constant(2.0))
    return b.copysign(divide(b, t, t_low, below, lost + t_low), x)
