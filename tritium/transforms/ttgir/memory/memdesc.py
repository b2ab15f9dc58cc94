"""Views of buffers in shared memory, and uses of a loaded tensor that become uses of its buffer.

%x = tt.descriptor_load ...              read_buffer(%x, %buffer):
%a = ttg.local_alloc %x                  %a: replaced by %buffer, where their layouts agree
use %a; use %x                           %x: replaced by `ttg.local_load %buffer`
"""

from __future__ import annotations

from typing import Any

from ....dialects import ttg, ttng
from ....dialects.ttg_memory import MemDescType
from ....ir import Builder, Operation, Value, ViewLike

__all__ = ["make_mutable", "read_buffer", "single_buffer"]


def single_buffer(b: Builder, buffers: Any, index: Value) -> Value:
    """A view of one of several buffers."""
    ty = buffers.type
    view_type = MemDescType(ty.shape[1:], ty.element, ty.encoding, ty.memorySpace, ty.mutable)
    view: Value = b.add(ttg.MemDescIndex(buffers, index, result=view_type))
    return view


def read_buffer(b: Builder, loaded: Any, buffer: Any, token: Value | None = None) -> list[Operation]:
    """Replace uses of a loaded tensor by its buffer, where they allocate one of its layout, else by a load from it.

    Erases the replaced allocations and returns them.
    """
    gone = [
        user
        for user in loaded.users
        if user.__class__ is ttg.LocalAlloc and user.result.type.encoding is buffer.type.encoding
    ]
    for user in gone:
        user.result.replace_all_uses_with(buffer)
    make_mutable(buffer)
    if len(loaded.users) > len(gone):
        value = b.add(ttg.LocalLoad(buffer, token, result=loaded.type))
        value.hint = loaded.hint
        loaded.replace_uses_where(value, lambda user: user not in gone)
    for user in gone:  # last, since the builder may be positioned at one
        user.erase()
    return gone


def make_mutable(buffer: Value) -> None:
    """Make every alias of a mutable buffer mutable: views, results of waits, and arguments of warp partitions."""
    for user, i in buffer.uses:
        for name in _aliases(user, i):
            ty: Any = name.type
            if isinstance(ty, MemDescType) and not ty.mutable:
                shape = (ty.shape, ty.element, ty.encoding, ty.memorySpace)
                name.type = MemDescType(*shape, True, ty.allocShape)
                make_mutable(name)


def _aliases(user: Operation, i: int) -> list[Value]:
    """Other values that alias operand `i` of an operation."""
    if isinstance(user, ViewLike):
        return [user.results[0]]
    if user.__class__ is ttng.WarpGroupDotWait:
        return [user.results[i]]
    if user.__class__ is ttg.WarpSpecializePartitions:
        return [region.blocks[0].args[i] for region in user.regions]
    return []
