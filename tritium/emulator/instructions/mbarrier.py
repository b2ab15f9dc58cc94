"""mbarrier objects in shared memory, and the copies that report to them.

The 64 bits of an object are opaque to programs. Here they hold, from the low end: 20 bits of arrivals that a phase
expects, 20 bits of arrivals that are pending, 21 bits of bytes that are announced and have not come (with a sign), and
the number of the phase modulo 2. A phase ends when nothing is pending and all bytes have come.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..access import Target, elements, space_of
from ..errors import BarrierError, UnknownInstruction
from ..geometry import Mask, Step
from ..memory import CLUSTER_SHIFT, Piece
from ..ptx import Address, Instruction, Operand, Register
from ..registry import emulates
from ..state import MachineState
from ..terminators import TERMINATORS, Terminator
from ..threads import BLOCKED
from ..types import TYPES, UNSIGNED, Array
from .loads import write

__all__ = ["Object", "Reports", "Waiter"]

_COUNT = (1 << 20) - 1
_BYTES = (1 << 21) - 1
_MOST_BYTES = (1 << 20) - 1
_ALLOWED = frozenset(
    (
        "init",
        "inval",
        "expect_tx",
        "complete_tx",
        "arrive",
        "arrive_drop",
        "test_wait",
        "try_wait",
        "parity",
        "noComplete",
    )
    + ("release", "acquire", "relaxed", "cta", "cluster", "shared", "shared::cta", "shared::cluster", "b64")
    + ("pending_count",)
)


class Object(NamedTuple):
    """An mbarrier object, decoded."""

    expected: int
    pending: int
    bytes: int
    phase: int

    @classmethod
    def of(cls, word: int) -> Object:
        bytes_ = word >> 40 & _BYTES
        return cls(word & _COUNT, word >> 20 & _COUNT, bytes_ - ((bytes_ >> 20) << 21), word >> 63)

    @property
    def word(self) -> int:
        return self.expected | self.pending << 20 | (self.bytes & _BYTES) << 40 | self.phase << 63

    def settled(self) -> Object:
        """The next phase, if this one has ended."""
        if self.pending or self.bytes:
            return self
        return Object(self.expected, self.expected, 0, 1 - self.phase)


class Operation:
    """An instruction on mbarrier objects; `one` changes the object of one thread, and gives it a result."""

    def __init__(self, machine: MachineState, i: Instruction, address: Operand) -> None:
        for m in i.modifiers:
            if m not in _ALLOWED:
                raise UnknownInstruction(f"the emulator does not know .{m} in {i.name}", i)
        self.machine, self.i = machine, i
        space = space_of(i)
        self.target = Target(machine, address, space, 8, i, write=True)
        self.kind = i.modifiers[0]
        self.expect = self.kind.startswith("arrive") and "expect_tx" in i.modifiers

    def amounts(self, operand: Operand | None) -> Any:
        if operand is None:
            return np.uint32(1)
        return self.machine.read(operand, TYPES["u32"], self.i)

    def change(self, mask: Mask, amounts: Any) -> Array:
        """Apply the operation for each thread in turn; the objects as they were before, by thread."""
        m = self.machine
        before = np.zeros(m.threads, np.uint64)
        values = np.broadcast_to(amounts, m.threads)
        for piece in self.target.pieces(mask):
            view, at = elements(piece, UNSIGNED[64])
            m.shared_memory_changes(piece, view, at, 8, self.i, atomic=self.kind != "init")
            if m.races is not None:
                self.leave(piece)
                self.check_new(at, piece.lanes)
            for k, thread in zip(at.tolist(), piece.lanes.tolist()):
                before[thread] = view[k]
                self.put(view, k, int(values[thread]), thread)
        return before

    def leave(self, piece: Piece) -> None:
        """What the race check is told of threads that come to objects."""
        hazards = self.machine.asynchrony
        assert hazards is not None
        for place in np.unique(piece.at).tolist():
            lanes = piece.lanes[piece.at == place]
            if self.kind in ("init", "inval"):
                hazards.make(place, int(lanes[0]), self.i)
            else:
                hazards.use(place, np.unique(lanes >> 5), self.i)
            if self.kind.startswith("arrive"):
                hazards.arrive(place, np.unique(lanes >> 5))

    def put(self, view: Array, k: int, amount: int, thread: int) -> None:
        """Apply the operation to the object that is element `k` of shared memory; wake the threads that wait for it."""
        m = self.machine
        if self.kind == "init":
            m.objects.add(k)
        elif k not in m.objects:
            raise self.error("it has not been initialized", thread)
        elif self.kind == "inval":
            m.objects.discard(k)
        old = Object.of(int(view[k]))
        new = self.one(old, amount, thread)
        if not -_MOST_BYTES <= new.bytes <= _MOST_BYTES:
            raise self.error(f"{new.bytes} bytes are announced: more than it can count", thread)
        view[k] = new.word
        if new.phase != old.phase and self.kind != "init":
            if m.asynchrony is not None:
                m.asynchrony.complete_phase(k * 8)
            m.wake()

    def one(self, old: Object, amount: int, thread: int) -> Object:
        if self.kind == "init":
            if not 0 < amount <= _COUNT:
                raise self.error(f"the count {amount} is not between 1 and {_COUNT}", thread)
            return Object(amount, amount, 0, 0)
        if self.kind == "inval":
            return Object(0, 0, 0, 0)
        if self.kind == "expect_tx":
            return old._replace(bytes=old.bytes + amount)
        if self.kind == "complete_tx":
            return old._replace(bytes=old.bytes - amount).settled()
        if self.expect:
            old, amount = old._replace(bytes=old.bytes + amount), 1
        if amount > old.pending:
            raise self.error(f"{amount} arrive where {old.pending} of {old.expected} are pending", thread)
        expected = old.expected - (amount if self.kind == "arrive_drop" else 0)
        return old._replace(expected=expected, pending=old.pending - amount).settled()

    def check_new(self, at: Array, lanes: Array) -> None:
        """BarrierError where one is initialized that is an object already (undefined: PTX ISA, `mbarrier.init`)."""
        for k, thread in zip(at.tolist(), lanes.tolist()) if self.kind == "init" else ():
            if k in self.machine.objects:
                raise self.error("it is initialized again, and was not invalidated before", thread)

    def check(self, at: Array, lanes: Array) -> None:
        """BarrierError if one of the objects is none."""
        for k in np.unique(at).tolist():
            if k not in self.machine.objects:
                raise self.error("it has not been initialized", int(lanes[np.argmax(at == k)]))

    def error(self, text: str, thread: int) -> Exception:
        return self.machine.error(BarrierError, f"mbarrier: {text}", self.i, thread)


@emulates("mbarrier")
def mbarrier(machine: MachineState, i: Instruction) -> Step:
    kind = i.modifiers[0] if i.modifiers else ""
    if kind in ("test_wait", "try_wait"):
        return test(machine, i)
    if kind == "pending_count":
        return pending_count(machine, i)
    operands = list(i.operands)
    row = None
    if kind.startswith("arrive") and not isinstance(operands[0], Address):
        result = operands.pop(0)
        row = machine.write(result, TYPES["b64"], i) if isinstance(result, Register) else None
    operation = Operation(machine, i, operands[0])
    amounts = operation.amounts(operands[1] if len(operands) > 1 else None)

    def run(mask: Mask) -> None:
        before = operation.change(mask, amounts)
        if row is not None:
            np.copyto(row, before, where=mask)

    return run


class Waiter:
    """test_wait and try_wait: whether the phase of a token, or of a parity, has ended."""

    def __init__(self, machine: MachineState, i: Instruction) -> None:
        self.operation = Operation(machine, i, i.operands[1])
        self.machine, self.i = machine, i
        self.result = machine.write(i.operands[0], TYPES["pred"], i)
        self.parity = "parity" in i.modifiers
        self.token = machine.read(i.operands[2], TYPES["u32" if self.parity else "u64"], i)

    def ended(self, mask: Mask) -> Array:
        """For the threads of a mask: whether the phase has ended."""
        m = self.machine
        out = np.zeros(m.threads, bool)
        tokens = np.broadcast_to(self.token, m.threads)
        for piece in self.operation.target.pieces(mask):
            view, at = elements(piece, UNSIGNED[64])
            m.shared_memory_changes(piece, view, at, 8, self.i)
            self.operation.check(at, piece.lanes)
            phase = view[at] >> np.uint64(63)
            token = tokens[piece.lanes]
            wanted = token & 1 if self.parity else token >> np.uint64(63)
            out[piece.lanes] = phase != wanted
            hazards = m.asynchrony
            if hazards is not None:
                passed = out[piece.lanes]
                for place in np.unique(piece.at).tolist():
                    here = piece.at == place
                    hazards.use(place, np.unique(piece.lanes[here] >> 5), self.i)
                    if passed[here].any():
                        hazards.wait(place, np.unique(piece.lanes[here & passed] >> 5))
        return out


def test(machine: MachineState, i: Instruction) -> Step:
    waiter = Waiter(machine, i)

    def run(mask: Mask) -> None:
        np.copyto(waiter.result, waiter.ended(mask), where=mask)

    return run


def pending_count(machine: MachineState, i: Instruction) -> Step:
    target = machine.write(i.operands[0], TYPES["u32"], i)
    state = machine.read(i.operands[1], TYPES["u64"], i)

    def run(mask: Mask) -> None:
        np.copyto(target, (state >> np.uint64(20)) & np.uint64(_COUNT), where=mask, casting="unsafe")

    return run


class ObjectWait(Terminator):
    """`mbarrier.try_wait`: the thread waits for the end of the phase, however long that takes."""

    wakes = True

    def __init__(self, machine: MachineState, number: int, i: Instruction) -> None:
        super().__init__(machine, number, i)
        self.waiter = Waiter(machine, i)

    def execute_diverged(self, mask: Array) -> None:
        m = self.machine
        mask = self.skip_predicated_off(mask) | ((m.state == BLOCKED) & (m.pc == self.number))
        if not mask.any():
            return
        go = mask & self.waiter.ended(mask)
        np.copyto(self.waiter.result, True, where=go)
        m.block_at(mask & ~go, self.number)
        m.move(go, self.following)

    def waits_for(self, thread: int) -> str:
        m, target = self.machine, self.waiter.operation.target
        lane = np.array([thread])
        (piece,) = target.locate(np.array([target.of(thread)], np.int64), lane)
        view, places = elements(piece, UNSIGNED[64])
        now = Object.of(int(view[places[0]]))
        missing = f"{now.pending} of {now.expected} arrivals and {max(now.bytes, 0)} bytes are missing"
        if now.bytes < 0:
            missing += f", {-now.bytes} bytes more have been copied than were expected (expect_tx)"
        missing += f", its parity is {now.phase}"
        at = int(piece.at[0]) % m.shared_stride
        return f" (the phase of this mbarrier has not ended: it is at byte {at}, {missing})"


TERMINATORS["mbarrier"] = ObjectWait


# -- copies that report to an object -----------------------------------------------------------------------------------


class Reports:
    """`[mbarrier]`, to which copies of threads report the bytes that have come."""

    def __init__(self, machine: MachineState, operand: Operand, i: Instruction) -> None:
        self.machine, self.i = machine, i
        self.target = Target(machine, operand, "shared", 8, i, write=True)
        self.operation = Operation(machine, i._replace(opcode="mbarrier", modifiers=("complete_tx", "b64")), operand)

    def place(self, thread: int, cta: int | None) -> int:
        """Where the object is in shared memory; `cta`: the one at the same place in another CTA."""
        m = self.machine
        address = self.target.of(thread)
        if cta is not None:
            address &= (1 << CLUSTER_SHIFT) - 1
        (piece,) = self.target.locate(np.array([address], np.int64), np.array([thread]))
        return int(piece.at[0]) + (0 if cta is None else (cta - int(m.cta[thread])) * m.shared_stride)

    def complete(self, place: int, size: int, thread: int) -> None:
        """`size` bytes have come."""
        m = self.machine
        _, view = m.shared.view(UNSIGNED[64])
        piece = Piece(m.shared, np.array([place]), np.array([thread]))
        m.shared_memory_changes(piece, view, piece.at >> 3, 8, self.operation.i)
        if m.asynchrony is not None:
            m.asynchrony.use(place, np.array([thread >> 5]), self.operation.i)
            m.asynchrony.complete_tx(place)
        self.operation.put(view, place >> 3, size, thread)


def copies_arrive(machine: MachineState, i: Instruction) -> Step:
    """cp.async.mbarrier.arrive: an arrival as soon as the thread's copies so far have come, which they have."""
    plain = i._replace(
        opcode="mbarrier", modifiers=("arrive", *(m for m in i.modifiers if m in _ALLOWED and m != "arrive"))
    )
    operation = Operation(machine, plain, i.operands[0])
    increments = "noinc" not in i.modifiers

    def run(mask: Mask) -> None:
        if machine.asynchrony is not None:
            machine.asynchrony.end_copies(slice(None) if mask is True else mask, None)
        # Without .noinc the arrival that is added is the one that happens.
        operation.change(mask, np.uint32(0 if increments else 1))

    return run


def bulk_copy(machine: MachineState, i: Instruction) -> Step:
    """cp.async.bulk between global and shared memory: a number of bytes, a multiple of 16, by one thread."""
    allowed = {"async", "bulk", "global", "shared::cta", "shared::cluster", "bulk_group", "L2::cache_hint"}
    allowed.add("mbarrier::complete_tx::bytes")
    spaces = [m for m in i.modifiers if m in ("global", "shared::cta", "shared::cluster")]
    if not allowed.issuperset(i.modifiers) or len(spaces) != 2:
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    to, source = (s.partition("::")[0] for s in spaces)
    into = Target(machine, i.operands[0], to, 16, i, write=True)
    out_of = Target(machine, i.operands[1], source, 16, i, write=False)
    sizes = machine.read(i.operands[2], TYPES["u32"], i)
    reports = Reports(machine, i.operands[3], i) if "mbarrier::complete_tx::bytes" in i.modifiers else None
    if reports is None and "bulk_group" not in i.modifiers:
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)

    def run(mask: Mask) -> None:
        for thread in machine.lanes(mask).tolist():
            size = int(np.broadcast_to(sizes, machine.threads)[thread])
            if size % 16:
                raise machine.error(BarrierError, f"copies {size} bytes, which is no multiple of 16", i, thread)
            report = None if reports is None else reports.place(thread, None)
            if size:
                move_bytes(machine, into, out_of, thread, size, report, i)
            if reports is not None and report is not None:
                reports.complete(report, size, thread)

    return run


def move_bytes(
    machine: MachineState, into: Target, out_of: Target, thread: int, size: int, report: int | None, i: Instruction
) -> None:
    """Copy for a thread; what comes into shared memory is reported to the mbarrier at `report`."""
    steps = np.arange(0, size, 16)
    lanes = np.full(len(steps), thread)
    words = np.zeros((len(steps), 2), np.uint64)
    for piece in out_of.locate(out_of.of(thread) + steps, lanes):
        view, at = elements(piece, UNSIGNED[64])
        if piece.store is machine.shared and report is None:
            words[:] = machine.bulk_read(piece.at, thread, i)
        else:
            words[:] = view[at[:, None] + np.arange(2)]
    for piece in into.locate(into.of(thread) + steps, lanes):
        if piece.store is machine.shared and report is not None:
            machine.bulk_write(piece.at, words, thread, report, i)
        else:
            write(machine, piece, UNSIGNED[64], [words[:, 0], words[:, 1]], 16, i)
