"""How much shared memory the lowering of an operation needs for itself while it runs.

A conversion between layouts, a reduction across warps or a histogram passes data between threads through shared
memory that nobody else sees. Such an operation says in bytes how much it needs, by a function registered for its class:

    @scratch_of(tt.Histogram)
    def _histogram(op):
        return 4 * op.results[0].type.shape[0]

The functions are in the modules `scratch_<area>`; who asks for sizes imports `allocation`, which imports those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir import Operation

__all__ = ["SCRATCH_ALIGNMENT", "scratch_bytes", "scratch_of"]

#: Bytes. As Triton aligns scratch; a row of all banks of shared memory.
SCRATCH_ALIGNMENT = 128

Size = Callable[[Any], int]
_SIZES: dict[type, Size] = {}


def scratch_of(*classes: type) -> Callable[[Size], Size]:
    """Register a function from an operation of one of these classes to the bytes of scratch that its lowering needs."""

    def register(size: Size) -> Size:
        for cls in classes:
            if cls in _SIZES:
                raise ValueError(f"two functions say how much scratch {cls.__name__} needs")
            _SIZES[cls] = size
        return size

    return register


def scratch_bytes(op: Operation) -> int:
    """Bytes of scratch that the lowering of `op` needs; 0 where nothing is registered for its class."""
    size = _SIZES.get(op.__class__)
    return 0 if size is None else size(op)
