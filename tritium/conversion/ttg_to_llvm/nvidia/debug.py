"""Assertions and prints: by the functions `__assertfail` and `vprintf` that CUDA's driver provides.

    pid (0, 0, 0) idx ( 3, 12) x: 1.500000

Every element of a tensor is printed once, in no particular order, with its position; scalars and bare texts by every
thread. (Programs that count lines expect that of Triton.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ....dialects import tt
from ....dialects.tt_types import PointerType
from ....dialects.ttg_maps import linear_layout_of
from ....ir import FloatType, TensorType, Type, element_type, shape_of
from ....support import UnsupportedOperation
from ....support.text import encode
from ...llvm.branches import guarded
from ..context import FunctionContext, lowers
from ..memory import first_holder
from ..positions import positions
from ..types import bit_width, is_float, llvm_type

__all__ = ["text_constant"]

MOST_OPERANDS = 32  # of vprintf: what is beyond is printed wrongly
BUFFER = "%printed"


def text_constant(e: FunctionContext, text: str) -> str:
    """The address (`ptr`) of a text in constant memory, zero-terminated; equal texts are there once."""
    data = encode(text) + b"\0"
    symbol = e.module.texts.get(text)
    if symbol is None:
        symbol = e.module.texts[text] = f"@text{len(e.module.texts)}"
        body = "".join(chr(c) if 32 <= c < 127 and c not in (34, 92) else f"\\{c:02X}" for c in data)
        line = f'{symbol} = private unnamed_addr addrspace(1) constant [{len(data)} x i8] c"{body}", align 1'
        e.module.define(symbol, line)
    return f"addrspacecast (ptr addrspace(1) {symbol} to ptr)"


@lowers(tt.Assert)
def _assert(e: FunctionContext, op: tt.Assert) -> None:
    """Trap if the condition is false for an element; all threads test before any continues."""
    parts = list(dict.fromkeys(e(op.condition)))
    width = llvm_type(op.condition.type)
    good = ""
    for part in parts:
        one = part if width == "i1" else e.op(f"icmp ne {width} {part}, 0")
        good = one if not good else e.op(f"and i1 {good}, {one}")
    at = op.loc.file_position()
    file, line = (at.file, at.line) if at is not None else ("unknown", 0)
    bad, fine = e.fresh_label("fails"), e.fresh_label("holds")
    e.stmt(f"br i1 {good}, label %{fine}, label %{bad}")
    e.label(bad)
    function = e.func.sym_name if e.func is not None else "unknown"
    texts = [("ptr", text_constant(e, text)) for text in (op.message, file, function)]
    e.call_void("__assertfail", *texts[:2], ("i32", str(line)), texts[2], ("i64", "1"), attributes=" #1")
    e.stmt(f"br label %{fine}")
    e.label(fine)
    if isinstance(op.condition.type, TensorType):
        e.barrier()


# -- prints -------------------------------------------------------------------------------------------------------


@lowers(tt.Print)
def _print(e: FunctionContext, op: tt.Print) -> None:
    pid = [("i32", e.target.program_id(e, axis)) for axis in range(3)]
    prefix = op.prefix.replace("%", "%%")
    if not op.args:
        _vprintf(e, f"pid (%u, %u, %u){prefix}\n", pid)
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
            _print_once(
                e, value.type, text, [*operands[: MOST_OPERANDS - 1], shown], _among(e, value.type, indices, shape)
            )


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


def _print_once(
    e: FunctionContext, ty: Type, text: str, operands: Sequence[tuple[str, str]], wanted: str | None
) -> None:
    """Print in one of the threads that hold the element, if it is wanted; a scalar in every thread."""
    holder = first_holder(e, ty) if isinstance(ty, TensorType) else None
    if holder is not None and wanted is not None:
        holder = e.op(f"and i1 {holder}, {wanted}")
    with guarded(e, holder if wanted is None or holder is not None else wanted):
        _vprintf(e, text, operands)


def _vprintf(e: FunctionContext, text: str, operands: Sequence[tuple[str, str]]) -> None:
    """The operands are stored consecutively in a buffer, each at a multiple of its size."""
    buffer = f"{BUFFER} = alloca [{8 * MOST_OPERANDS} x i8], align 8"
    if buffer not in e.entry_lines:
        e.entry_lines.append(buffer)
    at = 0
    for ty, value in operands:
        size = 4 if ty == "i32" else 8
        at = -(-at // size) * size
        place = e.op(f"getelementptr i8, ptr {BUFFER}, i64 {at}") if at else BUFFER
        e.stmt(f"store {ty} {value}, ptr {place}, align {size}")
        at += size
    e.call("i32", "vprintf", ("ptr", text_constant(e, text)), ("ptr", BUFFER), attributes=" #0")
