"""A kernel that also stores values of its own: a copy of a program of tiles, with one argument more.

    %x = arith.subf %a, %b : tensor<64xf32>
    tt.store %area + [0 … 63], %x                  what is looked at
    tt.store %area + 256 + [0 … 63], [0 … 63]      where that has gone: read back, it says whether looking works

One program of the grid stores, the others do not. What is in a loop is stored once an iteration, for as many of them
as are asked for: an atomic counts them, so that the kind of the loop does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...dialects import arith, tt
from ...dialects.tt_memory import AtomicRMW, Store
from ...dialects.tt_shape import Broadcast, ExpandDims, MakeRange, Splat
from ...dialects.tt_types import AtomicOp, MemSemantic, MemSyncScope, PointerType, ProgramDim
from ...dialects.ttg_layouts import Slice
from ...interpreter.evaluator import pick_kernel
from ...interpreter.numbers import byte_size, decode, dtype_of
from ...ir import (
    ArrayAttr,
    Block,
    Builder,
    DictionaryAttr,
    FloatType,
    FunctionType,
    IfLike,
    IntegerType,
    LoopLike,
    Operation,
    TensorType,
    Type,
    TypeAttr,
    Value,
    element_type,
    i1,
    i8,
    i32,
    i64,
)

__all__ = ["MOST_BYTES", "MOST_SLOTS", "SLOTS", "UNWRITTEN", "Area", "Site", "instrument", "sites_of", "value_at"]

SLOTS = 8
"""Iterations of a loop whose values are stored at least."""
MOST_SLOTS = 512
"""And at most, where they are no more than `MOST_BYTES`."""
MOST_BYTES = 1 << 28

UNWRITTEN = 0xA5
_ALIGNMENT = 16


@dataclass(frozen=True, order=True)
class Site:
    """A value of a program: result `number` of the operation at place `op` of `walk()`, or argument `number` of its
    block in region `region`; -1 says that it is a result."""

    op: int
    region: int
    number: int


def value_at(ops: list[Operation], site: Site) -> Value:
    """The value of a site among the operations of `walk()`."""
    op = ops[site.op]
    return op.results[site.number] if site.region < 0 else op.regions[site.region].blocks[0].args[site.number]


def sites_of(module: Operation) -> dict[Value, Site]:
    """What can be stored: scalars and tiles of numbers and pointers that a kernel makes, but those in combinations."""
    kernel = pick_kernel(module)
    found: dict[Value, Site] = {}
    for number, op in enumerate(module.walk()):
        if _is_run_by_all(op, kernel) and not _in_flight(op):
            found.update({v: Site(number, -1, i) for i, v in enumerate(op.results) if _storable(v.type)})
            if isinstance(op, LoopLike):
                for r, region in enumerate(op.regions):
                    found.update(
                        {v: Site(number, r, i) for i, v in enumerate(region.blocks[0].args) if _storable(v.type)}
                    )
    return found


def _in_flight(op: Operation) -> bool:
    """Whether the result of an operation is a WGMMA in flight, which may not be read."""
    if op.name == "ttng.warp_group_dot_wait":
        return bool(op.pendings)  # type: ignore[attr-defined]
    return op.name == "ttng.warp_group_dot" and bool(op.isAsync)  # type: ignore[attr-defined]


def _is_run_by_all(op: Operation, kernel: Operation) -> bool:
    parent = op.parent_op
    while parent is not None and parent is not kernel and _runs_inside(parent):
        parent = parent.parent_op
    return parent is kernel


def _runs_inside(op: Operation) -> bool:
    """Whether the threads that execute `op` execute its regions."""
    return isinstance(op, (LoopLike, IfLike)) or op.name == "ttg.warp_specialize"


def _storable(ty: Type) -> bool:
    element = element_type(ty)
    return isinstance(element, (FloatType, IntegerType, PointerType)) and (ty is element or isinstance(ty, TensorType))


def _stored(element: Type) -> Type:
    """The bits of an element in memory."""
    return i64 if isinstance(element, PointerType) else i8 if element is i1 else element


@dataclass(frozen=True)
class Area:
    """Where in the additional argument a site's values are: bytes from its start, an iteration after the other."""

    site: Site
    type: Type
    start: int
    known: int
    counter: int
    slots: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the value; () of a scalar."""
        return self.type.shape if isinstance(self.type, TensorType) else ()

    @property
    def numel(self) -> int:
        """Elements of a value."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def size(self) -> int:
        """Bytes of an element in memory."""
        return byte_size(_stored(element_type(self.type)))

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.counter + _ALIGNMENT

    def seen(self, side: np.ndarray, slot: int) -> np.ndarray | None:
        """The value of an iteration; None where none was stored."""
        if (self._part(side, self.known, slot, 4) == UNWRITTEN).all():
            return None
        bits = self._part(side, self.start, slot, self.size).view(f"u{self.size}")
        element = element_type(self.type)
        return decode(bits, _stored(element)).astype(dtype_of(element)).reshape(self.shape)

    def works(self, side: np.ndarray, slot: int) -> bool:
        """Have the elements gone where they should?"""
        expected = np.arange(self.numel, dtype=np.int32)
        return bool((self._part(side, self.known, slot, 4).view(np.int32) == expected).all())

    def _part(self, side: np.ndarray, start: int, slot: int, size: int) -> np.ndarray:
        at = start + slot * self.numel * size
        return np.ascontiguousarray(side[at : at + self.numel * size])


def instrument(
    module: Operation, sites: Iterable[Site], program: tuple[int, int, int] | None, iterations: int = SLOTS
) -> list[Area]:
    """Have the kernel of a module store the values at some sites; where each is, in memory of `areas[-1].end` bytes.

    `program` is the one of the grid that does, None where there is no other. In loops `iterations` are stored, or as
    many as fit in the buffer.
    """
    ops = list(module.walk())
    kernel = pick_kernel(module)
    base = _new_argument(kernel)
    areas: list[Area] = []
    for site in sites:
        value = value_at(ops, site)
        start = areas[-1].end if areas else 0
        area = Area(site, value.type, start, 0, 0, 1)
        capacity = max(SLOTS, MOST_BYTES // (area.numel * max(area.size, 4)))
        slots = min(max(SLOTS, iterations), MOST_SLOTS, capacity) if _in_loop(value, site, kernel) else 1
        known = _aligned(start + slots * area.numel * area.size)
        counter = _aligned(known + slots * area.numel * 4)
        area = Area(site, value.type, start, known, counter, slots)
        areas.append(area)
        _Writer(value, area, base, program).write()
    return areas


def _aligned(n: int) -> int:
    return -(-n // _ALIGNMENT) * _ALIGNMENT


def _in_loop(value: Value, site: Site, kernel: Operation) -> bool:
    op = value.block.parent_op if value.block is not None else None
    while op is not None and op is not kernel:
        if isinstance(op, LoopLike):
            return True
        op = op.parent_op
    return False


def _new_argument(kernel: Any) -> Value:
    ty = PointerType(i8)
    kernel.attributes["function_type"] = TypeAttr(
        FunctionType((*kernel.function_type.inputs, ty), kernel.function_type.results)
    )
    if kernel.arg_attrs is not None:
        kernel.attributes["arg_attrs"] = ArrayAttr((*kernel.arg_attrs.elements, DictionaryAttr({})))
    return kernel.entry.add_argument(ty)  # type: ignore[no-any-return]


class _Writer:
    """Writes the operations that store one value."""

    def __init__(self, value: Value, area: Area, base: Value, program: tuple[int, int, int] | None) -> None:
        self.value, self.area, self.base, self.program = value, area, base, program
        block: Block | None = value.block
        op = value.defining_op
        assert block is not None
        self.b = Builder(block, block.first if op is None else op.next, op.loc if op is not None else value.loc)  # type: ignore[attr-defined]

    def number(self, n: int, ty: Type = i32) -> Value:
        return self.b.add(arith.Constant.of(n, ty))  # type: ignore[no-any-return]

    def write(self) -> None:
        """Store the value, and where it has gone."""
        add, area = self.b.add, self.area
        mask = self.is_program()
        slot = None
        if area.slots > 1:
            slot = self.iteration(mask)
            inside = add(arith.CmpI(arith.CmpIPredicate.slt, slot, self.number(area.slots)))
            mask = inside if mask is None else add(arith.AndI(mask, inside))
        value = self.value
        element = element_type(value.type)
        if element is i1:
            value = add(arith.ExtUI(value, out=self.of(i8)))
        elif isinstance(element, PointerType):
            value = add(tt.PtrToInt(value, result=self.of(i64)))
        place = self.places()
        self.store(area.start, slot, value, place, mask)
        self.store(area.known, slot, place, place, mask)

    def of(self, element: Type) -> Type:
        """The value's type, with other elements."""
        ty = self.value.type
        return TensorType(ty.shape, element, ty.encoding) if isinstance(ty, TensorType) else element

    def is_program(self) -> Value | None:
        add = self.b.add
        mask = None
        for axis, wanted in zip(ProgramDim, self.program or ()):
            here = add(arith.CmpI(arith.CmpIPredicate.eq, add(tt.GetProgramId(axis, result=i32)), self.number(wanted)))
            mask = here if mask is None else add(arith.AndI(mask, here))
        return mask

    def pointer(self, start: int, element: Type) -> Value:
        add = self.b.add
        at = add(tt.AddPtr(self.base, self.number(start)))
        return add(tt.Bitcast(at, result=PointerType(element)))  # type: ignore[no-any-return]

    def iteration(self, mask: Value | None) -> Value:
        counter, one = self.pointer(self.area.counter, i32), self.number(1)
        how = {"sem": MemSemantic.relaxed, "scope": MemSyncScope.gpu, "result": i32}
        return self.b.add(AtomicRMW(AtomicOp.add, counter, one, mask, **how))  # type: ignore[no-any-return]

    def places(self) -> Value:
        """The number of each element, row by row."""
        add, ty = self.b.add, self.value.type
        if not isinstance(ty, TensorType):
            return self.number(0)
        total = None
        for axis, n in enumerate(ty.shape):
            stride = int(np.prod(ty.shape[axis + 1 :], dtype=np.int64))
            part = self.along(axis, n)
            if stride > 1:
                part = add(arith.MulI(part, add(arith.Constant.of(stride, part.type))))
            if part.type is not self.of(i32):
                part = add(Broadcast(part, result=self.of(i32)))
            total = part if total is None else add(arith.AddI(total, part))
        assert total is not None
        return total

    def along(self, axis: int, n: int) -> Value:
        """The index along one axis, in the layout of the value."""
        ty = self.value.type
        rank = len(ty.shape)  # type: ignore[attr-defined]
        others = [d for d in range(rank) if d != axis]
        layouts = [ty.encoding]  # type: ignore[attr-defined]
        for d in reversed(others):
            layouts.append(None if layouts[-1] is None else Slice(d, layouts[-1]))
        made = self.b.add(MakeRange(0, n, result=TensorType((n,), i32, layouts[-1])))
        shape = [n]
        for d, layout in zip(others, layouts[-2::-1]):
            shape.insert(d, 1)
            made = self.b.add(ExpandDims(made, d, result=TensorType(tuple(shape), i32, layout)))
        return made  # type: ignore[no-any-return]

    def store(self, start: int, slot: Value | None, value: Value, place: Value, mask: Value | None) -> None:
        add, element = self.b.add, element_type(value.type)
        pointer = self.pointer(start, element)
        if slot is not None:
            pointer = add(tt.AddPtr(pointer, add(arith.MulI(slot, self.number(self.area.numel)))))
        if isinstance(value.type, TensorType):
            pointer = add(tt.AddPtr(add(Splat(pointer, result=self.of(PointerType(element)))), place))
            mask = None if mask is None else add(Splat(mask, result=self.of(i1)))
        add(Store(pointer, value, mask))
