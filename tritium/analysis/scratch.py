"""How much shared memory the lowering of an operation needs for itself while it runs.

A conversion between layouts, a reduction across warps or a histogram passes data between threads through shared
memory that nobody else sees. Such an operation says in bytes how much it needs, by a function registered for its class:

    @scratch_of(tt.Histogram)
    def _histogram(op):
        return 4 * op.results[0].type.shape[0]

The functions are in modules that are imported when an operation of theirs turns up: `_FILES` says where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir import Operation
from ..support.lazy import LazyModule, loaded

__all__ = ["SCRATCH_ALIGNMENT", "scratch_bytes", "scratch_of"]

#: Bytes. As Triton aligns scratch; a row of all banks of shared memory.
SCRATCH_ALIGNMENT = 128

Size = Callable[[Any], int]
_SIZES: dict[str, Size] = {}
"""By name of the operation."""

_reduce = LazyModule(".scratch_reduce", __package__)
_FILES = {
    "ttg.convert_layout": LazyModule(".exchange", __package__),
    "ttg.warp_specialize": LazyModule(".captures", __package__),
    "ttng.tensormap_create": LazyModule(".tensormaps", __package__),
    **dict.fromkeys(("tt.reduce", "tt.scan", "tt.histogram", "tt.gather"), _reduce),
    **dict.fromkeys(("tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_load", "tt.atomic_poll"), _reduce),
}
"""Where an operation's function is registered."""


def scratch_of(*classes: type[Operation] | str) -> Callable[[Size], Size]:
    """Register a function from an operation of one of these classes to the bytes of scratch that its lowering needs.

    Of a dialect that few programs use a class is said by the operation's name, so that it need not be imported.
    """

    def register(size: Size) -> Size:
        for cls in classes:
            name = cls if isinstance(cls, str) else cls.name
            if name in _SIZES:
                raise ValueError(f"two functions say how much scratch {name} needs")
            if name not in _FILES:
                raise ValueError(f"nobody would find how much scratch {name} needs: it has no row in _FILES")
            _SIZES[name] = size
        return size

    return register


def scratch_bytes(op: Operation) -> int:
    """Bytes of scratch that the lowering of `op` needs; 0 where nothing is registered for its class."""
    size = _SIZES.get(op.name)
    if size is None and op.name in _FILES:
        loaded(_FILES[op.name])
        size = _SIZES[op.name]
    return 0 if size is None else size(op)
