"""Where an access goes: from an address operand to elements of a store, with every check on the way.

A `Target` is made once for an instruction. `pieces(mask)` finds, for the threads of a mask, the stores their addresses
fall into: usually one; generic addresses may fall into several spaces, and pointers into several arrays.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..support.quantities import counted
from .errors import MemoryAccessError, MisalignedAccess, OutOfBounds, PTXError
from .geometry import Mask
from .memory import CLUSTER_SHIFT, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_SIZE, Piece
from .ptx import Address, Instruction, Name, Operand, Register, Special
from .state import MachineState
from .types import TYPES, Array

__all__ = ["SPACES", "Target", "space_of"]

#: The state spaces as suffixes; None stands for generic addresses.
SPACES = {
    "global": "global",
    "const": "const",
    "shared": "shared",
    "shared::cta": "shared",
    "shared::cluster": "shared",
    "local": "local",
    "param": "param",
    "param::entry": "param",
    "param::func": "param",
}


def space_of(i: Instruction) -> str | None:
    return next((SPACES[m] for m in i.modifiers if m in SPACES), None)


class Target:
    """The address operand of an instruction that accesses `size` bytes at once."""

    def __init__(
        self, machine: MachineState, operand: Operand, space: str | None, size: int, i: Instruction, write: bool
    ) -> None:
        if not isinstance(operand, Address):
            operand = Address(operand, 0)
        self.machine, self.i, self.size, self.write = machine, i, size, write
        self.space = space
        base = operand.base
        self.row: Any = None
        self.fixed = operand.offset
        if isinstance(base, Name):
            symbol = machine.program.symbols.get(base.name)
            if symbol is None:
                raise PTXError(f"{base.name} is not declared", i)
            self.fixed += int(machine.address_of(base.name, i))
            self.space = symbol.space if space in ("param", None) else space
        elif isinstance(base, (Register, Special)):
            bits = 64 if isinstance(base, Special) or machine.rows[base.name].dtype.itemsize == 8 else 32
            row = machine.read(base, TYPES[f"u{bits}"], i)
            self.row = row.view(np.int64) if bits == 64 else row
        elif base is not None:
            raise PTXError("an address is a register, a variable or a constant", i)

    @property
    def constant(self) -> bool:
        return self.row is None

    def addresses(self, mask: Mask, lanes: Array) -> Array:
        """The addresses of the threads in a mask."""
        if self.row is None:
            return np.full(len(lanes), self.fixed, np.int64)
        row = self.row if mask is True else self.row[mask]
        if row.dtype != np.int64:
            row = row.astype(np.int64)
            return (row + self.fixed) & 0xFFFFFFFF if self.fixed else row
        return row + self.fixed if self.fixed else row

    def of(self, thread: int) -> int:
        """The address of one thread."""
        if self.row is None:
            return self.fixed
        at = int(self.row[thread]) + self.fixed
        return at if self.row.dtype == np.int64 else at & 0xFFFFFFFF

    def pieces(self, mask: Mask) -> Iterator[Piece]:
        """The accesses of the threads in a mask, by store; all checked."""
        lanes = self.machine.lanes(mask)
        return self.locate(self.addresses(mask, lanes), lanes)

    def locate(self, addresses: Array, lanes: Array) -> Iterator[Piece]:
        if self.size > 1:
            # Or-ing all addresses shows whether one of them is misaligned.
            if int(np.bitwise_or.reduce(addresses)) & (self.size - 1):
                self.misaligned(addresses, lanes)
        return self.in_space(addresses, lanes)

    def sized(self, size: int) -> Target:
        """The same addresses, accessed with another size."""
        other = copy.copy(self)
        other.size = size
        return other

    def in_space(self, addresses: Array, lanes: Array) -> Iterator[Piece]:
        """As `locate`, for addresses whose alignment is checked elsewhere."""
        if self.space is None:
            return self.generic(addresses, lanes)
        return self.spaced(self.space, addresses, lanes)

    def generic(self, addresses: Array, lanes: Array) -> Iterator[Piece]:
        if int(addresses.max()) < SHARED_WINDOW:
            yield from self.spaced("global", addresses, lanes)
            return
        for space, window in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW), ("param", PARAM_WINDOW)):
            inside = (addresses >= window) & (addresses < window + WINDOW_SIZE)
            if inside.any():
                yield from self.spaced(space, addresses[inside] - window, lanes[inside])
                addresses, lanes = addresses[~inside], lanes[~inside]
        if lanes.size:
            yield from self.spaced("global", addresses, lanes)

    def spaced(self, space: str, addresses: Array, lanes: Array) -> Iterator[Piece]:
        m = self.machine
        if space in ("global", "const"):
            yield from self.in_global(addresses, lanes)
        elif space == "shared":
            yield Piece(m.shared, self.in_shared(addresses, lanes), lanes)
        elif space == "local":
            self.check_range(addresses, lanes, m.program.local_size, "local memory")
            yield Piece(m.local, addresses + m.local_base[lanes], lanes)
        else:
            self.check_range(addresses, lanes, m.program.param_size, "the parameters")
            if self.write:
                raise m.error(MemoryAccessError, "stores to a parameter of the kernel", self.i, int(lanes[0]))
            yield Piece(m.param, addresses, lanes)

    def in_global(self, addresses: Array, lanes: Array) -> Iterator[Piece]:
        m = self.machine
        parts, outside = m.memory.split(addresses, self.size)
        if outside is not None:
            n = int(np.argmax(outside))
            self.outside(m.memory.nearest(int(addresses[n])), int(addresses[n]), int(lanes[n]))
        for store, chosen in parts:
            if self.write and not store.writable:
                thread = int(lanes[0] if chosen is None else lanes[chosen][0])
                raise m.error(MemoryAccessError, f"writes to {store.name}, which is read-only", self.i, thread)
            if chosen is None:
                piece = Piece(store, addresses - store.base, lanes)
            else:
                piece = Piece(store, addresses[chosen] - store.base, lanes[chosen])
            if m.global_races is not None:
                m.global_races.access(m, piece, self.size, self.i, self.write)
            yield piece

    def in_shared(self, addresses: Array, lanes: Array) -> Array:
        """Offsets in the shared memory of all CTAs of the batch."""
        m = self.machine
        if int(addresses.min()) >= 0 and int(addresses.max()) + self.size <= m.shared_size:
            return addresses + m.shared_base[lanes]
        block = addresses >> CLUSTER_SHIFT
        local = addresses & ((1 << CLUSTER_SHIFT) - 1)
        cta = m.cta[lanes]
        bad = (block < 0) | (block > m.cluster)
        if bad.any():
            n = int(np.argmax(bad))
            self.outside("outside the shared memory of the cluster", int(addresses[n]), int(lanes[n]))
        self.check_range(local, lanes, m.shared_size, "shared memory")
        cta = np.where(block == 0, cta, cta - cta % m.cluster + block - 1)
        ended = m.ended(cta)
        if ended.any():
            n = int(np.argmax(ended))
            self.outside("in the shared memory of a CTA that has exited", int(addresses[n]), int(lanes[n]))
        return local + cta * m.shared_stride

    def check_range(self, addresses: Array, lanes: Array, size: int, name: str) -> None:
        if int(addresses.min()) >= 0 and int(addresses.max()) + self.size <= size:
            return
        n = int(np.argmax((addresses < 0) | (addresses + self.size > size)))
        self.outside(f"outside {name}, which has {counted(size, 'byte')}", int(addresses[n]), int(lanes[n]))

    def outside(self, where: str, address: int, thread: int) -> None:
        text = f"{'writes' if self.write else 'reads'} {counted(self.size, 'byte')} at {address:#x}: {where}"
        raise self.machine.error(OutOfBounds, text, self.i, thread)

    def misaligned(self, addresses: Array, lanes: Array) -> None:
        n = int(np.argmax(addresses & (self.size - 1) != 0))
        access = f"accesses {counted(self.size, 'byte')} at {int(addresses[n]):#x}"
        text = f"{access}, which is not a multiple of {self.size}"
        raise self.machine.error(MisalignedAccess, text, self.i, int(lanes[n]))


def elements(piece: Piece, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """The store of a piece as elements, and the number of the first element of each access."""
    start, view = piece.store.view(dtype)
    at = piece.at if start == piece.store.base else piece.at - (start - piece.store.base)
    size = dtype.itemsize
    return view, at if size == 1 else at >> (size.bit_length() - 1)
