"""Shared memory that the lowering of an operation needs as scratch while it runs.

A layout conversion, a reduction across warps or a histogram passes data between threads through shared memory that no
other operation sees. `_SIZES` maps the operation's name to the function that computes its size in bytes. Keys are
names and modules are imported on first use: a kernel imports neither dialects nor plans of operations it does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..ir import Operation
from ..support.lazy import LazyModule

__all__ = ["SCRATCH_ALIGNMENT", "scratch_bytes"]

SCRATCH_ALIGNMENT = 128
"""Bytes: one row of all banks of shared memory, which is also Triton's alignment of scratch."""

_captures = LazyModule(".captures", __package__)
_exchange = LazyModule(".exchange", __package__)
_partition_barriers = LazyModule(".partition_barriers", __package__)
_reduce = LazyModule(".scratch_reduce", __package__)
_tensormaps = LazyModule(".tensormaps", __package__)

_SIZES: Mapping[str, Callable[[Any], int]] = {
    "ttg.convert_layout": lambda op: _exchange.conversion_scratch(op),
    "ttg.warp_specialize": lambda op: _captures.capture_scratch(op) + _partition_barriers.barrier_scratch(op),
    "ttng.tensormap_create": lambda op: _tensormaps.tensormap_scratch(op),
    "tt.reduce": lambda op: _reduce.reduce_scratch(op),
    "tt.scan": lambda op: _reduce.scan_scratch(op),
    "tt.histogram": lambda op: _reduce.histogram_scratch(op),
    "tt.gather": lambda op: _reduce.gather_scratch(op),
    "tt.atomic_rmw": lambda op: _reduce.atomic_scratch(op),
    "tt.atomic_cas": lambda op: _reduce.atomic_scratch(op),
    "tt.atomic_load": lambda op: _reduce.atomic_scratch(op),
    "amdg.buffer_atomic_rmw": lambda op: _reduce.atomic_scratch(op),
    "tt.atomic_poll": lambda op: _reduce.atomic_scratch(op),
    "ttg.local_atomic_scatter_rmw": lambda op: _reduce.atomic_scratch(op),
}


def scratch_bytes(op: Operation) -> int:
    """Bytes of scratch that the lowering of `op` needs; 0 for an operation without an entry in `_SIZES`."""
    size = _SIZES.get(op.name)
    return 0 if size is None else size(op)
