"""Prints of tensors and scalars (`tl.device_print`): which thread prints which element, and the format of a line.

    pid (0, 0, 0) idx ( 3, 12) x: 1.500000

Every element of a tensor is printed once, in no particular order, with its position; scalars and bare texts by every
thread. (Programs that count lines expect that of Triton.) Targets provide a function that prints a C format.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from ...dialects import tt
from ...dialects.tt_types import PointerType
from ...dialects.ttg_maps import linear_layout_of
from ...ir import FloatType, TensorType, Type, element_type, shape_of
from ...support import UnsupportedOperation
from ..llvm.branches import guarded
from .context import FunctionContext
from .memory import first_holder
from .positions import positions
from .types import bit_width, is_float, llvm_type

__all__ = ["MAX_OPERANDS", "Printf", "lower_print"]

MAX_OPERANDS = 32
"""Of a line: CUDA's vprintf prints what is beyond wrongly."""

Printf: TypeAlias = Callable[[FunctionContext, str, Sequence[tuple[str, str]]], None]
"""Print a C format and its operands, (type, value) of i32, i64, double or ptr."""


def lower_print(e: FunctionContext, op: tt.Print, printf: Printf) -> None:
    """Print the prefix, or a line for each element of each operand."""
    pid = [("i32", e.target.program_id(e, axis)) for axis in range(3)]
    prefix = op.prefix.replace("%", "%%")
    if not op.args:
        printf(e, f"pid (%u, %u, %u){prefix}\n", pid)
    for i, value in enumerate(op.args):
        number = f"(operand {i}) " if len(op.args) > 1 else ""
        signed = bool(op.isSigned[i]) if i < len(op.isSigned) else False
        if bit_width(value.type) == 8 and isinstance(element_type(value.type), FloatType) and not op.hex:
            raise UnsupportedOperation(
                op, f"of {element_type(value.type)} is not supported on {e.target.name}: cast it"
            )
        places, parts = _places(e, value.type), e(value)
        form = _format(value.type, op.hex, signed)
        shape = op.shown()[i]
        for register in _different(value.type):
            indices = places[register] if places else ()
            operands = [*pid, *(("i32", c) for c in indices)]
            text = f"pid (%u, %u, %u) idx ({_index_format(value.type, len(indices))}){prefix}{number}{form}\n"
            shown = _promoted(e, parts[register], value.type, op.hex, signed)
            with guarded(e, _printing_thread(e, value.type, _among(e, value.type, indices, shape))):
                printf(e, text, [*operands[: MAX_OPERANDS - 1], shown])


def _places(e: FunctionContext, ty: Type) -> list[tuple[str, ...]]:
    return positions(e, linear_layout_of(ty)) if isinstance(ty, TensorType) else []


def _different(ty: Type) -> Iterable[int]:
    """The registers that hold no copy of another one."""
    if not isinstance(ty, TensorType):
        return [0]
    layout = linear_layout_of(ty)
    copies = layout.redundant()["register"]
    return [r for r in range(layout.ins["register"]) if not r & copies]


def _index_format(ty: Type, rank: int) -> str:
    """As wide as the largest index of each dimension."""
    shape = ty.shape if isinstance(ty, TensorType) else ()
    return ", ".join(f"%{max(1, math.ceil(math.log10(n))) if n > 1 else ''}u" for n in shape[:rank])


def _format(ty: Type, hexadecimal: bool, signed: bool) -> str:
    element, width = element_type(ty), bit_width(ty)
    if isinstance(element, PointerType):
        return "%p"
    if hexadecimal:
        return f"0x%0{max(1, width // 4)}{'ll' if width > 32 else ''}x"
    if isinstance(element, FloatType):
        return "%f"
    return ("%lli" if signed else "%llu") if width == 64 else ("%i" if signed else "%u")


def _promoted(e: FunctionContext, value: str, ty: Type, hexadecimal: bool, signed: bool) -> tuple[str, str]:
    """An operand of a variadic function: f64, or integers of 32 and 64 bits; with hexadecimal digits, bits."""
    text, width = llvm_type(ty), bit_width(ty)
    if isinstance(element_type(ty), PointerType):
        return "ptr", value if text == "ptr" else e.op(f"addrspacecast {text} {value} to ptr")
    if is_float(ty) and not hexadecimal:
        return "double", value if text == "double" else e.op(f"fpext {text} {value} to double")
    if is_float(ty):
        value, text = e.op(f"bitcast {text} {value} to i{width}"), f"i{width}"
    if width < 32:
        return "i32", e.op(f"{'sext' if signed and not hexadecimal else 'zext'} {text} {value} to i32")
    return text, value


def _among(e: FunctionContext, ty: Type, indices: Sequence[str], shape: Sequence[int]) -> str | None:
    """An i1: is the element at `indices` of a padded tile one of `shape`? None where all are."""
    found: str | None = None
    for index, size, extent in zip(indices, shape, shape_of(ty)):
        if size != extent:
            below = e.op(f"icmp ult i32 {index}, {size}")
            found = below if found is None else e.op(f"and i1 {found}, {below}")
    return found


def _printing_thread(e: FunctionContext, ty: Type, wanted: str | None) -> str | None:
    """An i1: does this thread print the element, if it is `wanted`? One of those that hold it does; None: every one."""
    holder = first_holder(e, ty) if isinstance(ty, TensorType) else None
    if holder is not None and wanted is not None:
        return e.op(f"and i1 {holder}, {wanted}")
    return wanted if holder is None else holder
