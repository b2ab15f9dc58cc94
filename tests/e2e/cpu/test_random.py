"""Random numbers, small floats and other numbers of the language on the CPU, against exact references."""

from __future__ import annotations

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.e2e.cpu.test_language import N, run
from tests.e2e.philox import philox, uniform


@pytest.fixture
def x(rng):
    return rng.standard_normal(N).astype(np.float32)


# -- random numbers -----------------------------------------------------------------------------------------------


@triton.jit
def random_words(seed, first, out_ptr):
    at = first + tl.arange(0, 64)
    a, b, c, d = tl.randint4x(seed, at)
    where = out_ptr + tl.arange(0, 64)
    tl.store(where, a)
    tl.store(where + 64, b)
    tl.store(where + 128, c)
    tl.store(where + 192, d)
    tl.store(where + 256, tl.randint(seed, at))


@triton.jit
def uniform_of(words_ptr, out_ptr):
    at = tl.arange(0, 4)
    tl.store(out_ptr + at, tl.uint_to_uniform_float(tl.load(words_ptr + at)))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_least_integer_becomes_a_float_without_overflow(dtype):
    limits, out = np.iinfo(dtype), np.full(4, 9.0, np.float32)
    uniform_of[(1,)](np.array([limits.min, limits.max, -1, 0], dtype), out, debug=True)
    assert (out[:2] < 1).all() and (out[:2] > 1 - 2.0**-22).all() and (out[2:] == 0).all()


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**31 - 1, 2**40 + 7, -3])
@pytest.mark.parametrize("first", [0, 1, 2**31 - 64])
def test_random_words(seed, first):
    words = philox(seed, np.arange(first, first + 64))
    out = run(random_words, np.uint32, seed, first, size=320)
    np.testing.assert_array_equal(out, np.concatenate([*words, words[0]]))


@triton.jit
def wide_words(seed, out_ptr):
    """Counters of 64-bit words; an offset of 64 bits, which fills two of the 32-bit words."""
    at = tl.arange(0, 64)
    counter = (at + 2147483000).to(tl.int64) * 5
    zero = counter * 0
    a, b, c, d = tl.philox(seed, counter, zero, zero, zero, 6)
    tl.store(out_ptr + at, a)
    tl.store(out_ptr + 64 + at, b ^ c ^ d)
    tl.store(out_ptr + 128 + at, (tl.uint_to_uniform_float(a) * 1024).to(tl.int32).to(tl.uint64))
    tl.store(out_ptr + 192 + at, tl.randint(seed, counter).to(tl.uint64))


def philox_words(bits, counter, seed, rounds):
    """Philox 4x32 or 4x64 in Python integers, after the paper's section 3.3 and table 2."""
    top = (1 << bits) - 1
    factors = (0xD2511F53, 0xCD9E8D57) if bits == 32 else (0xD2E7470EE14C6C93, 0xCA5A826395121157)
    weyl = (0x9E3779B9, 0xBB67AE85) if bits == 32 else (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
    key = [seed & top, seed >> bits]
    for _ in range(rounds):
        a, b = counter[0] * factors[0], counter[2] * factors[1]
        counter = [(b >> bits) ^ counter[1] ^ key[0], b & top, (a >> bits) ^ counter[3] ^ key[1], a & top]
        key = [(k + w) & top for k, w in zip(key, weyl)]
    return counter


def test_random_words_of_64_bits():
    out = [int(v) for v in run(wide_words, np.uint64, 77, size=256)]
    offsets = [(at + 2147483000) * 5 for at in range(64)]
    words = [philox_words(64, [offset, 0, 0, 0], 77, 6) for offset in offsets]
    assert out[:64] == [w[0] for w in words]
    assert out[64:128] == [w[1] ^ w[2] ^ w[3] for w in words]
    folded = [w[0] if w[0] < 2**63 else 2**64 - 1 - w[0] for w in words]
    assert out[128:192] == [int(np.float32(w) * np.float32(1.0842020432385337e-19) * 1024) for w in folded]
    assert out[192:] == [philox_words(32, [o & 0xFFFFFFFF, o >> 32, 0, 0], 77, 10)[0] for o in offsets]


@triton.jit
def random_floats(seed, out_ptr):
    at = tl.arange(0, 64)
    tl.store(out_ptr + at, tl.rand(seed, at))
    tl.store(out_ptr + 64 + at, tl.randn(seed, at))
    a, b, _, d = tl.rand4x(seed, at, 7)
    tl.store(out_ptr + 128 + at, a + b + d)
    e, f, g, h = tl.randn4x(seed, at)
    tl.store(out_ptr + 192 + at, f * g + e * h)


def folded(word):
    word = word.view(np.int32)
    return (np.where(word < 0, -word - 1, word).astype(np.float32) * np.float32(4.6566127342e-10)).astype(np.float64)


def test_random_floats():
    at = np.arange(64)
    out = run(random_floats, np.float32, 42, size=256)
    np.testing.assert_allclose(out[:64], uniform(42, at), rtol=2e-7)
    u1, u2, u3, u4 = (folded(w) for w in philox(42, at))
    radius, angle = np.sqrt(-2 * np.log(np.maximum(u1, 1e-7))), 2 * np.pi * u2
    np.testing.assert_allclose(out[64:128], radius * np.cos(angle), rtol=1e-4, atol=2e-6)
    seven = [folded(w) for w in philox(42, at, 7)]
    np.testing.assert_allclose(out[128:192], seven[0] + seven[1] + seven[3], rtol=1e-6)
    second, turn = np.sqrt(-2 * np.log(np.maximum(u3, 1e-7))), 2 * np.pi * u4
    pairs = radius * np.sin(angle) * second * np.cos(turn) + radius * np.cos(angle) * second * np.sin(turn)
    np.testing.assert_allclose(out[192:], pairs, rtol=1e-4, atol=1e-5)


@triton.jit
def everything_random(seed, words, floats, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(words + at, tl.randint(seed, at).to(tl.uint32, bitcast=True))
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(words + N + at, a ^ b ^ c ^ d)
    tl.store(floats + at, tl.rand(seed, at))
    tl.store(floats + N + at, tl.randn(seed, at))
    e, f, g, h = tl.rand4x(seed, at)
    tl.store(floats + 2 * N + at, e + f + g + h)
    i, j, k, m = tl.randn4x(seed, at)
    tl.store(floats + 3 * N + at, i + j + k + m)


@pytest.mark.parametrize("seed", [0, 2**31 - 1, -(2**31), 2**63 - 1, -1])
def test_random_numbers_overflow_nothing_in_debug_mode(seed):
    """Their products and sums are modulo 2^32, which is meant; other overflows are reported."""
    made = []
    for debug in (False, True):
        words, floats = np.full(1024, 7, np.uint32), np.full(2048, np.nan, np.float32)
        everything_random[(1,)](seed, words, floats, 512, debug=debug)
        made.append((words, floats))
    np.testing.assert_array_equal(made[0][0], made[1][0])
    np.testing.assert_array_equal(made[0][1], made[1][1])
    np.testing.assert_array_equal(made[1][0][:512], philox(seed, np.arange(512))[0])


# -- numbers ------------------------------------------------------------------------------------------------------


@triton.jit
def numbers(x_ptr, out_ptr, op: tl.constexpr):
    at = tl.arange(0, 64)
    x = tl.load(x_ptr + at)
    if op == "sigmoid":
        y = tl.sigmoid(x)
    elif op == "softmax":
        y = tl.softmax(x)
    elif op == "rows":
        y = tl.ravel(tl.softmax(x.reshape(4, 16), dim=1))
    elif op == "clamp":
        y = tl.clamp(x, -0.5, 0.5)
    elif op == "fma":
        y = tl.fma(x, x, 1.0)
    elif op == "where":
        y = tl.where(x > 0 and x < 1, x, -1.0)
    elif op == "abs":
        y = tl.abs(x) + tl.floor(x) + tl.ceil(x)
    elif op == "tanh":
        y = tl.extra.libdevice.tanh(x) + tl.math.exp2(x)
    else:
        y = (x.to(tl.float8e4b15).to(tl.float32) - x) * 16
    tl.store(out_ptr + at, y)


def soft(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


NUMBERS = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softmax": soft,
    "rows": lambda x: soft(x.reshape(4, 16)),
    "clamp": lambda x: np.clip(x, -0.5, 0.5),
    "fma": lambda x: x * x + 1,
    "where": lambda x: np.where((x > 0) & (x < 1), x, -1.0),
    "abs": lambda x: np.abs(x) + np.floor(x) + np.ceil(x),
    "tanh": lambda x: np.tanh(x) + np.exp2(x),
}


@pytest.mark.parametrize("op", NUMBERS)
def test_numbers(op, x):
    out = run(numbers, np.float32, x, op=op)
    np.testing.assert_allclose(out, NUMBERS[op](x.astype(np.float64)).ravel(), rtol=2e-6, atol=1e-7)


@triton.jit
def small_floats(x_ptr, out_ptr):
    at = tl.arange(0, 256)
    bits = at.to(tl.uint8).to(tl.float8e4b15, bitcast=True)
    tl.store(out_ptr + at, bits.to(tl.float32))
    tl.store(out_ptr + 256 + at, tl.load(x_ptr + at).to(tl.float8e4b15).to(tl.float32))


def test_fp8e4b15(rng):
    """Every code decodes to sign * 2^(e - 15) * (1 + m / 8); encoding takes the nearest, the even one of two."""
    x = np.concatenate([rng.uniform(-2.5, 2.5, 200), rng.standard_normal(56) * 1e-4]).astype(np.float32)
    out = run(small_floats, np.float32, x, size=512)
    code = np.arange(128)
    exponent, mantissa = code >> 3, code & 7
    size = np.where(exponent == 0, mantissa * 2.0**-17, 2.0 ** (exponent - 15) * (1 + mantissa / 8))
    np.testing.assert_array_equal(out[:256], np.concatenate([size, -size]))
    distance = np.abs(np.abs(x.astype(np.float64))[:, None] - size[None, :])
    nearest = distance.min(1)
    best = [min(np.flatnonzero(row == low), key=lambda c: c & 1) for row, low in zip(distance, nearest)]
    np.testing.assert_array_equal(np.abs(out[256:]), size[best])
    assert (np.sign(out[256:]) == np.where(out[256:] == 0, 0, np.sign(x))).all()
