"""The operations of the nvvm dialect that occur in tile programs: single instructions of NVIDIA GPUs."""

from __future__ import annotations

from ..ir import READ, WRITE, Op, OptionalOperand

__all__ = ["Barrier"]


class Barrier(
    Op,
    name="nvvm.barrier",
    traits=READ | WRITE,
    assembly="(`id` `=` $barrierId^)? (`number_of_threads` `=` $numberOfThreads^)? attr-dict",
):
    """Wait until all threads of the block are here, or `numberOfThreads` of them, at the barrier `barrierId`."""

    barrierId: OptionalOperand
    numberOfThreads: OptionalOperand
