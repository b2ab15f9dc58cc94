"""What Triton takes and which types it gives back, found by comparing hundreds of small kernels with it."""

import numpy as np
import pytest

import tritium
import tritium.language as tl

torch = pytest.importorskip("torch")


def test_sums_of_bf16_are_bf16_and_computed_in_fp32():
    """A loop that adds them to bf16 keeps its type; ones beyond 256 are not lost on the way."""

    @tritium.jit
    def kernel(x, y, z, N: tl.constexpr):
        values = tl.load(x + tl.arange(0, N)[:, None] * 4 + tl.arange(0, 4)[None, :])
        total = tl.zeros((4,), tl.bfloat16)
        for _ in range(2):
            total = total + tl.sum(values, 0)
        tl.store(y + tl.arange(0, 4), total)
        summed, product = tl.cumsum(values, 0), tl.cumprod(values, 0)
        tl.static_assert(summed.dtype == tl.bfloat16)
        tl.static_assert(product.dtype == tl.bfloat16)
        tl.static_assert(tl.sum(values, dtype=tl.float32).dtype == tl.float32)
        tl.static_assert(tl.cumprod(values, 0, dtype=tl.float32).dtype == tl.float32)
        tl.store(z + tl.arange(0, N)[:, None] * 4 + tl.arange(0, 4)[None, :], summed)

    x = torch.ones((512, 4), dtype=torch.bfloat16)
    y, z = torch.zeros(4, dtype=torch.bfloat16), torch.zeros_like(x)
    kernel[(1,)](x, y, z, 512)
    assert (y == 1024).all()  # one after the other in bf16, 256 + 1 would stay 256
    torch.testing.assert_close(z, x.double().cumsum(0).to(torch.bfloat16), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int64"])
def test_products_of_small_integers_have_32_bits(dtype):
    @tritium.jit
    def kernel(x, y, z):
        at = tl.arange(0, 8)
        tl.store(y + at, tl.cumprod(tl.load(x + at), 0))
        tl.store(z + at, tl.cumprod(tl.load(x + at), 0, dtype=tl.int64, reverse=True))

    x = np.array([3, 5, 7, 11, 2, 3, 5, 2], dtype)
    y, z = np.zeros(8, np.int64), np.zeros(8, np.int64)
    kernel[(1,)](x, y, z)
    np.testing.assert_array_equal(y, np.cumprod(x.astype(np.int64)))
    np.testing.assert_array_equal(z, np.cumprod(x[::-1].astype(np.int64))[::-1])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_integers_are_clamped(dtype):
    @tritium.jit
    def kernel(x, low, y):
        at = tl.arange(0, 8)
        tl.store(y + at, tl.clamp(tl.load(x + at), tl.load(low + at), 100))

    x, low = np.array([0, 1, 5, 99, 100, 101, 120, 127], dtype), np.full(8, 4, dtype)
    y = np.zeros(8, dtype)
    kernel[(1,)](x, low, y)
    np.testing.assert_array_equal(y, np.clip(x, 4, 100))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bitwise_atomics_of_floats_act_on_their_bits(dtype):
    @tritium.jit
    def kernel(x, v, old):
        at = tl.arange(0, 4)
        tl.store(old + at, tl.atomic_and(x + at, tl.load(v + at)))
        tl.atomic_or(x + 4 + at, tl.load(v + at), mask=at < 3)
        tl.atomic_xor(x + 8, tl.load(v), sem="relaxed")

    bits = np.int32 if dtype == np.float32 else np.int64
    x = np.random.default_rng(3).standard_normal(9).astype(dtype)
    v, old, wanted = x[::-1][:4].copy(), np.zeros(4, dtype), x.copy().view(bits)
    wanted[:4] &= v.view(bits)
    wanted[4:7] |= v[:3].view(bits)
    wanted[8] ^= v.view(bits)[0]
    before = x[:4].copy()
    kernel[(1,)](x, v, old)
    np.testing.assert_array_equal(x.view(bits), wanted)
    np.testing.assert_array_equal(old, before)


def test_arguments_have_the_names_that_triton_gives_them():
    @tritium.jit
    def kernel(x, y):
        row = tl.unsqueeze(x=tl.load(x + tl.arange(0, 4)), dim=0)
        a, _, _, _ = tl.rand4x(seed=1, offsets=tl.arange(0, 4))
        tl.store(y + tl.arange(0, 4), tl.squeeze(x=row, dim=0) + a)

    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    kernel[(1,)](x, y)
    assert ((y >= 1) & (y < 2)).all() and len(set(y)) == 4
