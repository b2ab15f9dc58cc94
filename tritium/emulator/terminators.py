"""Terminators of segments: branches, exits, barriers, and instructions that the threads of a warp execute together.

Each executes in one of two ways. `execute_converged()`: all threads are at this segment; it returns the segment where
all continue, DONE, or DIVERGED (without effects) where it cannot treat all alike. `execute_diverged(mask)`: some
threads are at this segment; it moves each to its next segment, or blocks it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .barriers import BARRIERS, Reduction
from .errors import BarrierError
from .ptx import Immediate, Instruction, Name
from .registry import unguarded_step
from .state import MachineState
from .threads import BLOCKED
from .types import TYPES, Array

__all__ = ["DONE", "TERMINATORS", "DIVERGED", "Terminator", "FallThrough", "WarpCollective", "bits_of_warps"]

DIVERGED, DONE = -1, -2


class Terminator:
    """The terminator `i` of the segment with index `number`."""

    #: Whether blocked threads are resumed when others exit or arrive, to test their condition again.
    wakes = False

    def __init__(self, machine: MachineState, number: int, i: Instruction | None) -> None:
        self.machine = machine
        self.number = number
        self.following = number + 1
        self.i: Any = i
        guard = i.guard if i is not None else None
        self.guard = machine.predicate(guard, i) if guard is not None and i is not None else None

    def execute_converged(self) -> int:
        return DIVERGED

    def execute_diverged(self, mask: Array) -> None:
        raise NotImplementedError

    def skip_predicated_off(self, mask: Array) -> Array:
        """Move threads whose guard predicate is false to the next segment; return the others."""
        if self.guard is None:
            return mask
        guard = self.guard()
        self.machine.move(mask & ~guard, self.following)
        return mask & guard

    def waits_for(self, thread: int) -> str:
        """What a blocked thread waits for, in words that follow the instruction in a message."""
        return ""


class FallThrough(Terminator):
    """No instruction: control falls through to a label."""

    def execute_converged(self) -> int:
        return self.following

    def execute_diverged(self, mask: Array) -> None:
        self.machine.move(mask, self.following)


class Branch(Terminator):
    """`bra`"""

    def __init__(self, machine: MachineState, number: int, i: Instruction) -> None:
        super().__init__(machine, number, i)
        target = i.operands[0]
        if not isinstance(target, Name) or target.name not in machine.program.targets:
            raise BarrierError("the label of the branch does not exist", i)
        self.target = machine.program.targets[target.name]

    def execute_converged(self) -> int:
        if self.guard is None:
            return self.target
        taken = np.count_nonzero(self.guard())
        return self.following if not taken else self.target if taken == self.machine.threads else DIVERGED

    def execute_diverged(self, mask: Array) -> None:
        self.machine.move(self.skip_predicated_off(mask), self.target)


class Table(Terminator):
    """`brx.idx`: the branch to one of a list of labels."""

    def __init__(self, machine: MachineState, number: int, i: Instruction) -> None:
        super().__init__(machine, number, i)
        table = i.operands[1]
        names = machine.program.tables.get(table.name) if isinstance(table, Name) else None
        if names is None:
            raise BarrierError("the table of the branch does not exist", i)
        self.targets = np.array([machine.program.targets[n] for n in names.names], np.int32)
        self.index = machine.read(i.operands[0], TYPES["u32"], i)

    def execute_diverged(self, mask: Array) -> None:
        mask = self.skip_predicated_off(mask)
        index = self.index[mask]
        if index.size and int(index.max()) >= len(self.targets):
            raise BarrierError(f"the index {int(index.max())} of the branch is outside its table", self.i)
        self.machine.move(mask, self.targets[index])


class Exit(Terminator):
    """`ret` of a kernel, and `exit`"""

    def execute_converged(self) -> int:
        if self.guard is None:
            return DONE
        leaving = np.count_nonzero(self.guard())
        return self.following if not leaving else DONE if leaving == self.machine.threads else DIVERGED

    def execute_diverged(self, mask: Array) -> None:
        self.machine.exit(self.skip_predicated_off(mask))


def bits_of_warps(mask: Array) -> Array:
    """Booleans over threads as one word a warp, bit n for lane n."""
    return np.packbits(mask.reshape(-1, 32), axis=1, bitorder="little").view(np.uint32)[:, 0]


class WarpCollective(Terminator):
    """An instruction that the threads of a warp named in its member mask execute together.

    A thread waits until all members that have not exited have arrived.
    """

    wakes = True
    #: Which operand is the member mask.
    MEMBERS = {"shfl": -1, "vote": -1, "match": -1, "redux": -1, "elect": -1, "bar": -1, "barrier": -1}

    def __init__(self, machine: MachineState, number: int, i: Instruction) -> None:
        super().__init__(machine, number, i)
        self.step = unguarded_step(machine, i)
        at = self.MEMBERS.get(i.opcode)
        operand = i.operands[at] if at is not None and i.operands else Immediate(-1)
        self.members = machine.read(operand, TYPES["u32"], i)
        self.everybody = isinstance(operand, Immediate) and operand.value in (-1, 0xFFFFFFFF)

    def execute_converged(self) -> int:
        if self.guard is not None and not self.guard().all():
            return DIVERGED
        if not self.everybody and not np.all(self.members == 0xFFFFFFFF):
            return DIVERGED
        self.step(True)
        return self.following

    def execute_diverged(self, mask: Array) -> None:
        m = self.machine
        mask = self.skip_predicated_off(mask)
        here = mask | ((m.state == BLOCKED) & (m.pc == self.number))
        members = np.broadcast_to(self.members, m.threads)
        self.check_own(here, members)
        warp = m.thread >> 5
        missing = members & bits_of_warps(m.alive)[warp] & ~bits_of_warps(here)[warp]
        go = here & (missing == 0)
        m.block_at(here & ~go, self.number)
        if go.any():
            self.step(go)
            m.move(go, self.following)

    def check_own(self, here: Array, members: Array) -> None:
        m = self.machine
        stranger = here & ((members >> m.lane.astype(np.uint32)) & 1 == 0)
        if stranger.any():
            thread = int(np.argmax(stranger))
            text = f"lane {thread % 32} is not in the member mask {int(members[thread]):#x} of the instruction"
            raise m.error(BarrierError, text, self.i, thread)

    def waits_for(self, thread: int) -> str:
        m = self.machine
        warp = thread >> 5
        members = int(np.broadcast_to(self.members, m.threads)[thread])
        here = (m.state == BLOCKED) & (m.pc == self.number)
        lanes = members & int(bits_of_warps(m.alive)[warp]) & ~int(bits_of_warps(here)[warp])
        return f" (the member mask is {members:#x}; lanes {lanes:#x} have not arrived)"


class Barrier(Terminator):
    """`bar.sync`, `bar.arrive`, `bar.red` and `barrier` of a block, with a number and a count of threads.

    Without a count every thread of the block must come; one that has exited never will.
    """

    def __init__(self, machine: MachineState, number: int, i: Instruction) -> None:
        super().__init__(machine, number, i)
        self.kind = next((m for m in i.modifiers if m in ("sync", "arrive", "red")), "sync")
        self.aligned = i.opcode == "bar" or "aligned" in i.modifiers
        operands = list(i.operands)
        self.reduction: Reduction | None = None
        if self.kind == "red":
            operation = next(m for m in i.modifiers if m in ("popc", "and", "or"))
            kind = TYPES["u32" if operation == "popc" else "pred"]
            result = machine.write(operands.pop(0), kind, i)
            self.reduction = Reduction(operation, machine.predicate(operands.pop(), i), result)
            machine.barriers.reductions[number] = self.reduction
        self.id = machine.read(operands[0] if operands else Immediate(0), TYPES["u32"], i)
        self.count = machine.read(operands[1], TYPES["u32"], i) if len(operands) > 1 else None
        whole = self.count is None or (isinstance(self.count, np.generic) and self.count == machine.block_threads)
        self.simple = isinstance(self.id, np.generic) and whole and self.kind != "arrive"

    def execute_converged(self) -> int:
        m = self.machine
        if not self.simple or self.guard is not None or m.barriers.pending:
            return DIVERGED
        m.barriers.passed += m.ctas
        if self.reduction is not None:
            everybody = np.ones(m.threads, bool)
            self.reduction.reduce(m, everybody, self.reduction.value(), everybody)
        if m.races is not None:
            m.races.cta_barrier()
        return self.following

    def execute_diverged(self, mask: Array) -> None:
        m = self.machine
        mask = self.skip_predicated_off(mask)
        ids = np.broadcast_to(self.id, m.threads)
        if mask.any() and int(ids[mask].max()) >= BARRIERS:
            raise m.error(
                BarrierError, f"the number of a barrier must be below {BARRIERS}", self.i, int(np.argmax(mask))
            )
        counts = np.full(m.threads, m.block_threads) if self.count is None else np.broadcast_to(self.count, m.threads)
        places = np.unique(m.cta[mask] * BARRIERS + ids[mask])
        m.barriers.check_counted(places, self.count is not None, self.i)
        if self.kind == "arrive":
            m.barriers.arrive(mask, ids)
            m.move(mask, self.following)
        else:
            m.barriers.wait(mask, ids)
            m.block_at(mask, self.number)
        for place in places:
            cta, id_ = divmod(int(place), BARRIERS)
            mine = mask & (m.cta == cta) & (ids == id_)
            wanted = np.unique(counts[mine])
            if len(wanted) > 1 or int(wanted[0]) == 0 or (int(wanted[0]) % 32 and self.count is not None):
                text = f"the thread count of a barrier must be one multiple of 32, got {wanted.tolist()}"
                raise m.error(BarrierError, text, self.i, int(mine.argmax()))
            m.barriers.perhaps_release(cta, id_, int(wanted[0]), self.aligned, self.i)

    def waits_for(self, thread: int) -> str:
        m = self.machine
        cta, id_ = int(m.cta[thread]), int(m.barriers.id[thread])
        come = m.barriers.come(cta, id_)
        wanted = m.block_threads if self.count is None else int(np.broadcast_to(self.count, m.threads)[thread])
        return f" (barrier {id_} of CTA {m.cta_name(cta)}: {come} of {wanted} threads have arrived)"


class ClusterArrive(Terminator):
    """`barrier.cluster.arrive`"""

    def execute_converged(self) -> int:
        if self.guard is not None:
            return DIVERGED
        self.machine.clusters.arrive(np.ones(self.machine.threads, bool), self.i)
        return self.following

    def execute_diverged(self, mask: Array) -> None:
        mask = self.skip_predicated_off(mask)
        self.machine.clusters.arrive(mask, self.i)
        self.machine.move(mask, self.following)


class ClusterWait(Terminator):
    """`barrier.cluster.wait`"""

    wakes = True

    def execute_diverged(self, mask: Array) -> None:
        m = self.machine
        mask = self.skip_predicated_off(mask) | ((m.state == BLOCKED) & (m.pc == self.number))
        go = mask & m.clusters.open(mask, self.i)
        m.block_at(mask & ~go, self.number)
        m.move(go, self.following)


def barrier_terminator(machine: MachineState, number: int, i: Instruction) -> Terminator:
    """`bar` and `barrier` synchronize a warp, a CTA or a cluster."""
    if "warp" in i.modifiers:
        return WarpCollective(machine, number, i)
    if "cluster" in i.modifiers:
        return ClusterArrive(machine, number, i) if "arrive" in i.modifiers else ClusterWait(machine, number, i)
    return Barrier(machine, number, i)


TERMINATORS: dict[str, Any] = {
    "bra": Branch,
    "brx": Table,
    "ret": Exit,
    "exit": Exit,
    "bar": barrier_terminator,
    "barrier": barrier_terminator,
    **dict.fromkeys(
        ("shfl", "vote", "match", "redux", "elect", "mma", "ldmatrix", "stmatrix", "movmatrix", "wgmma"), WarpCollective
    ),
}
