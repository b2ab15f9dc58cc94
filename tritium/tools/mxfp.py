"""Tensors of the microscaling formats (OCP MX specification 1.0) for tests and tutorials, as Triton spells them.

    x = MXFP4Tensor(size=(128, 64), device="cpu").random()
    x.to_packed_tensor(dim=1)                     # uint8, (128, 32): what tl.dot_scaled takes
    x.to(torch.float32)                           # what it means
    MXScaleTensor(size=(128, 2)).random(high=8.0).data

Elements are kept as codes, one a byte, in `data`. Needs torch.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ..support import TritiumError
from ..support.lazy import LazyModule

__all__ = ["MXFP4Tensor", "MXScaleTensor"]

torch = LazyModule("torch")

# E2M1 without its sign: two bits of exponent, one of mantissa, in the order of their codes (section 5.3.3)
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_BIAS = 127  # E8M0: a code e is 2**(e - 127), and 255 is NaN (section 5.4.1)
_NAN = 255


class PackingError(TritiumError, AssertionError):
    """Data that cannot be packed as requested (Triton asserts)."""


class _Codes:
    """Codes, `data`, from numbers or of a `size` that `random` fills."""

    def __init__(self, data: Any = None, size: Any = None, device: Any = None) -> None:
        if data is None and size is None:
            raise TritiumError(f"{type(self).__name__} needs data or a size")
        self.device = device if data is None else data.device
        if data is not None:
            self.data = self._from_float(data)
        else:
            self.size = size if isinstance(size, tuple) else (size,)

    def _from_float(self, values: Any) -> Any:
        raise NotImplementedError

    def _codes(self, low: int, high: int) -> Any:
        """Random codes from `low` to `high`, both included."""
        return torch.randint(low, high + 1, size=self.size, dtype=torch.uint8, device=self.device)

    def _only_float32(self, dtype: Any) -> None:
        if dtype != torch.float32:
            raise TritiumError(f"{type(self).__name__} becomes float32 only, not {dtype}")


class MXFP4Tensor(_Codes):
    """Numbers of four bits (E2M1). `data` given is rounded to nearest, ties to even; what is too large, infinite or NaN
    becomes 6 with its sign. TritiumError with neither data nor size."""

    def random(self) -> MXFP4Tensor:
        """Fill with any of the sixteen codes; returns itself."""
        self.data = self._codes(0, 15)
        return self

    def to(self, dtype: Any) -> Any:
        """The numbers as torch's float32, the only type there is."""
        self._only_float32(dtype)
        table = torch.tensor(_E2M1 + tuple(-value for value in _E2M1), dtype=dtype, device=self.data.device)
        return table[self.data.long()]

    def _from_float(self, values: Any) -> Any:
        size = values.abs().nan_to_num(nan=_E2M1[-1], posinf=_E2M1[-1]).unsqueeze(-1)
        middles = torch.tensor([(a + b) / 2 for a, b in pairwise(_E2M1)], dtype=size.dtype, device=self.device)
        # a tie goes to the even code: down from the middles behind even codes, up from the others
        codes = (size > middles[0::2]).sum(-1) + (size >= middles[1::2]).sum(-1)
        return (codes + 8 * values.signbit()).to(torch.uint8)

    def to_packed_tensor(self, dim: int) -> Any:
        """Two codes in a byte along `dim`, the first in the low half; an odd size is filled up with zero."""
        data = self.data
        if not 0 <= dim < data.ndim:
            raise PackingError(
                f"the dimension to pack along, {dim}, is not within the range of tensor dimensions, {data.ndim}"
            )
        if data.size(dim) % 2:
            data = torch.cat([data, torch.zeros_like(data.narrow(dim, 0, 1))], dim)
        low, high = data.unflatten(dim, (-1, 2)).unbind(dim + 1)
        return low | (high << 4)

    def unpack_packed_tensor(self, packed_tensor: Any, dim: int, original_shape: Any) -> Any:
        """The codes of `to_packed_tensor`, one a byte, in the shape they had."""
        pairs = torch.stack((packed_tensor & 15, packed_tensor >> 4), dim + 1)
        return pairs.flatten(dim, dim + 1).narrow(dim, 0, original_shape[dim])


class MXScaleTensor(_Codes):
    """Powers of two in a byte (E8M0), the scales of blocks. `data` given is rounded down; NaN for what is not positive
    or not finite. TritiumError with neither data nor size."""

    def random(self, low: float | None = None, high: float | None = None) -> MXScaleTensor:
        """Fill with any scale but NaN, or those between powers of two; returns itself."""
        first = 0 if low is None else max(0, self._exponent(low))
        last = 254 if high is None else min(254, max(0, self._exponent(high)))
        if first > last:
            raise TritiumError(f"no scale is between {low} and {high}")
        self.data = self._codes(first, last)
        return self

    @staticmethod
    def _exponent(value: float) -> int:
        return int(torch.log2(torch.tensor(value))) + _BIAS

    def to(self, dtype: Any) -> Any:
        """The scales as torch's float32, the only type there is."""
        self._only_float32(dtype)
        return fp8e8m0_to_float32(self.data)

    def _from_float(self, values: Any) -> Any:
        fine = values.isfinite() & (values > 0)
        _, exponent = torch.frexp(values.masked_fill(~fine, 1.0).float())  # value = m * 2**exponent, 0.5 <= m < 1
        codes = (exponent - 1 + _BIAS).clamp(0, 254)
        return codes.masked_fill(~fine, _NAN).to(torch.uint8)


def fp8e8m0_to_float32(scale: Any) -> Any:
    """Codes of E8M0, one a byte, as torch's float32."""
    codes = scale.view(torch.uint8)
    scales = torch.ldexp(torch.ones_like(codes, dtype=torch.float32), codes.int() - _BIAS)
    return scales.masked_fill(codes == _NAN, float("nan"))
