"""The instruments of the whole-kernel tests are tested too: fences, rounding, the random-number reference."""

from __future__ import annotations

import numpy as np
import pytest

from tests.e2e.buffers import Buffer, assert_close, assert_equal, decode, encode, rounded
from tests.e2e.philox import philox


def test_an_unwritten_output_is_caught() -> None:
    out = Buffer((4,))
    out.tensor[:3] = 1.0
    with pytest.raises(AssertionError, match="elements differ"):
        assert_close(out, np.ones(4), rtol=1e-6)


@pytest.mark.parametrize("where", [-1, 8])
def test_a_write_beside_is_caught(where: int) -> None:
    out = Buffer((4,), values=np.ones(4), strides=(2,))
    out.bits[out.start + where] = 0
    with pytest.raises(AssertionError, match="outside"):
        out.check_fence()


def test_gaps_between_rows_are_fenced() -> None:
    out = Buffer((2, 3), strides=(5, 1))
    out.bits[out.start + 3] = 0
    with pytest.raises(AssertionError, match=r"outside .* \[3\]"):
        out.check_fence()


def test_bfloat16_rounds_to_nearest_even() -> None:
    values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, 3.4e38, np.inf, -0.0, np.nan])
    expected = np.array([1.0, 1.0, 1 + 2**-6, np.inf, np.inf, -0.0, np.nan])
    assert np.array_equal(rounded(values, "bf16"), expected, equal_nan=True)


@pytest.mark.torch
def test_bfloat16_is_torchs(rng: np.random.Generator) -> None:
    import torch

    values = rng.standard_normal(4096).astype(np.float32) * np.exp(rng.uniform(-80, 80, 4096)).astype(np.float32)
    theirs = torch.from_numpy(values).to(torch.bfloat16)
    assert np.array_equal(encode(values, "bf16"), theirs.view(torch.int16).numpy().view(np.uint16))


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8"])
def test_torch_sees_the_same_values(dtype: str) -> None:
    buffer = Buffer((3, 4), dtype, values=np.arange(12).reshape(3, 4), strides=(1, 3), library="torch", offset=1)
    assert np.array_equal(buffer.tensor.double().numpy(), buffer.values)
    assert tuple(buffer.tensor.stride()) == (1, 3)


def test_decode_inverts_encode() -> None:
    values = np.arange(-100, 100)
    for dtype in ("f32", "bf16", "i8"):
        assert np.array_equal(decode(encode(values, dtype), dtype), values)


def test_equality_is_exact() -> None:
    with pytest.raises(AssertionError):
        assert_equal(Buffer((2,), "f32", values=[1.0, 1.0 + 2**-23]), np.ones(2))


def test_philox_known_answers() -> None:
    """The known-answer vectors published with the paper's Random123 library, for philox4x32-10."""
    zero = [int(word[0]) for word in philox(0, np.zeros(1))]
    assert zero == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
