"""Assertions and prints: by the functions `__assertfail` and `vprintf` that CUDA's driver provides."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import tt
from ....ir import TensorType
from ....support.text import encode
from ..context import FunctionContext, lowers
from ..device_print import MAX_OPERANDS, lower_print
from ..types import llvm_type

__all__ = ["text_constant"]

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


@lowers(tt.Print)
def _print(e: FunctionContext, op: tt.Print) -> None:
    lower_print(e, op, _vprintf)


def _vprintf(e: FunctionContext, text: str, operands: Sequence[tuple[str, str]]) -> None:
    """The operands are stored consecutively in a buffer, each at a multiple of its size."""
    buffer = f"{BUFFER} = alloca [{8 * MAX_OPERANDS} x i8], align 8"
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
