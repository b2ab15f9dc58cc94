"""amd-optimize-epilogue: Store dot results in the layout of the matrix instruction.

    %1 = ttg.convert_layout %0 : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #blocked>
    %2 = arith.truncf %1 : … -> tensor<128x128xf16, #blocked>
    tt.store %p, %2 : tensor<128x128x!tt.ptr<f16>, #blocked>

    %2 = arith.truncf %0 : … -> tensor<128x128xf16, #mma>
    %q = ttg.convert_layout %p : … -> tensor<128x128x!tt.ptr<f16>, #mma>
    tt.store %q, %2 : tensor<128x128x!tt.ptr<f16>, #mma>

The conversion goes through LDS, with a barrier on each side and as much LDS as the whole result needs. In the layouts
of MFMA and WMMA that `amd-accelerate-matmul` chooses, a lane has adjacent columns of a row, which the store writes as
one vector, and the lanes of a row write whole cache lines in several instructions. The conversion of the addresses
does not stay: `remove-layout-conversions` computes them in that layout.

Between conversion and store there may be elementwise operations with one operand. Nothing is done where the values
have other uses, which would keep the conversion.
"""

from __future__ import annotations

from typing import Any

from ....dialects import ttg
from ....dialects.ttg_layouts import AmdMfma, AmdWmma, Blocked
from ....ir import (
    ELEMENTWISE,
    WRITE,
    Attribute,
    Operation,
    PointerAccess,
    TensorType,
    Value,
    count,
    functions_of,
    is_pure,
    memory_effects,
    pass_on,
)

__all__ = ["amd_optimize_epilogue"]


@pass_on("function", statistics={"stores in MMA layouts": "stores of dot results without a conversion"})
def amd_optimize_epilogue(op: Operation) -> bool:
    """Remove the conversion between a dot and the store of its result, in a function or all functions of a module."""
    changed = 0
    for func in functions_of(op):
        for store in [op for op in func.walk() if isinstance(op, PointerAccess) and memory_effects(op) == WRITE]:
            found = _conversion_before(store)
            if found is not None:
                _bypass(store, *found)
                changed += 1
    count("stores in MMA layouts", changed)
    return changed > 0


def _encoding(value: Value) -> Attribute | None:
    return value.type.encoding if isinstance(value.type, TensorType) else None


def _conversion_before(store: PointerAccess) -> tuple[ttg.ConvertLayout, list[Operation]] | None:
    """The conversion from the layout of a matrix instruction that is stored; and the operations between, last first.

    None where there is none, or where a value between has other uses.
    """
    value: Value = store.stored
    between: list[Operation] = []
    if not isinstance(_encoding(value), Blocked):
        return None
    while value.has_one_use and (op := value.defining_op) is not None:
        if isinstance(op, ttg.ConvertLayout):
            return (op, between) if isinstance(_encoding(op.src), (AmdMfma, AmdWmma)) else None
        if len(op.operands) != 1 or len(op.results) != 1 or not op.traits & ELEMENTWISE or not is_pure(op):
            return None
        between.append(op)
        value = op.operands[0]
    return None


def _bypass(store: PointerAccess, conversion: ttg.ConvertLayout, between: list[Operation]) -> None:
    """Give the store, its address and mask, and the operations between the layout of the dot."""
    layout = _encoding(conversion.src)
    value = conversion.src
    for op in reversed(between):
        op.set_operands([value])
        value = op.results[0]
        ty: Any = value.type
        value.type = TensorType(ty.shape, ty.element, layout)
    store.set_operands([value if v is store.stored else _converted(store, v, layout) for v in store.operands])
    if not conversion.result.uses:
        conversion.erase()


def _converted(store: PointerAccess, value: Value, layout: Attribute | None) -> Value:
    ty: Any = value.type
    op = ttg.ConvertLayout(value, result=TensorType(ty.shape, ty.element, layout), loc=store.loc)
    assert store.parent is not None
    store.parent.insert_before(op, store)
    return op.result
