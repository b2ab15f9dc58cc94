"""allocate-global-scratch: Assign offsets in global scratch memory.

    %p = ttg.global_scratch_alloc {nbytes = 64, …}  =>  … {ttg.global_scratch_memory_offset = 0 : i32, …}
    module                                          =>  module attributes {ttg.global_scratch_memory_size = 64 : i32, …}

The launcher provides `ttg.global_scratch_memory_size` bytes for each program of the grid, aligned to
`ttg.global_scratch_memory_alignment`. Offsets are relative to the program's part. A call has an offset as well, at
which the scratch of its callee starts. Allocations never share memory.
"""

from __future__ import annotations

from typing import Any

from ....dialects import tt, ttg
from ....ir import IntegerAttr, Operation, count, i32, pass_on
from ....support.dataclasses import dataclass, field
from .allocate_shared_memory import callees_first

__all__ = ["OFFSET", "SIZE", "allocate_global_scratch"]

OFFSET, SIZE = "ttg.global_scratch_memory_offset", "ttg.global_scratch_memory_size"
ALIGNMENT = "ttg.global_scratch_memory_alignment"


@dataclass
class _Offsets:
    """Offsets of the operations of a function; the total size is a multiple of the alignment."""

    size: int = 0
    alignment: int = 1
    offsets: dict[Operation, int] = field(default_factory=dict)

    def add(self, op: Operation, size: int, alignment: int) -> None:
        at = -(-self.size // alignment) * alignment
        self.offsets[op] = at
        self.size, self.alignment = at + size, max(self.alignment, alignment)

    def close(self) -> None:
        self.size = -(-self.size // self.alignment) * self.alignment


@pass_on("module", statistics={"bytes of global scratch": "bytes of global scratch per program"})
def allocate_global_scratch(module: Operation) -> bool:
    """Assign an offset to each `ttg.global_scratch_alloc`."""
    if not any(isinstance(op, ttg.GlobalScratchAlloc) for op in module.walk()):
        return False
    made: dict[str, _Offsets] = {}

    def place(function: Any, sizes: dict[str, int]) -> Any:
        places = made[function.sym_name] = _Offsets()
        for op in function.walk():
            if isinstance(op, ttg.GlobalScratchAlloc):
                places.add(op, op.nbytes, op.alignment)
            elif isinstance(op, tt.Call) and sizes[op.callee]:
                places.add(op, sizes[op.callee], made[op.callee].alignment)
        places.close()
        return places

    callees_first(module, place)
    most = max(made.values(), key=lambda places: places.size)
    for places in made.values():
        for op, offset in places.offsets.items():
            op.attributes[OFFSET] = IntegerAttr(offset, i32)
    count("bytes of global scratch", most.size)
    module.attributes[SIZE] = IntegerAttr(most.size, i32)
    module.attributes[ALIGNMENT] = IntegerAttr(max(places.alignment for places in made.values()), i32)
    return True
