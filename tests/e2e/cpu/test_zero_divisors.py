"""x // 0 is x and x % 0 is 0 in offsets, too: what is known of a divisor must not be taken for granted of 0.

0 is divisible by every number, so that a divisor known to be a multiple of 16 may be 0.
"""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl

N = 512


@tritium.jit
def offsets_by_division(x, out, n, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + at // n))
    tl.store(out + N + at, tl.load(x + at % n))
    tl.store(out + 2 * N + at, tl.load(x + (at + 16) % n + at // n))
    tl.store(out + 3 * N + at, tl.load(x + (at // (n * 2)) * 4 + at % (2 * n)))


@tritium.jit
def divisor_of_a_caller(at, m):
    return at % m


@tritium.jit
def offsets_by_computed_divisors(x, out, n, N: tl.constexpr):
    at = tl.arange(0, N)
    zero = n * tl.program_id(0)  # as divisible as n
    tl.store(out + at, tl.load(x + at // zero))
    tl.store(out + N + at, tl.load(x + at % zero))
    tl.store(out + 2 * N + at, tl.load(x + divisor_of_a_caller(at, n)))
    tl.store(out + 3 * N + at, tl.load(x + tl.multiple_of(zero, 16) + at % tl.multiple_of(zero, 16)))


def quotient(x, n):
    return x // n if n else x


def remainder(x, n):
    return x % n if n else 0 * x


def test_divisors_that_are_zero_at_some_launches():
    """Launches with other divisors come before, between and after, so that every way to launch is taken."""
    x, at = np.arange(4 * N, dtype=np.int32), np.arange(N)
    for n in (16, 16, 16, 16, 16, 16, 0, 16, 0, 0, 5, 0, 32, 1, 0):
        out = np.full((4, N), -7, np.int32)
        offsets_by_division[(1,)](x, out, n, N)
        both = quotient(at, 2 * n) * 4 + remainder(at, 2 * n)
        wanted = [quotient(at, n), remainder(at, n), remainder(at + 16, n) + quotient(at, n), both]
        np.testing.assert_array_equal(out, wanted, err_msg=f"n = {n}")


@pytest.mark.parametrize("n", [0, 16, 48, 7])
def test_divisors_that_are_computed_or_passed_on(n):
    x, at = np.arange(4 * N, dtype=np.int32), np.arange(N)
    out = np.full((4, N), -7, np.int32)
    offsets_by_computed_divisors[(1,)](x, out, n, N)
    np.testing.assert_array_equal(out, [at, 0 * at, remainder(at, n), 0 * at])
