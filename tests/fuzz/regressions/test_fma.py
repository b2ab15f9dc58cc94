"""tl.fma of fp16 on CPUs asked for a library function that is not there, and of bf16 was rounded twice."""

import numpy as np

import tritium
import tritium.language as tl


@tritium.jit
def fused(x, y, z, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.fma(tl.load(x + at), tl.load(y + at), tl.load(z + at)))


def bf16(values):
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def test_fp16_is_rounded_once(rng):
    x, y, z = (rng.integers(0, 1 << 16, 4096).astype(np.uint16).view(np.float16) for _ in range(3))
    out = np.full(4096, 7, np.float16)
    fused[(1,)](x, y, z, out, 4096)
    with np.errstate(all="ignore"):  # products of fp16 and their sums that round to one are exact in fp64
        wanted = (x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)).astype(np.float16)
    np.testing.assert_array_equal(out, wanted)


def numbers(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def test_bf16_is_rounded_once(rng):
    """Sums of magnitudes so near that fp64 has them exactly, and that lie near the middle of two bf16 now and then."""
    x, y = (bf16(rng.integers(-255, 256, 65536) / 128) for _ in range(2))
    z = bf16(rng.integers(-255, 256, 65536) * 2.0 ** rng.integers(-36, -4, 65536))
    out = np.zeros(65536, np.uint16)
    fused[(1,)](*(tritium.reinterpret(a, tl.bfloat16) for a in (x, y, z, out)), 65536)
    fraction, exponent = np.frexp(numbers(x) * numbers(y) + numbers(z))
    np.testing.assert_array_equal(numbers(out), np.ldexp(np.rint(fraction * 256), exponent - 8))
