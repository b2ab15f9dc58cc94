"""A loop on the CPU that hands one new value to two of the tiles it carries, beside a tile of another shape: the value was
computed again for the second one, from the first one's new elements."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def carried(x, out, other, n):
    at, few = tl.arange(0, 256), tl.arange(0, 32)[:, None]
    step = tl.load(x + at)
    c = step * 3
    d = c % 9
    e = tl.load(x + few)
    for i in range(n):
        c += step
        d = c
        e = e ^ 5
    tl.store(out + at, d)
    tl.store(out + 256 + at, c)
    tl.store(other + few, e)


def test_one_value_for_two():
    x = np.arange(100, 356, dtype=np.int32)
    for n in (1, 2, 3):
        out, other = np.zeros(512, np.int32), np.zeros(32, np.int32)
        carried[(1,)](x, out, other, n)
        np.testing.assert_array_equal(out, np.tile(x * (3 + n), 2))
        np.testing.assert_array_equal(other, x[:32] ^ 5 if n % 2 else x[:32])
