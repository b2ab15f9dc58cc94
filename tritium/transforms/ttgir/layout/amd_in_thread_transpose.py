"""amd-in-thread-transpose: Load dot operands in blocks of rows, so that LDS can have K contiguous.

    %b = tt.load %p : tensor<64x128x!tt.ptr<f16>, #blocked>       sizePerThread = [1, 8]: eight columns of a row

    %q = ttg.convert_layout %p : … -> tensor<64x128x!tt.ptr<f16>, #blocked1>
    %x = tt.load %q : tensor<64x128x!tt.ptr<f16>, #blocked1>      sizePerThread = [4, 8]: eight columns of four rows
    %b = ttg.convert_layout %x : … -> tensor<64x128xf16, #blocked>

Matrix instructions take `kWidth` adjacent elements along K from a lane. Where the columns of an operand are contiguous
in global memory and its rows are along K, a lane would collect them from as many rows of LDS, 16 bits at a time. With a
block of rows in each thread, the store to LDS transposes: it writes vectors along K of registers of several loads
(`ttg_operands.buffer_for` gives the buffer that order), and one read brings all `kWidth` elements. Loads are as wide as
before, one element where pointers are not aligned; each thread loads from other rows.

Triton 3.9 has the pass after software pipelining, with an operation that says which registers trade places
(`amdg.in_thread_transpose`); here stores find vectors in registers of any order, so that choosing the layout of the
load is all. Done for loads whose only uses are one operand of dots by matrix instructions, and where threads have
several rows.
"""

from __future__ import annotations

from ....dialects import ttg
from ....dialects.constraints import bit_width
from ....dialects.ttg_layouts import AmdMfma, AmdWmma, Blocked, DotOperand
from ....ir import Operation, TensorType, Value, count, functions_of, is_pointer_load, may_change, pass_on
from .coalesce import convert_operation

__all__ = ["amd_in_thread_transpose"]

VECTOR_BITS = 128
"""Bits of the widest access to LDS."""


@pass_on("function", statistics={"operands transposed": "loads of operands in blocks of rows"})
def amd_in_thread_transpose(op: Operation) -> bool:
    """Give loads of operands with K not contiguous a layout of blocks, in a function or all functions of a module."""
    changed = 0
    for func in functions_of(op):
        for load in [op for op in func.walk() if is_pointer_load(op)]:
            layout = _layout_for(load)
            if layout is not None and may_change("amd-in-thread-transpose", load):
                convert_operation(load, layout)
                changed += 1
    count("operands transposed", changed)
    return changed > 0


def _layout_for(load: Operation) -> Blocked | None:
    """The layout of a load with blocks of rows; None where it is unchanged."""
    ty = load.results[0].type
    operand = _operand_of(load.results[0])
    if operand is None or not isinstance(ty, TensorType) or not isinstance(ty.encoding, Blocked) or ty.rank != 2:
        return None
    layout, k = ty.encoding, 1 - operand.opIdx
    if layout.order[0] == k or layout.sizePerThread[k] != 1:
        return None
    rows = ty.shape[k] // (layout.threadsPerWarp[k] * layout.warpsPerCTA[k])
    rows = min(rows, operand.kWidth, VECTOR_BITS // bit_width(ty.element))
    if rows < 2:
        return None
    return layout.with_(sizePerThread=tuple(rows if d == k else n for d, n in enumerate(layout.sizePerThread)))


def _operand_of(value: Value) -> DotOperand | None:
    """The layout of the only operand of matrix instructions that a value is converted to; None where it has other uses.

    A chain of conversions counts as one.
    """
    found: set[DotOperand] = set()
    left = [value]
    while left:
        for user in left.pop().users:
            if not isinstance(user, ttg.ConvertLayout):
                return None
            ty = user.result.type
            layout = ty.encoding if isinstance(ty, TensorType) else None
            if isinstance(layout, DotOperand) and isinstance(layout.parent, (AmdMfma, AmdWmma)):
                found.add(layout)
            else:
                left.append(user.result)
    return found.pop() if len(found) == 1 else None
