"""Counter-based random numbers: Philox 4x32 (or 4x64), the same numbers as Triton's.

Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 3.3. The counter is
(low and high word of the offset, 0, 0), the key the 64-bit seed; 10 rounds are the recommended number.
"""

from __future__ import annotations

from ..callee import language_function
from ..constexpr import constexpr
from ..dtypes import int32, int64, uint32, uint64
from .creation import to_tensor
from .hints import static_assert
from .iterators import static_range
from .mathematics import cos, log, maximum, sin, sqrt, umulhi
from .operators import add, mul
from .reductions import where

__all__ = [
    "N_ROUNDS_DEFAULT",
    "pair_uniform_to_normal",
    "philox",
    "philox_impl",
    "rand",
    "rand4x",
    "randint",
    "randint4x",
    "randn",
    "randn4x",
    "uint_to_uniform_float",
]

N_ROUNDS_DEFAULT = constexpr(10)


@language_function
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """`n_rounds` rounds over the counter words c0 … c3 with the key words k0, k1; all uint32, or all uint64."""
    if c0.dtype == uint32:
        # multipliers of the paper's table 2; Weyl steps: the golden ratio and sqrt(3) - 1
        weyl_a: constexpr = 0x9E3779B9
        weyl_b: constexpr = 0xBB67AE85
        factor_a: constexpr = 0xD2511F53
        factor_b: constexpr = 0xCD9E8D57
    else:
        static_assert(c0.dtype == uint64, "dtype not supported in philox_impl")
        weyl_a: constexpr = 0x9E3779B97F4A7C15
        weyl_b: constexpr = 0xBB67AE8584CAA73B
        factor_a: constexpr = 0xD2E7470EE14C6C93
        factor_b: constexpr = 0xCA5A826395121157
    for _ in static_range(n_rounds):
        p0, p2 = c0, c2
        c0 = umulhi(factor_b, p2) ^ c1 ^ k0
        c2 = umulhi(factor_a, p0) ^ c3 ^ k1
        c1 = mul(factor_b, p2, sanitize_overflow=False)
        c3 = mul(factor_a, p0, sanitize_overflow=False)
        k0 = add(k0, weyl_a, sanitize_overflow=False)
        k1 = add(k1, weyl_b, sanitize_overflow=False)
    return c0, c1, c2, c3


@language_function
def philox(seed, c0, c1, c2, c3, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four random words for the counter c0 … c3 under `seed`."""
    seed = to_tensor(seed)
    static_assert(seed.dtype.is_int(), "the seed of random numbers must be an integer")
    seed = seed.to(uint64)
    c0 = to_tensor(c0)
    c1 = to_tensor(c1)
    c2 = to_tensor(c2)
    c3 = to_tensor(c3)
    if c0.dtype.primitive_bitwidth == 32:
        kind = uint32
        key_high = ((seed >> 32) & 0xFFFFFFFF).to(uint32)
        key_low = (seed & 0xFFFFFFFF).to(uint32)
    else:
        static_assert(c0.dtype.primitive_bitwidth == 64, "bitwidth not supported in philox")
        kind = uint64
        key_high = to_tensor(0).to(uint64)
        key_low = seed
    c0 = c0.to(kind, bitcast=True)
    c1 = c1.to(kind, bitcast=True)
    c2 = c2.to(kind, bitcast=True)
    c3 = c3.to(kind, bitcast=True)
    return philox_impl(c0, c1, c2, c3, key_low, key_high, n_rounds)


@language_function
def randint(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A random uint32 for each offset."""
    ret, _, _, _ = randint4x(seed, offset, n_rounds)
    return ret


@language_function
def randint4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four random uint32 for each offset (of 32 or 64 bits), at the cost of one."""
    low = offset.to(uint32)
    zero = low * 0
    high = zero
    if offset.dtype.primitive_bitwidth > 32:
        high = (offset >> 32).to(uint32)
    return philox(seed, low, high, zero, zero, n_rounds)


@language_function
def uint_to_uniform_float(x):
    """A random integer as a float of [0, 1)."""
    if x.dtype in (uint32, int32):
        # just below 2^-31: the largest integer must give less than 1
        x = x.to(int32, bitcast=True)
        scale = 4.6566127342e-10
    else:
        static_assert(x.dtype in (uint64, int64), "32 or 64 bits expected")
        x = x.to(int64, bitcast=True)
        scale = 1.0842020432385337e-19
    x = where(x < 0, ~x, x)  # -x - 1, also for the smallest integer
    return x * scale


@language_function
def rand(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A random float of [0, 1) for each offset."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@language_function
def rand4x(seed, offsets, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four random floats of [0, 1) for each offset."""
    i1, i2, i3, i4 = randint4x(seed, offsets, n_rounds)
    return (
        uint_to_uniform_float(i1),
        uint_to_uniform_float(i2),
        uint_to_uniform_float(i3),
        uint_to_uniform_float(i4),
    )


@language_function
def pair_uniform_to_normal(u1, u2):
    """Two normally distributed numbers from two uniform ones (Box and Muller, 1958)."""
    u1 = maximum(1.0e-7, u1)
    angle = 6.283185307179586 * u2
    radius = sqrt(-2.0 * log(u1))
    return radius * cos(angle), radius * sin(angle)


@language_function
def randn(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """A random number of the normal distribution N(0, 1) for each offset."""
    i1, i2, _, _ = randint4x(seed, offset, n_rounds)
    n1, _ = pair_uniform_to_normal(uint_to_uniform_float(i1), uint_to_uniform_float(i2))
    return n1


@language_function
def randn4x(seed, offset, n_rounds: constexpr = N_ROUNDS_DEFAULT):
    """Four random numbers of the normal distribution N(0, 1) for each offset."""
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    n1, n2 = pair_uniform_to_normal(u1, u2)
    n3, n4 = pair_uniform_to_normal(u3, u4)
    return n1, n2, n3, n4
