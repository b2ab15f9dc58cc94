"""Tensors of the microscaling formats, beside the definitions of the specification in plain Python and ml_dtypes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tritium.support import TritiumError
from tritium.tools.mxfp import MXFP4Tensor, MXScaleTensor

torch = pytest.importorskip("torch")
ml_dtypes = pytest.importorskip("ml_dtypes")


def e2m1(code: int) -> float:
    sign, exponent, mantissa = code >> 3, code >> 1 & 3, code & 1
    size = mantissa / 2 if exponent == 0 else 2.0 ** (exponent - 1) * (1 + mantissa / 2)
    return math.copysign(size, -1 if sign else 1)


def test_codes_mean_what_the_format_says() -> None:
    x = MXFP4Tensor(size=(16,))
    x.data = torch.arange(16, dtype=torch.uint8)
    found = x.to(torch.float32).tolist()
    assert found == [e2m1(code) for code in range(16)]
    assert math.copysign(1, found[8]) == -1


def test_numbers_are_rounded_to_nearest_even() -> None:
    values = torch.cat([torch.linspace(-8, 8, 1025), torch.tensor([math.inf, -math.inf, -0.0, 0.25, 5.0, 1e-9])])
    before = values.clone()
    codes = MXFP4Tensor(data=values).data
    assert torch.equal(values, before)
    expected = values.clamp(-6, 6).numpy().astype(ml_dtypes.float4_e2m1fn).view(np.uint8) & 15
    np.testing.assert_array_equal(codes.numpy(), expected)
    assert MXFP4Tensor(data=torch.tensor([math.nan])).data.tolist() == [7]


@pytest.mark.parametrize("shape, dim", [((4, 6), 0), ((4, 6), 1), ((3, 5), 0), ((3, 5), 1), ((2, 3, 4), 1)])
def test_packing_and_back(shape: tuple[int, ...], dim: int) -> None:
    x = MXFP4Tensor(size=shape).random()
    packed = x.to_packed_tensor(dim)
    assert packed.dtype == torch.uint8 and packed.shape[dim] == -(-shape[dim] // 2)
    first = packed.select(dim, 0)
    assert torch.equal(first, x.data.select(dim, 0) | x.data.select(dim, 1) << 4)
    assert torch.equal(x.unpack_packed_tensor(packed, dim, shape), x.data)


def test_scales() -> None:
    s = MXScaleTensor(size=(256,))
    s.data = torch.arange(256, dtype=torch.uint8)
    found = s.to(torch.float32)
    assert found[:255].tolist() == [2.0 ** (e - 127) for e in range(255)] and math.isnan(found[255])
    values = [1.0, 1.5, 2.0, 0.75, 2.0**-126, 2.0**-140, 3e38, 0.0, -1.0, math.inf, math.nan]
    assert MXScaleTensor(data=torch.tensor(values)).data.tolist() == [127, 127, 128, 126, 1, 0, 254, 255, 255, 255, 255]
    few = MXScaleTensor(size=(1000,)).random(low=0.5, high=4.0).data
    assert sorted(set(few.tolist())) == [126, 127, 128, 129]
    assert MXScaleTensor(size=1000).random().data.max() < 255


def test_what_cannot_be() -> None:
    with pytest.raises(TritiumError, match="data or a size"):
        MXFP4Tensor()
    with pytest.raises(TritiumError, match="float32 only"):
        MXFP4Tensor(size=2).random().to(torch.float16)
    with pytest.raises(TritiumError, match="is not within the range"):
        MXFP4Tensor(size=2).random().to_packed_tensor(2)
    with pytest.raises(TritiumError, match="no scale is between"):
        MXScaleTensor(size=2).random(low=4.0, high=1.0)
