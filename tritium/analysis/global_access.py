"""Global memory accesses of a warp: bits per instruction, and sectors touched.

    %x = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>       128 bits a thread, 16 sectors of 16 needed
    %y = tt.load %q : tensor<128x64x!tt.ptr<f32>, #blocked1>    32 bits a thread, 2048 sectors of 256: uncoalesced

A sector has 32 bytes. Adjacent addresses are found by strides where addresses are affine in the coordinates (`affine`),
otherwise by axis info (`axis_info`); other addresses are assumed to be in different sectors. The number of sectors is
an upper bound where strides are known at run time only, and exact where they are compile-time constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..dialects.tt_types import PointerType
from ..dialects.ttg_maps import linear_layout_of
from ..dialects.ttg_memory import element_bits
from ..ir import WRITE, Operation, PointerAccess, TensorType, Value
from ..layout.linear import LinearLayout
from ..layout.views import row_of_registers
from .affine import Affinity, Num, Sym
from .axis_facts import AxisInfo
from .axis_info import AxisInfoAnalysis

__all__ = ["SECTOR", "VECTOR_BYTES", "GlobalAccess", "global_accesses", "vector_groups"]

SECTOR = 32
"""Bytes of a sector (CUDA C++ best practices guide 13.0, section 10.2.1)."""

VECTOR_BYTES = 16
"""The maximum access size of one thread in bytes (PTX ISA 8.7, section 9.7.9.8: .v4.b32, .v2.b64)."""


class GlobalAccess(NamedTuple):
    """One operation's access: `instructions` of `bits` each a thread. All of them together touch `sectors` for a warp,
    and `needed` are the sectors that so many different bytes fill; `possible` are the bits an instruction might have,
    and `narrow` is what forbids that: "contiguity", "alignment", "mask", "layout", or "" where nothing does."""

    op: Operation
    action: str
    bits: int
    instructions: int
    sectors: int
    needed: int
    possible: int
    narrow: str


def vector_groups(
    layout: LinearLayout, facts: AxisInfo, masks: AxisInfo | None, size: int, most: int = VECTOR_BYTES
) -> list[list[int]]:
    """The registers of a tensor of addresses (of elements of `size` bytes), in groups that one instruction may move.

    Within a group, addresses follow each other and masks are equal; the first is aligned to the size of the group.
    Registers that hold a copy of another one are left out.
    """
    row: tuple[int, ...] = ()
    for axis in range(len(facts.contiguity)):
        count = min(most // size, facts.contiguity[axis], facts.divisibility[axis] // size)
        if masks is not None:
            count = min(count, masks.constancy[axis])
        row = max(row, row_of_registers(layout, axis, count), key=len)
    dropped = layout.redundant()["register"] | sum(1 << bit for bit in row)  # no bit is in both: rows are first bases
    members = [0]
    for bit in row:
        members += [m | 1 << bit for m in members]
    return [[r | m for m in members] for r in range(layout.ins["register"]) if not r & dropped]


def global_accesses(func: Operation) -> Iterator[GlobalAccess]:
    """The accesses of a function of `ttgir`, in its order; TMA copies are no accesses of threads."""
    facts: AxisInfoAnalysis | None = None
    for op in func.walk():
        if not isinstance(op, PointerAccess) or not op.vectorized:
            continue
        address = op.pointer
        if isinstance(address.type, TensorType) and isinstance(address.type.element, PointerType):
            facts = facts or AxisInfoAnalysis(func)
            yield _access(op, _action(op), address, op.access_mask, facts)


def _action(op: PointerAccess) -> str:
    if op.atomic:
        return "atomic"
    if op.completes is not None:
        return "copy"
    return "store" if any(access.effects & WRITE for access in op.accesses) else "load"


def _access(op: Operation, action: str, address: Value, mask: Value | None, facts: AxisInfoAnalysis) -> GlobalAccess:
    pointers: Any = address.type
    size = max(1, element_bits(pointers.element.pointee) // 8)
    layout, known = linear_layout_of(pointers), facts.of(address)
    masks = None if mask is None else facts.of(mask)
    most = 4 if action == "atomic" else VECTOR_BYTES
    groups = vector_groups(layout, known, masks, size, max(most, size))
    idle = layout.redundant()
    held = layout.ins["register"] >> idle["register"].bit_count()
    possible = min(most, held * size)
    bits = 8 * size * len(groups[0])
    narrow = _reason(known, masks, size, possible) if bits < 8 * possible else ""
    form = Affinity(hopeful=True).of(address)
    strides = None if form is None else form.strides
    sectors, needed = _sectors(layout, groups, known, strides, size)
    return GlobalAccess(op, action, bits, len(groups), sectors, needed, 8 * possible, narrow)


def _reason(facts: AxisInfo, masks: AxisInfo | None, size: int, possible: int) -> str:
    """What limits the access size to less than `possible` bytes, along the axis of highest contiguity."""
    axis = max(range(len(facts.contiguity)), key=lambda a: facts.contiguity[a])
    if facts.contiguity[axis] * size < possible:
        return "contiguity"
    if facts.divisibility[axis] < possible:
        return "alignment"
    return "mask" if masks is not None and masks.constancy[axis] * size < possible else "layout"


def _sectors(
    layout: LinearLayout, groups: list[list[int]], facts: AxisInfo, strides: tuple[Sym, ...] | None, size: int
) -> tuple[int, int]:
    """The sectors that all instructions of a warp touch, and the minimum for as many different bytes."""
    reach = _by_contiguity(facts) if strides is None else _by_strides(strides)
    lanes = [tuple(layout.apply(lane=lane).values()) for lane in range(layout.ins.get("lane", 1))]
    offsets_of: dict[tuple[int, ...], set[int]] = {}
    for register in (r for group in groups for r in group):
        base = tuple(layout.apply(register=register).values())
        for lane in lanes:
            place, offset = reach([a ^ b for a, b in zip(base, lane)])
            offsets_of.setdefault(place, set()).add(offset * size)
    elements = sum(map(len, offsets_of.values()))
    sectors = sum(len({b // SECTOR for b in offsets}) for offsets in offsets_of.values())
    return sectors * max(1, size // SECTOR), -(-elements * size // SECTOR)


Reach = Callable[[list[int]], tuple[tuple[int, ...], int]]
"""Coordinates -> a memory region (regions are assumed not to be adjacent) and the element offset in it."""


def _by_strides(strides: tuple[Sym, ...]) -> Reach:
    """Affine addresses: known strides add up; along unknown ones every coordinate is in a region of its own."""
    known = [(axis, s.value) for axis, s in enumerate(strides) if isinstance(s, Num)]
    others = [axis for axis, s in enumerate(strides) if not isinstance(s, Num)]
    return lambda at: (tuple(at[axis] for axis in others), sum(at[axis] * stride for axis, stride in known))


def _by_contiguity(facts: AxisInfo) -> Reach:
    """Other addresses: groups along the axis of highest contiguity, and constancy along the others."""
    axis = max(range(len(facts.contiguity)), key=lambda a: facts.contiguity[a])
    run = facts.contiguity[axis]
    same = [run if d == axis and run > 1 else facts.constancy[d] for d in range(len(facts.contiguity))]
    return lambda at: (tuple(c // n for c, n in zip(at, same)), at[axis] % run)
