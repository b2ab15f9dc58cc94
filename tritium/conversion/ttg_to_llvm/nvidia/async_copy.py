"""Copies from global to shared memory that go on while the thread does something else: cp.async, since sm_80.

    ttg.async_copy_global_to_local %p, %b mask %m     cp.async.cg.shared.global [%b], [%p], 16, %size;
    ttg.async_commit_group                            cp.async.commit_group;
    ttg.async_wait {num = 1}                          cp.async.wait_group 1;

Each thread copies 4, 8 or 16 bytes at a time: what stands side by side both at the addresses and in the buffer. Where
the mask is false nothing is read, and zeros are written (`%size` is 0); where there is an `other` that is not zero,
the thread stores that itself. Narrower pieces, and all copies before sm_80, are loads and stores done at once.
Source: PTX ISA 8.7, section 9.7.9.25.
"""

from __future__ import annotations

from typing import Any

from ....dialects import arith, tt, ttg
from ....dialects.tt_types import CacheModifier, CachePolicy
from ....dialects.ttg_maps import linear_layout_of
from ....hardware.nvidia_features import ASYNC_COPY
from ....ir import TensorType, Value
from ....layout.access import Access, vector_access
from ....layout.buffer_access import gap_limit, offset_columns
from ....support import UnsupportedOperation
from ....support.dataclasses import replace
from ..context import FunctionContext, lowers
from ..memory import load_parts, vector_groups
from ..packing import constant_bits
from ..shared_access import owner, store_access, to_memory
from ..shared_memory import Buffer, buffer_of

__all__: list[str] = []

SHARED = "ptr addrspace(3)"
SIZES = (4, 8, 16)  # bytes


@lowers(ttg.AsyncCopyGlobalToLocal)
def _async_copy(e: FunctionContext, op: ttg.AsyncCopyGlobalToLocal) -> None:
    pointers: Any = op.src.type
    buffer = buffer_of(e, op, op.result)
    layout = linear_layout_of(pointers)
    try:
        columns = offset_columns(layout, buffer.layout)
    except ValueError as error:
        raise UnsupportedOperation(op, f"cannot be done: {error}") from None
    limit = gap_limit(buffer.gaps, buffer.bits)
    idle = layout.redundant()
    owns = owner(e, idle["lane"], idle["warp"])
    access = _pieces(e, op, vector_access(columns, buffer.bits, most=limit))
    e.bind(op.token, [])
    if not e.module.gpu.has(ASYNC_COPY) or access.width * access.bits // 8 not in SIZES:
        _at_once(e, op, buffer, vector_access(columns, buffer.bits, most=limit), owns)
        return
    other = _other(e, op)
    running, mask_value = _predicate_and_mask(op)
    addresses, masks = e(op.src), None if mask_value is None else e(mask_value)
    if running is not None:
        owns = _both(e, e(running)[0], owns)
    into = buffer.addresses(e, access)
    for constant, registers in access.moves:
        mask = None if masks is None or masks[registers[0]] == "true" else masks[registers[0]]
        _copy(e, op, access, into.at(constant), addresses[registers[0]], mask, owns, other is not None)
    if other is not None and masks is not None:
        for move in access.moves:
            off = e.op(f"xor i1 {masks[move[1][0]]}, true")
            guard = off if owns is None else e.op(f"and i1 {off}, {owns}")
            store_access(e, replace(access, moves=(move,)), into, other, _elements(pointers), guard)


def _predicate_and_mask(op: ttg.AsyncCopyGlobalToLocal) -> tuple[Value | None, Value | None]:
    """The condition on which a copy is done at all, where it is predicated, and the mask of its elements."""
    if op.PREDICATED not in op.attributes or op.mask is None:
        return None, op.mask
    made = op.mask.defining_op
    if isinstance(made, tt.Splat):
        return (made.src, None) if op.other is None else (None, op.mask)
    if isinstance(made, arith.AndI):
        uniform = [v.defining_op for v in made.operands if isinstance(v.defining_op, tt.Splat)]
        if len(uniform) == 1:
            (rest,) = [v for v in made.operands if v.defining_op is not uniform[0]]
            return uniform[0].src, rest
    return None, op.mask


def _both(e: FunctionContext, condition: str, guard: str | None) -> str:
    return condition if guard is None else e.op(f"and i1 {condition}, {guard}")


def _elements(pointers: Any) -> TensorType:
    """The type of what the addresses point to."""
    return TensorType(pointers.shape, pointers.element.pointee, pointers.encoding)


def _other(e: FunctionContext, op: ttg.AsyncCopyGlobalToLocal) -> list[str] | None:
    """What stands where the mask is false, as memory holds it; None for zeros."""
    if op.other is None or op.mask is None or constant_bits(op.other) == 0:
        return None
    return [to_memory(e, op.other.type, v) for v in e(op.other)]


def _pieces(e: FunctionContext, op: ttg.AsyncCopyGlobalToLocal, access: Access) -> Access:
    """The access in pieces that are side by side in global memory, too, and masked alike."""
    rows = vector_groups(e, op.src, op.mask)
    next_to = {r: (row[0], i) for row in rows for i, r in enumerate(row)}
    same = {r: access.same[r] for r in next_to}
    place = {same[r]: v for r, v in next_to.items()}
    width = min(access.width, len(rows[0]))
    while width > 1:
        if all(
            _is_piece(place, move[i : i + width]) for _, move in access.moves for i in range(0, access.width, width)
        ):
            break
        width //= 2
    moves = tuple(
        (constant + i, move[i : i + width]) for constant, move in access.moves for i in range(0, access.width, width)
    )
    return replace(access, width=width, moves=moves)


def _is_piece(place: dict[int, tuple[int, int]], registers: tuple[int, ...]) -> bool:
    """Whether registers follow each other in one row, from a multiple of their number on."""
    if any(r not in place for r in registers):
        return False
    row, first = place[registers[0]]
    wanted = [(row, first + i) for i in range(len(registers))]
    return first % len(registers) == 0 and [place[r] for r in registers] == wanted


def _copy(
    e: FunctionContext,
    op: ttg.AsyncCopyGlobalToLocal,
    access: Access,
    target: str,
    source: str,
    mask: str | None,
    owns: str | None,
    leave: bool,
) -> None:
    """One instruction; where the mask is false it writes zeros, or with `leave` nothing."""
    size = access.width * access.bits // 8
    guard = owns
    count = str(size)
    if mask is not None and leave:
        guard = _both(e, mask, owns)
    elif mask is not None:
        count = _size_where(e, mask, size)
    policy = op.cachePolicy
    cached = isinstance(policy, CachePolicy) and policy.cache_modifier is CacheModifier.ca
    kind = "cg" if size == 16 and not cached else "ca"
    operands = [(SHARED, target), ("ptr addrspace(1)", source)]
    constraints = ["r", "l"]
    given = ""
    if not count.isdigit():
        given = ", $2"
        operands.append(("i32", count))
        constraints.append("r")
    predicate = ""
    if guard is not None:
        predicate = f"@${len(operands)} "
        operands.append(("i1", guard))
        constraints.append("b")
    operands[0] = ("i32", e.op(f"ptrtoint {SHARED} {target} to i32"))
    text = f"{predicate}cp.async.{kind}.shared.global [$0], [$1], {size}{given};"
    e.asm(text, ",".join([*constraints, "~{memory}"]), operands)


def _size_where(e: FunctionContext, mask: str, size: int) -> str:
    """mask ? size : 0, by one instruction: of a select LLVM makes one for each condition that the mask is made of."""
    key = f"size {size} {mask}"
    if key not in e.known_values:
        operands = [("i1", mask)]
        e.known_values[key] = e.asm(f"selp.b32 $0, {size}, 0, $1;", "=r,b", operands, "i32", side_effects=False)
    return e.known_values[key]


def _at_once(
    e: FunctionContext, op: ttg.AsyncCopyGlobalToLocal, buffer: Buffer, access: Access, owns: str | None
) -> None:
    ty = _elements(op.src.type)
    held = [to_memory(e, ty, v) for v in load_parts(e, op, op.src, ty)]
    store_access(e, access, buffer.addresses(e, access), held, ty, owns)


@lowers(ttg.AsyncCommitGroup)
def _commit(e: FunctionContext, op: ttg.AsyncCommitGroup) -> None:
    if e.module.gpu.has(ASYNC_COPY):
        e.call_void("llvm.nvvm.cp.async.commit.group", attributes=" #1")
    e.bind(op.asyncToken, [])


@lowers(ttg.AsyncWait)
def _wait(e: FunctionContext, op: ttg.AsyncWait) -> None:
    if e.module.gpu.has(ASYNC_COPY):
        e.call_void("llvm.nvvm.cp.async.wait.group", ("i32", str(op.num)), attributes=" #1")
    e.bind(op.retToken, [])
