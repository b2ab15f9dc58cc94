"""Metrics that programs give to scopes and kernels: their types, and tensors among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..support.lazy import LazyModule

__all__ = ["FLOPS_WIDTHS", "ROOFLINE_TYPES", "set_metric_kernels", "transform_tensor_metrics"]

_torch = LazyModule("torch")

FLOPS_WIDTHS = (8, 16, 32, 64)

#: metrics that have one type, whatever type a program gives them
ROOFLINE_TYPES: dict[str, Callable[[Any], Any]] = {
    "flops": float,
    **{f"flops{width}": float for width in FLOPS_WIDTHS},
    "bytes": int,
}


def set_metric_kernels() -> None:
    """Nothing to set: tensors of a GPU are copied in its stream, and read when it is waited for, without kernels."""


def transform_tensor_metrics(metrics: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The metrics with values on the host, and device tensors, copied in their streams.

    `flops`, `flops8` to `flops64` are floats and `bytes` is an int. Of other tensors, those of floating-point elements
    are floats, the others ints.

    >>> transform_tensor_metrics({"flops16": 2, "bytes": 3.0, "mine": [4]})
    ({'flops16': 2.0, 'bytes': 3, 'mine': [4]}, {})
    """
    values: dict[str, Any] = {}
    tensors: dict[str, Any] = {}
    for name, value in metrics.items():
        if not hasattr(value, "data_ptr"):
            values[name] = _converted(name, value)
        elif value.device.type == "cpu":
            values[name] = _converted(name, value.tolist() if value.numel() > 1 else value.item())
        elif not _torch.cuda.is_current_stream_capturing():  # what a graph captures is not computed now
            tensors[name] = _copied(name, value)
    return values, tensors


def _converted(name: str, value: Any) -> Any:
    convert = ROOFLINE_TYPES.get(name)
    if convert is None:
        return value
    return [convert(v) for v in value] if isinstance(value, (list, tuple)) else convert(value)


def _copied(name: str, tensor: Any) -> Any:
    """A copy with the metric's type: the program may overwrite the tensor before it is read."""
    convert = ROOFLINE_TYPES.get(name, float if tensor.is_floating_point() else int)
    wide = tensor.double() if convert is float else tensor.long()
    return wide.clone() if wide is tensor else wide
