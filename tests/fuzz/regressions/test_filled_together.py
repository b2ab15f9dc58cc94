"""Tiles that one loop on the CPU fills together: the fast version of the loop asked only of the first of them whether its
remainders wrap around and its masks cut nothing off, so that the others were read from wrong places."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def two_remainders(x, out, other, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, 32)
    u = tl.load(x + at % M)
    v = tl.load(x + at % N)
    tl.store(out + at, v)
    tl.store(other + at * 2, u)


@tritium.jit
def two_masks(x, out, other, m, n):
    at = tl.arange(0, 256)
    u = tl.load(x + at, mask=at < m, other=-5)
    v = tl.load(x + at, mask=at < n, other=-7)
    tl.store(out + at, v)
    tl.store(other + at * 2, u)


def test_a_remainder_beside_one_that_does_not_wrap():
    x = np.arange(100, 200, dtype=np.int32)
    out, other = np.zeros(32, np.int32), np.zeros(64, np.int32)
    two_remainders[(1,)](x, out, other, 37, 3)
    np.testing.assert_array_equal(out, x[np.arange(32) % 3])
    np.testing.assert_array_equal(other[::2], x[:32])


def test_a_mask_beside_one_that_cuts_nothing_off():
    x = np.arange(100, 356, dtype=np.int32)
    for m, n in ((256, 5), (5, 256), (256, 256), (300, 100)):
        out, other = np.zeros(256, np.int32), np.zeros(512, np.int32)
        two_masks[(1,)](x, out, other, m, n)
        np.testing.assert_array_equal(out, np.where(np.arange(256) < n, x, -7))
        np.testing.assert_array_equal(other[::2], np.where(np.arange(256) < m, x, -5))
