"""allocate-shared-memory: Allocate shared memory for buffers, and scratch for the operations that need it.

    %b = ttg.local_alloc %x : …                 =>   ttg.local_alloc %x {allocation.offset = 0 : i32}
    ttg.local_dealloc %b
    %y = ttg.convert_layout %z                  =>   ttg.convert_layout %z {allocation.offset = 0 : i32}, the same bytes
    module                                      =>   module attributes {ttg.shared = 8192 : i32}

`allocation.offset` is in bytes, relative to the shared memory of the function; the offset of a call is that of its
callee's memory. Allocations with overlapping live ranges do not overlap. `analysis/allocation` computes live ranges and
packs the allocations. Operations without scratch get no offset. Callees are processed before their callers; recursion
has no bound on its memory, and is refused.

`ttg.shared` is the size that a launch must provide: the maximum over all functions. Barriers between operations that
use the same bytes are inserted later, by `insert-barriers`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ....analysis.allocation import OFFSET, Allocation, allocate
from ....dialects import tt
from ....ir import IntegerAttr, Operation, count, functions_of, i32, pass_on
from ....support import UnsupportedOperation
from ....support.dataclasses import dataclass

__all__ = ["SHARED", "AllocateOptions", "allocate_shared_memory", "callees_first"]

SHARED = "ttg.shared"


@dataclass(frozen=True)
class AllocateOptions:
    """Triton's options, accepted without effect: the module's target determines the machine."""

    SAME: ClassVar[dict[str, str]] = {
        "compute-capability": "ignored: the module states its target",
        "ptx-version": "ignored: it affects no allocation",
    }


@pass_on("module", statistics={"bytes of shared memory": "dynamic shared memory per CTA, in bytes"})
def allocate_shared_memory(module: Operation, options: AllocateOptions = AllocateOptions()) -> bool:
    """Allocate shared memory for buffers and scratch."""
    most = 0
    for allocation in callees_first(module, allocate).values():
        most = max(most, allocation.size)
        for op, buffer in allocation.buffers.items():
            op.attributes[OFFSET] = IntegerAttr(buffer.offset, i32)
    count("bytes of shared memory", most)
    module.attributes[SHARED] = IntegerAttr(most, i32)
    return True


def callees_first(
    module: Operation, make: Callable[[Operation, dict[str, int]], Allocation]
) -> dict[Operation, Allocation]:
    """Call `make(function, sizes)` for each function of a module, callees first; `sizes` has the results of its
    callees."""
    functions: dict[str, Any] = {f.attributes["sym_name"].value: f for f in functions_of(module)}  # type: ignore[attr-defined]
    sizes: dict[str, int] = {}
    out: dict[Operation, Allocation] = {}
    active: set[str] = set()

    def visit(name: str) -> None:
        active.add(name)
        for op in functions[name].walk():
            if not isinstance(op, tt.Call) or op.callee in sizes:
                continue
            if op.callee in active:
                raise UnsupportedOperation(op, "is recursive: the shared memory it needs is unbounded")
            if op.callee not in functions:
                raise UnsupportedOperation(op, f"calls @{op.callee}, which is only declared")
            visit(op.callee)
        active.discard(name)
        out[functions[name]] = made = make(functions[name], sizes)
        sizes[name] = made.size

    for name in functions:
        if name not in sizes:
            visit(name)
    return out
