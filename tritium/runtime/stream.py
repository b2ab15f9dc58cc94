"""The argument `stream=` of a launch."""

from __future__ import annotations

from typing import Any

from .errors import ArgumentError

__all__ = ["stream_handle"]


def stream_handle(value: Any) -> int | None:
    """The handle of a stream: an integer, torch's and CuPy's streams, or an object with `__cuda_stream__`.

    None is the current stream. ArgumentError for anything else.
    """
    if value is None:
        return None
    if hasattr(value, "__index__") and not isinstance(value, bool):
        return int(value)
    for name in ("cuda_stream", "ptr"):  # of torch, of CuPy
        found = getattr(value, name, None)
        if found is not None:
            return int(found)
    protocol = getattr(value, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    raise ArgumentError(
        f"stream={value!r} is not a stream\nhint: pass a handle as an integer, a stream of torch or CuPy, or an object "
        "with __cuda_stream__"
    )
