"""cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: boxes of a tensor map to shared memory and back.

One thread starts a copy of a whole box. A load reports the box's bytes to an mbarrier, those outside of the tensor
(which are zeros, or NaN) included; stores and reductions belong to a bulk group of the thread, and leave what is
outside alone. (PTX ISA, "Data Movement and Conversion Instructions: Tensor copy".)
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ...support.quantities import counted
from ..access import Target, elements
from ..boxes import Box, PixelBox, box_of, swizzled
from ..errors import MisalignedAccess, OutOfBounds, TensorMapError, UnknownInstruction
from ..floats import narrow, widen
from ..geometry import Mask, Step
from ..memory import CLUSTER_SHIFT
from ..ptx import Address, Instruction, Operand, Tuple
from ..state import MachineState
from ..tensor_map import MAP_BYTES, SPANS, TensorMap
from ..types import TYPES, UNSIGNED, Array
from .mbarrier import Reports

__all__ = ["MapOperand", "tensor_copy"]

_DIMENSIONS = re.compile(r"([1-5])d$")
_GATHER = ("tile::gather4", "tile::scatter4")
_FIRST_GATHERING = 100  # sm_100
_ALLOWED = frozenset(
    ("async", "bulk", "tensor", "tile", "global", "shared::cta", "shared::cluster", "bulk_group", "prefetch", "L2")
    + ("im2col", "mbarrier::complete_tx::bytes", "multicast::cluster", "L2::cache_hint", "reduce", *_GATHER)
)
#: The bits of what loads put outside of the tensor where the map asks for it: a NaN of each floating-point type.
_NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f32.ftz": 0x7FFFFFFF, "tf32": 0x7FFFFFFF}
_NAN |= {"tf32.ftz": 0x7FFFFFFF, "f64": 0x7FFFFFFFFFFFFFFF}
_ALIGNMENT = 128  # of a box in shared memory
_PIECE = 16  # bytes that a copy to global memory writes at least
_OPERATIONS: dict[str, Any] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "inc": lambda old, bound: np.where(old >= bound, 0, old + 1),
    "dec": lambda old, bound: np.where((old == 0) | (old > bound), bound, old - 1),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
#: The element types that each operation takes.
_BITS = frozenset(("u32", "s32", "u64", "s64"))
_NUMBERS = _BITS | {"f16", "bf16"}
_TAKES = {
    "min": _NUMBERS,
    "max": _NUMBERS,
    "add": _NUMBERS | {"f32", "f32.ftz"},
    "inc": {"u32"},
    "dec": {"u32"},
    "and": _BITS,
    "or": _BITS,
    "xor": _BITS,
}


def tensor_copy(machine: MachineState, i: Instruction) -> Step:
    """The step of a tensor copy of any direction."""
    operation = next((m for m in i.modifiers if m in _OPERATIONS), "")
    unknown = [m for m in i.modifiers if m not in _ALLOWED and m != operation and not _DIMENSIONS.match(m)]
    if unknown:
        raise UnknownInstruction(f"the emulator does not know .{unknown[0]} in {i.name}", i)
    if "prefetch" in i.modifiers:
        return prefetch(machine, i)
    kind = Load if "mbarrier::complete_tx::bytes" in i.modifiers else Store
    if kind is Store and ("bulk_group" not in i.modifiers or "im2col" in i.modifiers):
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    copy = kind(machine, i, operation)

    def run(mask: Mask) -> None:
        for thread in machine.lanes(mask).tolist():
            copy.run(thread)

    return run


def prefetch(machine: MachineState, i: Instruction) -> Step:
    """Changes nothing, but the map must be one."""
    operand = MapOperand(machine, i.operands[0], i)

    def run(mask: Mask) -> None:
        for thread in machine.lanes(mask).tolist():
            operand.map(thread)

    return run


class MapOperand:
    """`[map, {coordinates}]`: a tensor map and a place in the tensor."""

    def __init__(self, machine: MachineState, operand: Operand, i: Instruction) -> None:
        dimensions = next((int(m[0]) for m in i.modifiers if _DIMENSIONS.match(m)), 0)
        if not isinstance(operand, Address) or len(operand.rest) != 1 or not isinstance(operand.rest[0], Tuple):
            raise UnknownInstruction(f"{i.name} takes [map, {{coordinates}}]", i)
        self.machine, self.i, self.dimensions = machine, i, dimensions
        self.at = Target(machine, operand._replace(rest=()), None, MAP_BYTES // 2, i, write=False)
        self.coordinates = [machine.read(c, TYPES["s32"], i) for c in operand.rest[0].items]
        self.gathers = any(m in _GATHER for m in i.modifiers)
        self.windows = "im2col" in i.modifiers
        target = machine.program.module.target
        if self.gathers and int(re.sub(r"\D", "", target) or 0) < _FIRST_GATHERING:
            raise UnknownInstruction(f"{target} has no {i.name}", i)
        if len(self.coordinates) != (5 if self.gathers else dimensions):
            raise UnknownInstruction(f"{i.name} with {len(self.coordinates)} coordinates", i)

    def map(self, thread: int) -> TensorMap:
        """The map of a thread; TensorMapError if it is none, or does not fit the instruction."""
        address = self.at.of(thread)
        self.machine.tensor_maps.check(thread, address, self.i)
        lanes = np.full(2, thread)
        data = b""
        for piece in self.at.locate(np.array([address, address + MAP_BYTES // 2]), lanes):
            view, at = elements(piece, UNSIGNED[8])
            data += view[at[:, None] + np.arange(MAP_BYTES // 2)].tobytes()
        m = TensorMap.decode(data)
        fault = m.fault
        if fault is None and (m.corners is not None) is not self.windows:
            kinds = ("tiles", "windows (im2col)")
            fault = f"it is one of {kinds[not self.windows]}, the instruction copies {kinds[self.windows]}"
        if fault is None and m.rank != self.dimensions:
            fault = f"it has {m.rank} dimensions, the instruction {self.dimensions}"
        if fault is None and m.swizzle and m.extent[0] * m.element_bytes != SPANS[m.swizzle]:
            fault = f"its rows have {m.extent[0] * m.element_bytes} bytes, the swizzle {SPANS[m.swizzle]}"
        if fault is None and self.gathers and m.extent[1] != 1:
            fault = f"its box has {m.extent[1]} rows: those that gather have one"
        if fault is not None:
            raise self.machine.error(TensorMapError, f"the tensor map at {address:#x}: {fault}", self.i, thread)
        return m

    def places(self, m: TensorMap, thread: int) -> list[tuple[int, ...]]:
        """The coordinates of the boxes that a thread copies: four where it gathers rows.

        A box begins at a multiple of 16 bytes in its rows; hardware stops at others with an illegal instruction (H200,
        2026-11), which no manual tells.
        """
        values = tuple(int(np.broadcast_to(c, self.machine.threads)[thread]) for c in self.coordinates)
        if values[0] * m.element_bytes % 16:
            text = (
                f"the innermost coordinate {values[0]} of elements of {m.element_bytes} bytes is at no multiple of 16"
            )
            raise self.machine.error(TensorMapError, f"{text} bytes", self.i, thread)
        return [(values[0], row) for row in values[1:]] if self.gathers else [values]


class _Copy:
    """The common operands of TMA loads and stores: the tensor map, and a box in shared memory."""

    def __init__(self, machine: MachineState, i: Instruction, operation: str) -> None:
        self.machine, self.i, self.operation = machine, i, operation
        store = isinstance(self, Store)
        self.operand = MapOperand(machine, i.operands[0 if store else 1], i)
        self.shared = Target(machine, i.operands[1 if store else 0], "shared", 16, i, write=not store)
        self.tensors: dict[int, Target] = {}

    def tensor(self, size: int) -> Target:
        """Accesses of `size` bytes to the tensor."""
        if size not in self.tensors:
            write = isinstance(self, Store)
            self.tensors[size] = Target(self.machine, Address(None, 0), "global", size, self.i, write=write)
        return self.tensors[size]

    def pieces(self, local: int, size: int, swizzle: int, cta: int) -> Array:
        """The offsets of the 16-byte pieces of a box, which begins at `local` in a CTA's shared memory."""
        return swizzled(np.arange(local, local + size, 16), swizzle) + cta * self.machine.shared_stride

    def check_range(self, local: int, size: int, thread: int) -> None:
        m = self.machine
        if local % _ALIGNMENT:
            text = f"a box in shared memory begins at a multiple of {_ALIGNMENT}, not at {local:#x}"
            raise m.error(MisalignedAccess, text, self.i, thread)
        if local < 0 or local + size > m.shared_size:
            text = f"a box of {size} bytes at {local:#x}: outside shared memory, which has {m.shared_size} bytes"
            raise m.error(OutOfBounds, text, self.i, thread)

    def in_tensor(self, m: TensorMap, box: Box | PixelBox, at: tuple[int, ...]) -> tuple[Array, Array | None]:
        """The addresses of the elements of a box that lie in the tensor, and which those are (None: all)."""
        inside = box.inside(m, at)
        addresses = box.addresses(m, at)
        return (addresses, None) if inside is None else (addresses[inside], inside)


class Load(_Copy):
    """Global memory to the shared memory of one or (multicast) several CTAs."""

    def __init__(self, machine: MachineState, i: Instruction, operation: str) -> None:
        super().__init__(machine, i, operation)
        self.reports = Reports(machine, i.operands[2], i)
        rest = list(i.operands[3:])
        self.moved: list[Any] = []
        if self.operand.windows:
            moved = rest.pop(0) if rest else None
            if not isinstance(moved, Tuple) or len(moved.items) != self.operand.dimensions - 2:
                raise UnknownInstruction(f"{i.name} takes {self.operand.dimensions - 2} offsets in a window", i)
            self.moved = [machine.read(c, TYPES["s16"], i) for c in moved.items]
        self.multicast = machine.read(rest.pop(0), TYPES["u16"], i) if "multicast::cluster" in i.modifiers else None

    def run(self, thread: int) -> None:
        m = self.operand.map(thread)
        places = self.operand.places(m, thread)
        data = b"".join(self.fetch(m, self.box(m, at, thread), at, thread).tobytes() for at in places)
        words = np.frombuffer(data, np.uint64).reshape(-1, 2)
        for cta, local in self.destinations(self.shared.of(thread), thread):
            self.check_range(local, len(data), thread)
            report = self.reports.place(thread, None if self.multicast is None else cta)
            at = self.pieces(local, len(data), m.swizzle, cta)
            self.machine.bulk_write(at, words, thread, report, self.i)
            self.reports.complete(report, len(data), thread)

    def box(self, m: TensorMap, at: tuple[int, ...], thread: int) -> Box | PixelBox:
        """The elements that are copied for the coordinates `at`."""
        if not self.operand.windows:
            return box_of(m)
        moved = tuple(int(np.broadcast_to(c, self.machine.threads)[thread]) for c in self.moved)
        return PixelBox.of(m, at, moved)

    def destinations(self, address: int, thread: int) -> list[tuple[int, int]]:
        """The CTAs that get the box, and where it begins in their shared memory."""
        machine = self.machine
        cta = int(machine.cta[thread])
        rank, local = address >> CLUSTER_SHIFT, address & ((1 << CLUSTER_SHIFT) - 1)
        first = cta - cta % machine.cluster
        if self.multicast is None:
            return [(first + rank - 1 if rank else cta, local)]
        mask = int(np.broadcast_to(self.multicast, machine.threads)[thread])
        if mask >> machine.cluster or not mask:
            text = f"the CTA mask {mask:#x} is not one of a cluster of {counted(machine.cluster, 'CTA')}"
            raise machine.error(TensorMapError, text, self.i, thread)
        found = [first + n for n in range(machine.cluster) if mask >> n & 1]
        if machine.ended(np.array(found)).any():
            raise machine.error(TensorMapError, "copies to a CTA that has exited", self.i, thread)
        return [(n, local) for n in found]

    def fetch(self, m: TensorMap, box: Box | PixelBox, at: tuple[int, ...], thread: int) -> Array:
        """The elements of a box, those outside of the tensor filled in."""
        size = m.element_bytes
        addresses, inside = self.in_tensor(m, box, at)
        fill = _NAN.get(m.element, 0) if m.fill else 0
        out = np.full(len(box.offsets), fill, UNSIGNED[size * 8])
        values = np.empty(len(addresses), out.dtype)
        if len(addresses):
            numbers = np.arange(len(addresses))
            target = self.tensor(size)
            for piece in target.locate(addresses, np.full(len(addresses), thread)):
                view, places = elements(piece, out.dtype)
                if len(places) == len(addresses):
                    values = view[places]
                else:
                    chosen = np.isin(addresses, piece.at + piece.store.base)
                    values[numbers[chosen]] = view[places]
        out[slice(None) if inside is None else inside] = values
        return out


class Store(_Copy):
    """Shared memory to global memory, where it replaces or is combined with what is there."""

    def run(self, thread: int) -> None:
        machine = self.machine
        m = self.operand.map(thread)
        if self.operation and m.element not in _TAKES[self.operation]:
            text = f"{self.operation} of {m.element} in memory does not exist"
            raise machine.error(TensorMapError, text, self.i, thread)
        box = box_of(m)
        places = self.operand.places(m, thread)
        local = self.shared.of(thread)
        total = m.box_bytes * len(places)
        self.check_range(local, total, thread)
        at = self.pieces(local, total, m.swizzle, int(machine.cta[thread]))
        data = machine.bulk_read(at, thread, self.i).view(UNSIGNED[m.element_bytes * 8])
        for values, place in zip(data.reshape(len(places), -1), places):
            self.put(m, box, place, values, thread)

    def put(self, m: TensorMap, box: Box, at: tuple[int, ...], values: Array, thread: int) -> None:
        """Write a box. Of a row that ends inside of 16 bytes all of these are written (H100, 2026-11); no manual
        tells."""
        whole = -(-m.sizes[0] * m.element_bytes // _PIECE) * _PIECE // m.element_bytes
        addresses, inside = self.in_tensor(m._replace(sizes=(whole, *m.sizes[1:])), box, at)
        if not len(addresses):
            return
        values = values if inside is None else values[inside]
        target = self.tensor(m.element_bytes)
        for piece in target.locate(addresses, np.full(len(addresses), thread)):
            view, places = elements(piece, values.dtype)
            some = values
            if len(places) != len(addresses):
                some = values[np.isin(addresses, piece.at + piece.store.base)]
            view[places] = combined(self.operation, m.element, view[places], some) if self.operation else some


def combined(operation: str, element: str, old: Array, new: Array) -> Array:
    """The results of a reduction in memory, as bits."""
    function = _OPERATIONS[operation]
    name = element.removesuffix(".ftz")
    if name in ("f16", "bf16", "f32"):
        a, b = (widen(name, x.view(np.float32) if name == "f32" else x).astype(np.float64) for x in (old, new))
        return np.ascontiguousarray(narrow(name, function(a, b))).view(old.dtype)
    dtype = TYPES[name].dtype
    return np.asarray(function(old.view(dtype), new.view(dtype))).astype(dtype).view(old.dtype)
