"""Dot of block-scaled formats (microscaling)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...dialects import tt
from ..constexpr import unwrap
from ..dtypes import bfloat16, block_type, float8e4nv, float8e5, float16, float32, int8, uint8, uint16
from ..tensor import tensor
from .errors import type_error, value_error
from .reductions import accumulate_into

if TYPE_CHECKING:
    from .context import SemanticContext

__all__ = ["dot_scaled"]

# format -> (element type, or None for two elements per byte; unsigned integers that may hold the bits)
FORMATS = {
    "e2m1": (None, uint8),
    "e4m3": (float8e4nv, uint8),
    "e5m2": (float8e5, uint8),
    "bf16": (bfloat16, uint16),
    "fp16": (float16, uint16),
}
GROUPS = (16, 32)  # elements along K that share a scale


def dot_scaled(
    sem: SemanticContext,
    lhs: Any,
    lhs_scale: Any,
    lhs_format: Any,
    rhs: Any,
    rhs_scale: Any,
    rhs_format: Any,
    acc: Any,
    fast_math: bool,
    lhs_k_pack: bool,
    rhs_k_pack: bool,
    out_dtype: Any,
) -> tensor:
    """(lhs * lhs_scale) @ (rhs * rhs_scale) + acc; each scale applies to 16 or 32 adjacent elements along K."""
    lhs_format, rhs_format = _format("lhs", lhs_format), _format("rhs", rhs_format)
    _check_blocks(lhs, rhs)
    lhs, rhs = _elements(sem, "lhs", lhs, lhs_format), _elements(sem, "rhs", rhs, rhs_format)
    if (not lhs_k_pack and lhs_format != "e2m1") or (not rhs_k_pack and rhs_format != "e2m1"):
        raise value_error("only mxfp4 inputs can be packed along a dimension different than K")
    if out_dtype is not float32:
        raise value_error("Only float32 is supported for out_dtype at the moment", "cast the result with .to(dtype)")
    m, k, n = _sizes(lhs, rhs, lhs_format, rhs_format, lhs_k_pack, rhs_k_pack)
    lhs_scale, rhs_scale = unwrap(lhs_scale), unwrap(rhs_scale)
    groups = _group("lhs", lhs_scale, m, k), _group("rhs", rhs_scale, n, k)
    if None not in groups and groups[0] != groups[1]:
        raise value_error(f"Operands must have the same scale factor; (lhs: {groups[0]} vs rhs: {groups[1]})")
    result = block_type(float32, (*lhs.type.shape[:-2], m, n))
    acc = accumulate_into(sem, acc, result, "tl.dot_scaled")
    op = tt.DotScaled(
        lhs.handle,
        rhs.handle,
        acc.handle,
        None if lhs_scale is None else lhs_scale.handle,
        None if rhs_scale is None else rhs_scale.handle,
        tt.ScaleDotElemType[lhs_format],
        tt.ScaleDotElemType[rhs_format],
        fast_math,
        lhs_k_pack,
        rhs_k_pack,
    )
    return tensor(sem.builder.add(op), result)


def _format(side: str, name: Any) -> str:
    name = unwrap(name)
    if name not in FORMATS:
        raise value_error(f"Invalid float format: {name} of {side}", f"one of {', '.join(FORMATS)}")
    return str(name)


def _check_blocks(lhs: Any, rhs: Any) -> None:
    for side, x in (("lhs", lhs), ("rhs", rhs)):
        if x.__class__ is not tensor or not x.type.is_block():
            kind = x.type if x.__class__ is tensor else type(x).__name__
            raise type_error(f"dot_scaled operands must be block tensors (not scalars), the {side} is {kind}")
    x, y = lhs.type.shape, rhs.type.shape
    if len(x) != len(y) or len(x) not in (2, 3) or x[:-2] != y[:-2]:
        raise value_error(f"Both inputs must be either 2D or 3D; (lhs: {list(x)} vs rhs: {list(y)})")


def _elements(sem: SemanticContext, side: str, x: tensor, name: str) -> tensor:
    """The operand with elements of the format: integers are bitcast, packed 4-bit elements are unchanged."""
    element, bits = FORMATS[name]
    if x.dtype is element or (element is None and x.dtype is bits):
        return x
    if x.dtype is not bits:
        if element is None:
            raise value_error(f"e2m1 format must be packed as uint8. Got {x.dtype} for {side}")
        raise value_error(f"Unexpected dtype for {name}. Got {x.dtype} for {side}, it takes {element} or {bits}")
    assert element is not None
    return sem.bitcast(x, element)


def _sizes(
    lhs: tensor, rhs: tensor, lhs_format: str, rhs_format: str, lhs_k_pack: bool, rhs_k_pack: bool
) -> tuple[int, int, int]:
    """(M, K, N) in elements."""
    a, b = (2 if f == "e2m1" else 1 for f in (lhs_format, rhs_format))
    m, k = lhs.type.shape[-2:]
    other, n = rhs.type.shape[-2:]
    m, k = (m, k * a) if lhs_k_pack else (m * a, k)
    other, n = (other * b, n) if rhs_k_pack else (other, n * b)
    if k != other:
        raise value_error(
            "Reduction dimension should pack the same number of elements;"
            f" (lhs: {list(lhs.type.shape)} vs rhs: {list(rhs.type.shape)})"
        )
    return m, k, n


def _group(side: str, scale: Any, rows: int, k: int) -> int | None:
    """The number of elements that share a scale; None for one scale."""
    if scale is None:
        return None
    if scale.__class__ is not tensor:
        raise type_error(f"{side}_scale must be a tensor or None, got {type(scale).__name__}")
    shape = scale.type.shape
    if scale.dtype not in (uint8, int8) and not (scale.dtype.is_fp8() and scale.dtype is float8e4nv):
        raise type_error(f"{side}_scale holds exponents as uint8, or fp8e4nv, got {scale.dtype}")
    if not scale.type.is_block() or scale.type.numel == 1:
        return None
    group = k // shape[-1] if shape[-1] <= k else 0
    if len(shape) < 2 or shape[-2] != rows or group not in GROUPS:
        wanted = " or ".join(f"[..., {rows}, {k // g}]" for g in GROUPS)
        raise value_error(f"{side}_scale must be a tensor of shape {wanted}. Got {list(shape)}")
    return group
