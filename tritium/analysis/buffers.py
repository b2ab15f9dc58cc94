"""Which buffers in shared memory a value may stand for.

A buffer is made by `ttg.local_alloc`. Views of it (`ttg.memdesc_index` and the like), selections, results and arguments
of regions and blocks, and the tokens of copies into it stand for it too: whoever holds one may read or write it, or
wait for a copy that still writes. A value may stand for several:

    %r = scf.for … iter_args(%b = %first) -> … {       // %b: the buffers of %first and %next
      scf.yield %next
    }

This is a points-to analysis (sparse, forward: `dataflow`). Of an operation that is no branch, each result of such a
type may be each operand of such a type.
"""

from __future__ import annotations

from ..dialects import ttg
from ..dialects.ttg_memory import AsyncTokenType, MemDescType, SharedMemorySpace
from ..ir import Operation, Value
from .dataflow import SparseForward

__all__ = ["buffers_of", "is_buffer", "is_shared_alloc"]

_SHARED = SharedMemorySpace()


def is_buffer(value: Value) -> bool:
    """A buffer in shared memory, or a token of a copy."""
    ty = value.type
    return isinstance(ty, AsyncTokenType) or (isinstance(ty, MemDescType) and ty.memorySpace is _SHARED)


def is_shared_alloc(op: Operation) -> bool:
    """Whether `op` makes a buffer in shared memory."""
    return isinstance(op, ttg.LocalAlloc) and is_buffer(op.result)


def buffers_of(func: Operation) -> dict[Value, list[Operation]]:
    """For each value of a function that stands for buffers the operations that allocate them, in program order."""
    found = _PointsTo()
    found.solve(func)
    order = {op: i for i, op in enumerate(func.walk())}
    return {value: sorted(ops, key=order.__getitem__) for value, ops in found.states.items()}


class _PointsTo(SparseForward[frozenset[Operation]]):
    """The allocations that each value may stand for."""

    def merge(self, first: frozenset[Operation], second: frozenset[Operation]) -> frozenset[Operation]:
        """Those of both."""
        return first | second

    def transfer(self, op: Operation) -> None:
        """An allocation stands for itself; any other result may be any operand."""
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
