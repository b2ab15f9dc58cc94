"""What a run of LLVM's passes leaves behind in llvmlite, given back.

`LLVMPY_CreatePassBuilder` makes LLVM's table of callbacks (PassInstrumentationCallbacks) with `new` and gives it to a
PassBuilder, which only refers to it; `LLVMPY_DisposePassBuilder` frees the builder alone. That is 1,488 bytes for each
run, and a builder cannot serve a second run: the first one's callbacks stay in the table and refer to what is gone.

So the table is freed here, when its builder is. Nothing exports its address or its destructor, but it needs none: it is
ten vectors, each with room for four callbacks inside of itself, and while nothing outgrew that room all that it owns
are its own bytes. Its address stands in the builder. Where exactly is a fact of a release of llvmlite, so that this is
done for releases that are known only (another may free the table itself), and what stands there is looked at before it
is believed: memory without the whole shape of such a table is left alone, as llvmlite leaves it. Looking goes through
`/proc/self/mem`, which refuses what is not mapped; where there is none, nothing is freed.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
from typing import Any

from .llvm_calls import release_is_known

__all__ = ["close_pass_builder"]

_AT = 96  # where a builder refers to its table (LLVM 22, 64-bit): behind the machine, the options and a profile
_VECTORS, _ROOM, _CALLBACK = 10, 4, 32  # vectors of a table; callbacks in each; bytes of one
_STRIDE = 16 + _ROOM * _CALLBACK  # a vector: where its callbacks are, their number, the room for them; then these
_HEADER = struct.Struct("=QII")


def close_pass_builder(builder: Any) -> None:
    """Free a builder of llvmlite's, or of `llvm_calls`, that has run, and the callbacks that it refers to."""
    address = ctypes.cast(builder._ptr, ctypes.c_void_p).value
    table = _table(address) if address and not builder._owned and release_is_known() else 0
    builder.close()
    delete = _delete() if table else None
    if delete is not None:
        delete(table)


def _table(builder: int) -> int:
    """Where the builder's callbacks are, 0 if what it refers to does not look like them."""
    try:
        memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        table = int.from_bytes(os.pread(memory, 8, builder + _AT), "little")
        return table if _looks_right(table, os.pread(memory, _VECTORS * _STRIDE, table)) else 0
    except (OSError, OverflowError):
        return 0
    finally:
        os.close(memory)


def _looks_right(table: int, held: bytes) -> bool:
    """Whether every vector's callbacks are inside of it."""
    if len(held) < _VECTORS * _STRIDE:
        return False
    for start in range(0, _VECTORS * _STRIDE, _STRIDE):
        at, number, room = _HEADER.unpack_from(held, start)
        if at != table + start + _HEADER.size or room != _ROOM or number > _ROOM:
            return False
    return True


@functools.cache
def _delete() -> Any:
    """C++'s operator delete of the library that llvmlite's was made with; None if it is not to be found."""
    try:
        delete = ctypes.CDLL("libstdc++.so.6")["_ZdlPv"]
    except (OSError, AttributeError):
        return None
    delete.restype, delete.argtypes = None, (ctypes.c_void_p,)
    return delete
