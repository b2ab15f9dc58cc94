"""The calling convention between compiled CPU kernels and the code that launches them.

A kernel is one function,

    void kernel(ptr %args, ptr %ctx, i64 %begin, i64 %end)

which runs the programs whose linear ids are `begin <= id < end`. A linear id is
`x + grid_x * (y + grid_y * z)`, so a kernel recovers (x, y, z) by two divisions at `begin` and
then counts.

- `args` is a packed array of 8-byte slots, one for each runtime argument: pointers as addresses,
  integers sign- or zero-extended to 64 bits, f32 as its bits in the low half, f64 as its bits.
- `ctx` points to a `Context`: constant during the launch, shared by all threads.
- `Context.error_record` points to an `ErrorRecord`, never null. The first error wins. Its `state`
  is also the stop flag: a kernel that can fail looks at it before each program and returns when it
  is not zero; the thread pool looks at it between chunks.
- `Context.bounds_table` is null, or points to one `Bounds` for each slot of `args` (the sanitizer). Behind them stand
  the `Bounds` of memory that is only read, up to one whose `upper` is 0 (where stores are guarded).
- `Context.code_begin` and `code_end` are the address range of the kernel's code, null where it is not known.
- `Context.print_callback` is null, or a C function
  `void (ptr user, i32 site, i32 x, i32 y, i32 z, ptr values, i64 bytes)`.

Everything is little-endian and naturally aligned; pointers are 64 bits wide.

>>> CONTEXT["error_record"].offset, CONTEXT["error_record"].llvm_type
(16, 'ptr')
"""

from __future__ import annotations

import struct
from enum import IntEnum

from ...support.dataclasses import dataclass

__all__ = [
    "ARGUMENT_SLOT_BYTES",
    "BOUNDS",
    "BOUNDS_BYTES",
    "CONTEXT",
    "CONTEXT_BYTES",
    "ERROR_RECORD",
    "ERROR_RECORD_BYTES",
    "ErrorKind",
    "ErrorRecord",
    "Field",
    "KERNEL_SIGNATURE",
    "PRINT_CALLBACK_SIGNATURE",
    "READ_ONLY_ROW",
    "RECORD_ERROR",
    "pack_arguments",
]

ARGUMENT_SLOT_BYTES = 8
KERNEL_SIGNATURE = "void (ptr, ptr, i64, i64)"
PRINT_CALLBACK_SIGNATURE = "void (ptr, i32, i32, i32, i32, ptr, i64)"


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a native structure: byte offset and LLVM type."""

    offset: int
    llvm_type: str


def _lay_out(*members: tuple[str, str]) -> tuple[dict[str, Field], int]:
    sizes = {"i32": 4, "i64": 8, "ptr": 8}
    fields: dict[str, Field] = {}
    offset = 0
    for name, llvm_type in members:
        size = sizes[llvm_type]
        offset = -(-offset // size) * size
        fields[name] = Field(offset, llvm_type)
        offset += size
    return fields, -(-offset // 8) * 8


CONTEXT, CONTEXT_BYTES = _lay_out(
    ("grid_x", "i32"),
    ("grid_y", "i32"),
    ("grid_z", "i32"),
    ("reserved", "i32"),
    ("error_record", "ptr"),
    ("print_callback", "ptr"),
    ("bounds_table", "ptr"),
    ("user", "ptr"),
    ("code_begin", "ptr"),
    ("code_end", "ptr"),
)

ERROR_RECORD, ERROR_RECORD_BYTES = _lay_out(
    ("state", "i32"),
    ("kind", "i32"),
    ("site", "i32"),
    ("program_x", "i32"),
    ("program_y", "i32"),
    ("program_z", "i32"),
    ("address", "i64"),
    ("index", "i64"),
    ("lower", "i64"),
    ("upper", "i64"),
)

BOUNDS, BOUNDS_BYTES = _lay_out(("lower", "i64"), ("upper", "i64"))


class ErrorKind(IntEnum):
    """What stopped a kernel."""

    ASSERT = 1
    LOAD_OUT_OF_BOUNDS = 2
    STORE_OUT_OF_BOUNDS = 3
    ATOMIC_OUT_OF_BOUNDS = 4
    STORE_TO_READ_ONLY = 5


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """The first error of a launch. `site` names the kernel's source position in the compiler's
    own numbering; `address` is the offending byte address and `index` the element's index in the
    tile; `lower <= address < upper` is what was allowed (all zero for an assertion).
    `STORE_TO_READ_ONLY` has in `lower` where the row stands that forbids it, in bytes behind the first such row."""

    kind: int
    site: int
    program: tuple[int, int, int]
    address: int
    index: int
    lower: int
    upper: int

    @classmethod
    def from_bytes(cls, data: bytes) -> ErrorRecord:
        """Decode the `ERROR_RECORD_BYTES` bytes that a launch returned; ValueError if shorter."""
        if len(data) < ERROR_RECORD_BYTES:
            raise ValueError(f"an error record has {ERROR_RECORD_BYTES} bytes, got {len(data)}")
        _, kind, site, x, y, z, address, index, lower, upper = struct.unpack_from("<6iQqQQ", data)
        return cls(kind, site, (x, y, z), address, index, lower, upper)


def pack_arguments(*values: int | float | tuple[str, float]) -> bytearray:
    """Argument slots for `values`: an int as 64 bits, a float as f32 bits, ("f64", x) as f64 bits.

    For tests and tools; the runtime uses one specialized to a kernel's signature.
    """
    slots = bytearray()
    for value in values:
        if isinstance(value, tuple):
            slots += struct.pack("<d", value[1])
        elif isinstance(value, float):
            slots += struct.pack("<fxxxx", value)
        else:
            slots += (int(value) & 0xFFFF_FFFF_FFFF_FFFF).to_bytes(8, "little")
    return slots or bytearray(ARGUMENT_SLOT_BYTES)


def _record_error_text() -> str:
    head = (
        "define internal void @tt.record_error(ptr %ctx, i32 %kind, i32 %site, i32 %program_x, i32 %program_y,"
        " i32 %program_z, i64 %address, i64 %index, i64 %lower, i64 %upper) cold noinline nounwind {"
    )
    lines = [
        head,
        f"  %field = getelementptr i8, ptr %ctx, i64 {CONTEXT['error_record'].offset}",
        "  %record = load ptr, ptr %field",
        "  %claim = cmpxchg ptr %record, i32 0, i32 1 acq_rel monotonic",
        "  %won = extractvalue { i32, i1 } %claim, 1",
        "  br i1 %won, label %write, label %done",
        "write:",
    ]
    for name, field in ERROR_RECORD.items():
        if name != "state":
            lines.append(f"  %p_{name} = getelementptr i8, ptr %record, i64 {field.offset}")
            lines.append(f"  store {field.llvm_type} %{name}, ptr %p_{name}")
    lines += ["  br label %done", "done:", "  ret void", "}"]
    return "\n".join(lines)


RECORD_ERROR = _record_error_text()
"""LLVM text of `@tt.record_error`: records an error if it is the first, and sets the stop flag."""

READ_ONLY_ROW = f"""\
define internal ptr @tt.read_only_row(ptr %rows, i64 %address, i64 %end) noinline nounwind memory(read) {{
  br label %head
head:
  %row = phi ptr [ %rows, %0 ], [ %next, %step ]
  %upper_at = getelementptr i8, ptr %row, i64 {BOUNDS["upper"].offset}
  %upper = load i64, ptr %upper_at
  %last = icmp eq i64 %upper, 0
  br i1 %last, label %none, label %look
look:
  %lower = load i64, ptr %row
  %low = icmp ult i64 %address, %upper
  %high = icmp ugt i64 %end, %lower
  %in = and i1 %low, %high
  br i1 %in, label %found, label %step
step:
  %next = getelementptr i8, ptr %row, i64 {BOUNDS_BYTES}
  br label %head
found:
  ret ptr %row
none:
  ret ptr null
}}"""
"""LLVM text of `@tt.read_only_row`: the first of the `Bounds` from `%rows` on that have some of the bytes, or null."""
