"""Assertions and prints by HIP's buffered printf, for which no device library is needed.

The runtime passes a buffer in a hidden argument. A thread reserves a frame in it, by a loop that compares and swaps,
and writes it; when the kernel has ended, the runtime prints all frames. A buffer begins with the bytes in use and the
bytes available (i32 each). A frame is

    i32   8 bytes * 4 | 2 | (1: to stderr)
    i64   the hash by which the code object's metadata has the format: "0:0:<hash>,<format>"
    i64   each operand: integers extended, floats as doubles

Sources: LLVM's user guide for AMDGPU targets ("Code Object V5 Metadata"), and ROCm's `rocprintf.cpp`, which reads the
buffer. Frames that do not fit are dropped. A false assertion writes its message and ends the kernel by `s_trap 2`,
which the runtime reports as an exception of the queue; whether it prints the buffer then is up to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import tt
from ....ir import TensorType
from ....support.hashing import sha256
from ....support.text import encode
from ...llvm.branches import guarded
from ..context import FunctionContext
from ..device_print import lower_print
from ..target_info import ModuleContext
from ..types import llvm_type
from .lowerings import amd_lowers

__all__ = ["printf_metadata"]

PRINTF_BUFFER = 72
"""The offset of the buffer's address in the hidden arguments."""
CONSTANT_FORMAT, STDERR = 2, 1
_METADATA = 16 << 20  # the number of the first metadata node of a format
_RESERVE = "tritium.printf_frame"
_GLOBAL = "ptr addrspace(1)"


def _hash(text: str) -> int:
    return int(sha256(encode(text)).hexdigest()[:16], 16)


def printf_metadata(context: ModuleContext) -> list[str]:
    """The formats of a module, as LLVM writes them to the code object."""
    formats = list(context.texts)
    if not formats:
        return []
    lines = [f"!llvm.printf.fmts = !{{{', '.join(f'!{_METADATA + i}' for i in range(len(formats)))}}}"]
    for i, text in enumerate(formats):
        data = encode(f"0:0:{_hash(text):x},{text}")
        body = "".join(chr(c) if 32 <= c < 127 and c not in (34, 92) else f"\\{c:02X}" for c in data)
        lines.append(f'!{_METADATA + i} = !{{!"{body}"}}')
    return lines


@amd_lowers(tt.Assert)
def _assert(e: FunctionContext, op: tt.Assert) -> None:
    """Print and trap if the condition is false for an element; all threads test before any continues."""
    width, good = llvm_type(op.condition.type), ""
    for part in dict.fromkeys(e(op.condition)):
        one = part if width == "i1" else e.op(f"icmp ne {width} {part}, 0")
        good = one if not good else e.op(f"and i1 {good}, {one}")
    bad, fine = e.fresh_label("fails"), e.fresh_label("holds")
    e.stmt(f"br i1 {good}, label %{fine}, label %{bad}")
    e.label(bad)
    at = op.loc.file_position()
    file, line = (at.file, at.line) if at is not None else ("unknown", 0)
    function = e.func.sym_name if e.func is not None else "unknown"
    first = e.call("i32", "llvm.amdgcn.readfirstlane.i32", ("i32", e.lane))
    with guarded(e, e.op(f"icmp eq i32 {first}, {e.lane}")):
        pid = [("i32", e.target.program_id(e, axis)) for axis in range(3)]
        text = f"{file}:{line}: {function}: ".replace("%", "%%")
        text += f"pid (%u, %u, %u): assertion failed: {op.message.replace('%', '%%')}\n"
        _write_frame(e, text, pid, STDERR)
    e.call_void("llvm.trap", attributes=" #1")
    e.stmt(f"br label %{fine}")
    e.label(fine)
    if isinstance(op.condition.type, TensorType):
        e.barrier()


@amd_lowers(tt.Print)
def _print(e: FunctionContext, op: tt.Print) -> None:
    lower_print(e, op, lambda e, text, operands: _write_frame(e, text, operands, 0))


def _write_frame(e: FunctionContext, text: str, operands: Sequence[tuple[str, str]], stream: int) -> None:
    """Reserve a frame, and write it if the buffer has the space."""
    e.module.texts.setdefault(text, text)
    e.module.define(f"@{_RESERVE}", _RESERVE_TEXT)
    size = 12 + 8 * len(operands)
    hidden = e.call("ptr addrspace(4)", "llvm.amdgcn.implicitarg.ptr")
    place = e.op(f"getelementptr i8, ptr addrspace(4) {hidden}, i64 {PRINTF_BUFFER}")
    buffer = e.op(f"load {_GLOBAL}, ptr addrspace(4) {place}, align 8")
    frame = e.op(f"call {_GLOBAL} @{_RESERVE}({_GLOBAL} {buffer}, i32 {size})")
    with guarded(e, e.op(f"icmp ne {_GLOBAL} {frame}, null")):
        e.stmt(f"store i32 {size << 2 | CONSTANT_FORMAT | stream}, {_GLOBAL} {frame}, align 4")
        for i, word in enumerate([str(_signed(_hash(text))), *(_word(e, *operand) for operand in operands)]):
            at = e.op(f"getelementptr i8, {_GLOBAL} {frame}, i64 {4 + 8 * i}")
            e.stmt(f"store i64 {word}, {_GLOBAL} {at}, align 4")


def _signed(value: int) -> int:
    return value - (value >> 63 << 64)


def _word(e: FunctionContext, ty: str, value: str) -> str:
    """An operand as an i64."""
    if ty == "i64":
        return value
    return e.op(f"{ {'i32': 'zext', 'double': 'bitcast', 'ptr': 'ptrtoint'}[ty] } {ty} {value} to i64")


_RESERVE_TEXT = f"""define internal {_GLOBAL} @{_RESERVE}({_GLOBAL} %buffer, i32 %bytes) #0 {{
entry:
  %limit.at = getelementptr i8, {_GLOBAL} %buffer, i64 4
  %limit = load i32, {_GLOBAL} %limit.at, align 4
  %before = load atomic i32, {_GLOBAL} %buffer syncscope("agent") monotonic, align 4
  br label %try
try:
  %used = phi i32 [ %before, %entry ], [ %found, %swap ]
  %after = add i32 %used, %bytes
  %fits = icmp ule i32 %after, %limit
  br i1 %fits, label %swap, label %full
swap:
  %pair = cmpxchg {_GLOBAL} %buffer, i32 %used, i32 %after syncscope("agent") monotonic monotonic
  %found = extractvalue {{ i32, i1 }} %pair, 0
  %done = extractvalue {{ i32, i1 }} %pair, 1
  br i1 %done, label %reserved, label %try
reserved:
  %offset = zext i32 %used to i64
  %data = getelementptr i8, {_GLOBAL} %buffer, i64 8
  %frame = getelementptr i8, {_GLOBAL} %data, i64 %offset
  ret {_GLOBAL} %frame
full:
  ret {_GLOBAL} null
}}"""
