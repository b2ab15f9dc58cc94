"""Of the gpu dialect, what stands in tile programs."""

from __future__ import annotations

from ..ir import READ, WRITE, AnyAttr, Op

__all__ = ["Barrier"]


class Barrier(Op, name="gpu.barrier", traits=READ | WRITE, assembly="(`memfence` $address_spaces^)? attr-dict"):
    """Wait until all threads of the block are here; `address_spaces` are the memories that this puts in order."""

    address_spaces: AnyAttr = None
