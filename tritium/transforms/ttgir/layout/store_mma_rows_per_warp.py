"""store-mma-rows-per-warp: Store the rows of a dot result that each warp owns.

    %c = ttg.convert_layout %d : #mma -> #blocked        %c = ttg.convert_layout %d : #mma -> #linear
    tt.store %p, %c                                =>    tt.store %p', %c

The layout of a store is chosen for coalescing alone, and distributes consecutive rows over the warps. In an MMA layout
a warp owns 16 rows, so the conversion moves all elements to other warps through shared memory and needs CTA barriers,
four of them for a 128 x 256 tile. If each warp stores its own rows (`layout.warp_local_store`), it only synchronizes
with itself: of the 71,600 cycles of a CTA with that tile (K = 4096, H100) the epilogue takes 2,150 instead of 3,160.

Addresses and masks are rematerialized in the layout of the store. The pass applies where they are computed from ranges
and constants, and where each store of a warp fills whole cache lines: not to Ampere's MMA layouts of 2 x 2 warps.

In a loop, the new addresses are live across it. A store stays as it is in a loop whose live registers exceed those of a
thread (`analysis/live_registers`), since each of them is spilled: attention gradients that are stored in the loop
(attorch, 333 live registers of 255) spill 83 registers instead of 62 and take 5 % longer, where a store after the loop
is 4 to 13 % of a kernel's time (vLLM's prefill attention, H200, November 2026).
"""

from __future__ import annotations

from typing import Any

from ....analysis.live_registers import LiveRegisters, live_registers
from ....dialects import tt, ttg
from ....dialects.ttg_context import num_warps
from ....dialects.ttg_layouts import Blocked, Linear, NvidiaMma
from ....dialects.ttg_maps import linear_layout
from ....dialects.ttg_switches import is_on
from ....hardware.nvidia import NvidiaGPU
from ....ir import (
    CONSTANT,
    REPEATS,
    LoopLike,
    Operation,
    Value,
    count,
    functions_of,
    is_pointer_store,
    may_change,
    pass_on,
)
from ....layout.warp_local_store import warp_local_store
from ...dce import dce
from ...layout_flow import is_elementwise, with_layout
from .cost import stays_in_warp
from .rematerialize import Copies, Slice

__all__ = ["store_mma_rows_per_warp"]


@pass_on("module", statistics={"stores": "stores without exchange between warps"})
def store_mma_rows_per_warp(module: Operation) -> bool:
    """Store dot results from the warps that own them, where that fills cache lines."""
    if not is_on(module, "store-mma-rows-per-warp"):
        return False
    changed = 0
    for func in functions_of(module):
        copies, pressure = Copies(), _Pressure(func)
        for op in [op for op in func.walk() if is_pointer_store(op)]:
            layout = _layout_for(op)
            if layout is None or pressure.exceeds_registers_around(op):
                continue
            if may_change("store-mma-rows-per-warp", op):
                changed += _store_in(op, layout, copies)
    if changed:
        dce(module)  # address computations in the old layout
    count("stores", changed)
    return changed > 0


class _Pressure:
    """The live registers of a function, as they were before its stores changed."""

    def __init__(self, func: Operation) -> None:
        self._func = func
        self._live: LiveRegisters | None = None
        self._known: dict[Operation, bool] = {}

    def exceeds_registers_around(self, op: Operation) -> bool:
        """Whether more registers are live in the outermost loop around an operation than a thread has."""
        loop, around = None, op.parent_op
        while around is not None:
            loop, around = around if isinstance(around, LoopLike) else loop, around.parent_op
        if loop is None:
            return False
        if loop not in self._known:
            self._live = self._live or live_registers(self._func)
            peak = max((self._live.registers(inner) for inner in loop.walk()), default=0)
            self._known[loop] = peak > NvidiaGPU.register_limit(num_warps(loop) or 1)
        return self._known[loop]


def _layout_for(store: Any) -> Linear | None:
    """The layout in which warps store their own rows; None where it is unchanged or not useful."""
    conversion = store.stored.defining_op
    if conversion.__class__ is not ttg.ConvertLayout:
        return None
    held, wanted = conversion.src.type, store.stored.type
    if not isinstance(held.encoding, NvidiaMma) or not isinstance(wanted.encoding, Blocked):
        return None
    if stays_in_warp(held.shape, held.encoding, wanted.encoding):
        return None
    had, has = (linear_layout(layout, held.shape).bases for layout in (held.encoding, wanted.encoding))
    order = wanted.encoding.order
    vector = [basis for i, basis in enumerate(has["register"]) if basis[order[0]] == 1 << i]
    size = max(8, wanted.element.width) // 8
    found = warp_local_store((had["register"], had["lane"]), vector, len(has["lane"]), order, size)
    if found is None or had["block"] != has["block"] or any(not any(basis) for basis in had["warp"]):
        return None
    registers, lanes = found
    return Linear(register=registers, lane=lanes, warp=had["warp"], block=had["block"])


def _store_in(store: Any, layout: Linear, copies: Copies) -> bool:
    """Change the layout of a store, if its operands can be recomputed in it."""
    needed = [v for v in (store.pointer, store.access_mask) if v is not None]
    part = Slice(copies)
    if not all(part.grow(v, layout, store) for v in needed) or not all(_is_cheap(v) for v, _ in part.nodes):
        return False
    conversion: Any = store.stored.defining_op
    value = ttg.ConvertLayout(conversion.src, result=with_layout(conversion.src.type, layout), loc=conversion.loc)
    value.result.hint = conversion.result.hint
    store.parent.insert_before(value, store)
    made: dict[Value, Value] = {v: copies.build(part, (v, layout)) for v in needed}
    for i, v in enumerate(list(store.operands)):
        if v is store.stored:
            store.set_operand(i, value.result)
        elif v in made:
            store.set_operand(i, made[v])
    return True


def _is_cheap(value: Value) -> bool:
    """Whether a tensor is a range, a constant, or elementwise arithmetic."""
    op = value.defining_op
    return op is not None and (
        bool(op.traits & (CONSTANT | REPEATS)) or op.__class__ is tt.MakeRange or is_elementwise(op)
    )
