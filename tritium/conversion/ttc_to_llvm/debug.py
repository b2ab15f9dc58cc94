"""Assertions, bounds checks and prints: the parts of a kernel that talk to the launcher."""

from __future__ import annotations

from typing import Any

from ...dialects import ttc
from ...dialects.tt_types import PointerType
from ...ir import Type, Value, element_type
from ..llvm.abi import BOUNDS, BOUNDS_BYTES, CONTEXT, ErrorKind
from ..llvm.branches import guarded
from .context import FunctionContext, lowers
from .types import byte_width, lanes_of, llvm_type

__all__: list[str] = []

_ACCESS = {
    "load": ErrorKind.LOAD_OUT_OF_BOUNDS,
    "store": ErrorKind.STORE_OUT_OF_BOUNDS,
    "atomic": ErrorKind.ATOMIC_OUT_OF_BOUNDS,
}
_PROGRAM = "i32 %px, i32 %py, i32 %pz"


def _stop_unless(e: FunctionContext, good: str, record: str) -> None:
    """Go on if the i1 `good` holds; otherwise record the error and leave the kernel."""
    e.can_stop = True
    bad, fine = e.fresh_label("error"), e.fresh_label("fine")
    e.stmt(f"br i1 {good}, label %{fine}, label %{bad}")
    e.label(bad)
    e.stmt(record)
    e.stmt("br label %exit")
    e.label(fine)


@lowers(ttc.Assert)
def _assert(e: FunctionContext, op: ttc.Assert) -> None:
    site = e.module.site("assert", op.loc, message=op.message)
    record = f"call void @tt.record_error(ptr %ctx, i32 {int(ErrorKind.ASSERT)}, i32 {site}, {_PROGRAM}, "
    _stop_unless(e, e(op.condition), record + "i64 0, i64 0, i64 0, i64 0)")


@lowers(ttc.CheckBounds)
def _check_bounds(e: FunctionContext, op: ttc.CheckBounds) -> None:
    """Lane by lane: this is a debugging mode, and the first bad lane is what the user wants to know."""
    site = e.module.site(op.access, op.loc, argument=op.argument)
    row = _row(e, op.argument)
    lower = e.op(f"load i64, ptr {row}")
    upper_at = e.op(f"getelementptr i8, ptr {row}, i64 {BOUNDS['upper'].offset}")
    upper = e.op(f"load i64, ptr {upper_at}")
    lanes = lanes_of(op.ptrs.type)
    size = byte_width(_pointee(op.ptrs))
    for lane in range(lanes):
        address = e.op(f"ptrtoint ptr {_lane(e, op.ptrs, lane)} to i64")
        end = e.op(f"add i64 {address}, {size}")
        above = e.op(f"icmp uge i64 {address}, {lower}")
        below = e.op(f"icmp ule i64 {end}, {upper}")
        good = e.op(f"and i1 {above}, {below}")
        if op.mask is not None:
            off = e.op(f"xor i1 {_lane(e, op.mask, lane)}, true")
            good = e.op(f"or i1 {good}, {off}")
        index = e.op(f"add i64 {e(op.index)}, {lane}")
        record = f"call void @tt.record_error(ptr %ctx, i32 {int(_ACCESS[op.access])}, i32 {site}, {_PROGRAM}, "
        _stop_unless(e, good, f"{record}i64 {address}, i64 {index}, i64 {lower}, i64 {upper})")


@lowers(ttc.CheckWritable)
def _check_writable(e: FunctionContext, op: ttc.CheckWritable) -> None:
    """Lane by lane, as bounds are checked."""
    site = e.module.site("store", op.loc)
    rows = _row(e, op.first)
    first = e.op(f"ptrtoint ptr {rows} to i64")
    size = byte_width(_pointee(op.ptrs))
    kind = int(ErrorKind.STORE_TO_READ_ONLY)
    for lane in range(lanes_of(op.ptrs.type)):
        address = e.op(f"ptrtoint ptr {_lane(e, op.ptrs, lane)} to i64")
        end = e.op(f"add i64 {address}, {size}")
        found = e.op(f"call ptr @tt.read_only_row(ptr {rows}, i64 {address}, i64 {end})")
        good = e.op(f"icmp eq ptr {found}, null")
        if op.mask is not None:
            off = e.op(f"xor i1 {_lane(e, op.mask, lane)}, true")
            good = e.op(f"or i1 {good}, {off}")
        index = e.op(f"add i64 {e(op.index)}, {lane}")
        bytes_on = e.op(f"sub i64 {e.op(f'ptrtoint ptr {found} to i64')}, {first}")
        record = f"call void @tt.record_error(ptr %ctx, i32 {kind}, i32 {site}, {_PROGRAM}, "
        _stop_unless(e, good, f"{record}i64 {address}, i64 {index}, i64 {bytes_on}, i64 0)")


def _row(e: FunctionContext, number: int) -> str:
    """The address of a row in the launch's table of bounds."""
    table = e.op(f"getelementptr i8, ptr %ctx, i64 {CONTEXT['bounds_table'].offset}")
    bounds = e.op(f"load ptr, ptr {table}")
    return e.op(f"getelementptr i8, ptr {bounds}, i64 {number * BOUNDS_BYTES}")


def _pointee(ptr: Value) -> Type:
    ty = element_type(ptr.type)
    assert isinstance(ty, PointerType)
    return ty.pointee


def _lane(e: FunctionContext, value: Any, lane: int) -> str:
    if lanes_of(value.type) == 1 and not hasattr(value.type, "shape"):
        return e(value)
    return e.op(f"extractelement {e.typed(value)}, i64 {lane}")


@lowers(ttc.Print)
def _print(e: FunctionContext, op: ttc.Print) -> None:
    types = op.types.split()
    site = e.module.site(
        "print",
        op.loc,
        prefix=op.prefix,
        format="tt.format" in op.attributes,
        hex=op.hex,
        shapes=list(op.shapes),
        capacities=list(op.capacities or op.shapes),
        types=types,
        signed=list(op.isSigned),
        sizes=[byte_width(_pointee(p)) for p in op.ptrs],
    )
    count = max(1, len(op.ptrs))
    table = e.reserve(8 * count)
    for i, p in enumerate(op.ptrs):
        at = e.op(f"getelementptr ptr, ptr {table}, i64 {i}")
        e.stmt(f"store {llvm_type(p.type)} {e(p)}, ptr {at}")
    callback_at = e.op(f"getelementptr i8, ptr %ctx, i64 {CONTEXT['print_callback'].offset}")
    callback = e.op(f"load ptr, ptr {callback_at}")
    user_at = e.op(f"getelementptr i8, ptr %ctx, i64 {CONTEXT['user'].offset}")
    user = e.op(f"load ptr, ptr {user_at}")
    there = e.op(f"icmp ne ptr {callback}, null")
    with guarded(e, there):
        e.stmt(f"call void {callback}(ptr {user}, i32 {site}, {_PROGRAM}, ptr {table}, i64 {8 * len(op.ptrs)})")
