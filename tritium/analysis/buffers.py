"""Points-to analysis of buffers in shared memory.

`ttg.local_alloc` allocates a buffer. Views (`ttg.memdesc_index` and the like), selections, results and arguments of
regions and blocks, and tokens of asynchronous copies into it refer to it. A value may refer to several:

    %r = scf.for … iter_args(%b = %first) -> … {       // %b: the buffers of %first and %next
      scf.yield %next
    }

A sparse forward analysis (`dataflow`). A result of an operation that is no branch may refer to whatever its operands
refer to.
"""

from __future__ import annotations

from ..dialects import ttg
from ..dialects.ttg_memory import AsyncTokenType, MemDescType, SharedMemorySpace
from ..ir import Operation, Value
from .dataflow import SparseForward

__all__ = ["buffers_of", "is_buffer", "is_shared_alloc"]

_SHARED = SharedMemorySpace()


def is_buffer(value: Value) -> bool:
    """Whether a value is a buffer in shared memory or a token of an asynchronous copy."""
    ty = value.type
    return isinstance(ty, AsyncTokenType) or (isinstance(ty, MemDescType) and ty.memorySpace is _SHARED)


def is_shared_alloc(op: Operation) -> bool:
    """Whether `op` allocates a buffer in shared memory."""
    return isinstance(op, ttg.LocalAlloc) and is_buffer(op.result)


def buffers_of(func: Operation) -> dict[Value, list[Operation]]:
    """For each value of a function that may refer to buffers, their allocations in program order."""
    found = _PointsTo()
    found.solve(func)
    order = {op: i for i, op in enumerate(func.walk())}
    return {value: sorted(ops, key=order.__getitem__) for value, ops in found.states.items()}


class _PointsTo(SparseForward[frozenset[Operation]]):
    """The allocations that each value may refer to."""

    def merge(self, first: frozenset[Operation], second: frozenset[Operation]) -> frozenset[Operation]:
        """The union."""
        return first | second

    def transfer(self, op: Operation) -> None:
        """An allocation refers to itself, any other result to what the operands refer to."""
        if is_shared_alloc(op):
            self.set_result(op.results[0], frozenset((op,)))
            return
        results = [r for r in op.results if is_buffer(r)]
        if results:
            known = [s for v in op.operands if (s := self.states.get(v)) is not None]
            if known:
                state = known[0].union(*known[1:]) if len(known) > 1 else known[0]
                for result in results:
                    self.set_result(result, state)
