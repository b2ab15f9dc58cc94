"""allocate-shared-memory: give every buffer, and every operation that needs scratch, its place in shared memory.

    %b = ttg.local_alloc %x : …                 =>   ttg.local_alloc %x {allocation.offset = 0 : i32}
    ttg.local_dealloc %b
    %y = ttg.convert_layout %z                  =>   ttg.convert_layout %z {allocation.offset = 0 : i32}, the same bytes
    module                                      =>   module attributes {ttg.shared = 8192 : i32}

`allocation.offset` counts bytes from the function's shared memory; a call has one too, that of the callee's. What is
needed at the same time does not overlap; how that is found, and what is tried to need little, stands in
`analysis/allocation`. Operations that need nothing get no offset. Functions that are called come before their callers;
a recursion has no bound on what it needs, and is refused.

`ttg.shared` is what a launch must provide: the most that a function needs. Barriers between those who use the same
bytes are not put here but by membar, which therefore follows.
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
    """Triton's options are read, and change nothing: what a machine has follows from the module's target."""

    SAME: ClassVar[dict[str, str]] = {
        "compute-capability": "the module names its target",
        "ptx-version": "what it adds needs no other room",
    }


@pass_on("module", statistics={"bytes of shared memory": "bytes that a launch must provide"})
def allocate_shared_memory(module: Operation, options: AllocateOptions = AllocateOptions()) -> bool:
    """Place buffers and scratch in shared memory."""
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
    """What `make(function, sizes)` gives for each function of a module, where `sizes` has those it calls."""
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
                raise UnsupportedOperation(op, "is a recursion: nothing bounds the shared memory it needs")
            if op.callee not in functions:
                raise UnsupportedOperation(op, f"calls @{op.callee}, of which only a declaration is known")
            visit(op.callee)
        active.discard(name)
        out[functions[name]] = made = make(functions[name], sizes)
        sizes[name] = made.size

    for name in functions:
        if name not in sizes:
            visit(name)
    return out
