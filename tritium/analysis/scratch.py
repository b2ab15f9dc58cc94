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
_SIZES: dict[str, Size] = {}
"""By name of the operation."""


def scratch_of(*classes: type[Operation] | str) -> Callable[[Size], Size]:
    """Register a function from an operation of one of these classes to the bytes of scratch that its lowering needs.

    Of a dialect that few programs use a class is said by the operation's name, so that it need not be imported.
    """

    def register(size: Size) -> Size:
        for cls in classes:
            name = cls if isinstance(cls, str) else cls.name
            if name in _SIZES:
                raise ValueError(f"two functions say how much scratch {name} needs")
            _SIZES[name] = size
        return size

    return register


def scratch_bytes(op: Operation) -> int:
    """Bytes of scratch that the lowering of `op` needs; 0 where nothing is registered for its class."""
    size = _SIZES.get(op.name)
    return 0 if size is None else size(op)
