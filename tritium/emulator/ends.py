"""What ends a segment: branches, exits, barriers, and instructions that the threads of a warp execute together.

Each is asked in one of two ways. `together()`: all threads stand here; it returns the segment where all go on, DONE,
or PARTED where it cannot treat all alike, which leaves everything as it was. `apart(mask)`: some threads have come;
it moves each on, or lets it wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import BarrierError
from .ptx import Immediate, Instruction, Name
from .types import TYPES, Array

if TYPE_CHECKING:
    from .machine import Machine

__all__ = ["DONE", "ENDS_OF", "PARTED", "End", "Fall", "WarpEnd", "bits_of_warps"]

PARTED, DONE = -1, -2
BLOCKED = 1
BARRIERS = 16


class End:
    """The end `i` of segment `number`."""

    #: Whether threads that wait here look again when others exit or arrive.
    wakes = False

    def __init__(self, machine: Machine, number: int, i: Instruction | None) -> None:
        self.machine = machine
        self.number = number
        self.following = number + 1
        self.i: Any = i
        guard = i.guard if i is not None else None
        self.guard = machine.predicate(guard, i) if guard is not None and i is not None else None

    def together(self) -> int:
        return PARTED

    def apart(self, mask: Array) -> None:
        raise NotImplementedError

    def pass_by(self, mask: Array) -> Array:
        """Threads whose guard is false go on; the others are returned."""
        if self.guard is None:
            return mask
        guard = self.guard()
        self.machine.move(mask & ~guard, self.following)
        return mask & guard

    def lacking(self, thread: int) -> str:
        """Words about whom a waiting thread waits for, to follow the instruction in a message."""
        return ""


class Fall(End):
    """No instruction: a label follows."""

    def together(self) -> int:
        return self.following

    def apart(self, mask: Array) -> None:
        self.machine.move(mask, self.following)


class Branch(End):
    """`bra`"""

    def __init__(self, machine: Machine, number: int, i: Instruction) -> None:
        super().__init__(machine, number, i)
        target = i.operands[0]
        if not isinstance(target, Name) or target.name not in machine.program.targets:
            raise BarrierError("the label of the branch does not exist", i)
        self.target = machine.program.targets[target.name]

    def together(self) -> int:
        if self.guard is None:
            return self.target
        taken = np.count_nonzero(self.guard())
        return self.following if not taken else self.target if taken == self.machine.threads else PARTED

    def apart(self, mask: Array) -> None:
        self.machine.move(self.pass_by(mask), self.target)


class Table(End):
    """`brx.idx`: the branch to one of a list of labels."""

    def __init__(self, machine: Machine, number: int, i: Instruction) -> None:
        super().__init__(machine, number, i)
        table = i.operands[1]
        names = machine.program.tables.get(table.name) if isinstance(table, Name) else None
        if names is None:
            raise BarrierError("the table of the branch does not exist", i)
        self.targets = np.array([machine.program.targets[n] for n in names.names], np.int32)
        self.index = machine.read(i.operands[0], TYPES["u32"], i)

    def apart(self, mask: Array) -> None:
        mask = self.pass_by(mask)
        index = self.index[mask]
        if index.size and int(index.max()) >= len(self.targets):
            raise BarrierError(f"the index {int(index.max())} of the branch is outside its table", self.i)
        self.machine.move(mask, self.targets[index])


class Exit(End):
    """`ret` of a kernel, and `exit`"""

    def together(self) -> int:
        if self.guard is None:
            return DONE
        leaving = np.count_nonzero(self.guard())
        return self.following if not leaving else DONE if leaving == self.machine.threads else PARTED

    def apart(self, mask: Array) -> None:
        self.machine.exit(self.pass_by(mask))


def bits_of_warps(mask: Array) -> Array:
    """Booleans over threads as one word a warp, bit n for lane n."""
    return np.packbits(mask.reshape(-1, 32), axis=1, bitorder="little").view(np.uint32)[:, 0]


class WarpEnd(End):
    """An instruction that the threads of a warp named in its member mask execute together.

    `members` is None where all threads of the warp must come (`.aligned` instructions without a mask). A thread waits
    until all members that have not exited have come.
    """

    wakes = True
    #: Which operand is the member mask.
    MEMBERS = {"shfl": -1, "vote": -1, "match": -1, "redux": -1, "elect": -1, "bar": -1, "barrier": -1}

    def __init__(self, machine: Machine, number: int, i: Instruction) -> None:
        super().__init__(machine, number, i)
        self.step = machine.watched(i)
        at = self.MEMBERS.get(i.opcode)
        operand = i.operands[at] if at is not None and i.operands else Immediate(-1)
        self.members = machine.read(operand, TYPES["u32"], i)
        self.everybody = isinstance(operand, Immediate) and operand.value in (-1, 0xFFFFFFFF)

    def together(self) -> int:
        if self.guard is not None and not self.guard().all():
            return PARTED
        if not self.everybody and not np.all(self.members == 0xFFFFFFFF):
            return PARTED
        self.step(True)
        return self.following

    def apart(self, mask: Array) -> None:
        m = self.machine
        mask = self.pass_by(mask)
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
            text = f"lane {thread % 32} is not in the member mask {int(members[thread]):#x} of what it executes"
            raise m.error(BarrierError, text, self.i, thread)

    def lacking(self, thread: int) -> str:
        m = self.machine
        warp = thread >> 5
        members = int(np.broadcast_to(self.members, m.threads)[thread])
        here = (m.state == BLOCKED) & (m.pc == self.number)
        lanes = members & int(bits_of_warps(m.alive)[warp]) & ~int(bits_of_warps(here)[warp])
        return f" (the member mask is {members:#x}; lanes {lanes:#x} have not come)"


class Barrier(End):
    """`bar.sync`, `bar.arrive`, `bar.red` and `barrier` of a block, with a number and a count of threads.

    Without a count every thread of the block must come; one that has exited never will.
    """

    def __init__(self, machine: Machine, number: int, i: Instruction) -> None:
        super().__init__(machine, number, i)
        self.kind = next((m for m in i.modifiers if m in ("sync", "arrive", "red")), "sync")
        self.aligned = i.opcode == "bar" or "aligned" in i.modifiers
        operands = list(i.operands)
        self.value = self.result = None
        if self.kind == "red":
            self.operation = next(m for m in i.modifiers if m in ("popc", "and", "or"))
            kind = TYPES["u32" if self.operation == "popc" else "pred"]
            self.result = machine.write(operands.pop(0), kind, i)
            self.value = machine.predicate(operands.pop(), i)
        self.id = machine.read(operands[0] if operands else Immediate(0), TYPES["u32"], i)
        self.count = machine.read(operands[1], TYPES["u32"], i) if len(operands) > 1 else None
        whole = self.count is None or (isinstance(self.count, np.generic) and self.count == machine.block_threads)
        self.simple = isinstance(self.id, np.generic) and whole and self.kind != "arrive"

    def together(self) -> int:
        m = self.machine
        if not self.simple or self.guard is not None or m.barriers.pending:
            return PARTED
        m.counts["barriers"] += m.ctas
        if self.value is not None:
            everybody = np.ones(m.threads, bool)
            self.reduce(everybody, self.value(), everybody)
        if m.races is not None:
            m.races.everybody_met()
        return self.following

    def apart(self, mask: Array) -> None:
        m = self.machine
        mask = self.pass_by(mask)
        ids = np.broadcast_to(self.id, m.threads)
        if mask.any() and int(ids[mask].max()) >= BARRIERS:
            raise m.error(BarrierError, f"there are {BARRIERS} barriers", self.i, int(np.argmax(mask)))
        counts = np.full(m.threads, m.block_threads) if self.count is None else np.broadcast_to(self.count, m.threads)
        places = np.unique(m.cta[mask] * BARRIERS + ids[mask])
        m.barriers.check_counted(places, self.count is not None, self)
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
                raise m.error(BarrierError, f"counts {wanted.tolist()}: one multiple of 32", self.i, int(mine.argmax()))
            m.barriers.perhaps_release(cta, id_, int(wanted[0]), self)

    def reduce(self, released: Array, said: Array, here: Array) -> None:
        """The result of `bar.red` for those `here`, from what all threads have said that the barrier releases."""
        m = self.machine
        assert self.result is not None
        per_cta = (said & released & m.exists).reshape(m.ctas, -1)
        if self.operation == "popc":
            out: Array = per_cta.sum(axis=1)
        elif self.operation == "or":
            out = per_cta.any(axis=1)
        else:
            out = (per_cta | ~(released & m.exists).reshape(m.ctas, -1)).all(axis=1)
        self.result[here] = out[m.cta[here]]

    def lacking(self, thread: int) -> str:
        m = self.machine
        cta, id_ = int(m.cta[thread]), int(m.barriers.id[thread])
        come = m.barriers.come(cta, id_)
        wanted = m.block_threads if self.count is None else int(np.broadcast_to(self.count, m.threads)[thread])
        return f" (barrier {id_} of block {m.cta_name(cta)}: {come} of {wanted} threads have come)"


class Barriers:
    """Who waits at which barrier of which block."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.id = np.full(machine.threads, -1)
        self.arrived = np.zeros((machine.ctas, BARRIERS), np.int64)
        #: Whether those who wait at a barrier, by its place, say how many it waits for.
        self.counted: dict[int, bool] = {}

    def reset(self) -> None:
        self.id.fill(-1)
        self.arrived.fill(0)
        self.counted.clear()

    def check_counted(self, places: Array, counted: bool, end: Barrier) -> None:
        """BarrierError if some who meet at a barrier give a count, and others do not.

        To hardware no count means the threads that have not exited, which is another number as soon as one has.
        """
        for place in places.tolist():
            if self.counted.setdefault(place, counted) != counted:
                cta, id_ = divmod(place, BARRIERS)
                text = (
                    f"barrier {id_} of block {self.machine.cta_name(cta)} is given a count by some who meet there only"
                )
                raise BarrierError(text, end.i)

    @property
    def pending(self) -> bool:
        """Whether somebody has arrived without waiting."""
        return bool(self.arrived.any())

    def arrive(self, mask: Array, ids: Array) -> None:
        m = self.machine
        np.add.at(self.arrived, (m.cta[mask], ids[mask]), 1)
        if m.races is not None:
            m.races.arrive(mask, m.cta * BARRIERS + ids)

    def wait(self, mask: Array, ids: Array) -> None:
        self.id[mask] = ids[mask]

    def come(self, cta: int, id_: int) -> int:
        m = self.machine
        waiting = (m.state == BLOCKED) & (self.id == id_) & (m.cta == cta)
        return int(np.count_nonzero(waiting)) + int(self.arrived[cta, id_])

    def perhaps_release(self, cta: int, id_: int, wanted: int, end: Barrier) -> None:
        """Let the threads at a barrier go on if all that it waits for have come."""
        m = self.machine
        come = self.come(cta, id_)
        if come < wanted:
            return
        waiting = (m.state == BLOCKED) & (self.id == id_) & (m.cta == cta)
        if come > wanted:
            text = f"{come} threads have come to barrier {id_} of block {m.cta_name(cta)}, which waits for {wanted}"
            raise BarrierError(text, end.i)
        places = m.pc[waiting]
        if end.aligned and len(np.unique(places)) > 1:
            warps = m.thread[waiting] >> 5
            if len(np.unique(np.stack([warps, places]), axis=1).T) > len(np.unique(warps)):
                raise BarrierError("the threads of one warp came to this barrier by different instructions", end.i)
        m.counts["barriers"] += 1
        self.arrived[cta, id_] = 0
        self.counted.pop(cta * BARRIERS + id_, None)
        self.id[waiting] = -1
        self.reduce(waiting, np.unique(places))
        if m.races is not None:
            m.races.met(waiting, cta * BARRIERS + id_)
        m.move(waiting, m.pc[waiting] + 1)

    def reduce(self, waiting: Array, places: Array) -> None:
        """Give threads that came by `bar.red` their results, wherever each of them stands."""
        m = self.machine
        ends = [(end, waiting & (m.pc == at)) for at in places if isinstance(end := m.ends[at], Barrier)]
        said = np.zeros(m.threads, bool)
        for end, here in ends:
            if end.value is not None:
                said[here] = end.value()[here]
        for end, here in ends:
            if end.value is not None:
                end.reduce(waiting, said, here)


class ClusterArrive(End):
    """`barrier.cluster.arrive`"""

    def together(self) -> int:
        if self.guard is not None:
            return PARTED
        self.machine.clusters.arrive(np.ones(self.machine.threads, bool), self.i)
        return self.following

    def apart(self, mask: Array) -> None:
        mask = self.pass_by(mask)
        self.machine.clusters.arrive(mask, self.i)
        self.machine.move(mask, self.following)


class ClusterWait(End):
    """`barrier.cluster.wait`"""

    wakes = True

    def apart(self, mask: Array) -> None:
        m = self.machine
        mask = self.pass_by(mask) | ((m.state == BLOCKED) & (m.pc == self.number))
        go = mask & m.clusters.open(mask, self.i)
        m.block_at(mask & ~go, self.number)
        m.move(go, self.following)


class Clusters:
    """The one barrier of each cluster: a phase ends when all its threads have arrived or exited."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.size = machine.padded * machine.cluster
        self.of = machine.thread // self.size
        self.phase = np.zeros(machine.threads // self.size, np.int64)
        self.arrived = np.zeros(machine.threads, bool)
        #: The phase each thread arrived in and has not waited for, or -1.
        self.owed = np.full(machine.threads, -1)

    def reset(self) -> None:
        self.phase.fill(0)
        self.arrived.fill(False)
        self.owed.fill(-1)

    def arrive(self, mask: Array, i: Instruction) -> None:
        m = self.machine
        twice = mask & (self.owed >= 0)
        if twice.any():
            raise m.error(BarrierError, "arrives a second time without having waited", i, int(np.argmax(twice)))
        self.arrived |= mask
        self.owed[mask] = self.phase[self.of[mask]]
        if m.races is not None:
            m.races.arrive(mask, self.places())
        self.advance()

    def places(self, ahead: int = 0) -> Array:
        """Where the threads of each cluster leave what they know in this phase, or in the one `ahead`."""
        return self.machine.cluster_place + 2 * self.of + (self.phase[self.of] + ahead) % 2

    def advance(self) -> None:
        """End the phases for which everybody has come; those who wait look again."""
        m = self.machine
        ended = (self.arrived | ~m.alive).reshape(-1, self.size).all(axis=1)
        ended &= self.arrived.reshape(-1, self.size).any(axis=1)
        if ended.any():
            self.phase[ended] += 1
            if m.races is not None:
                for cluster in np.nonzero(ended)[0]:  # who arrives from now on leaves knowledge of its own
                    m.races.arrivals.pop(int(self.places()[cluster * self.size]), None)
            self.arrived[ended[self.of]] = False
            m.wake()

    def open(self, mask: Array, i: Instruction) -> Array:
        """Which threads of the mask may pass, as the phase that they arrived in has ended."""
        m = self.machine
        early = mask & (self.owed < 0)
        if early.any():
            raise m.error(BarrierError, "waits without having arrived", i, int(np.argmax(early)))
        go = mask & (self.owed < self.phase[self.of])
        self.owed[go] = -1
        if m.races is not None and go.any():
            for cluster in np.unique(self.of[go]):
                here = int(self.places(-1)[cluster * self.size])
                m.races.met(go & (self.of == cluster), here, keep=True)
        return go


def barrier_end(machine: Machine, number: int, i: Instruction) -> End:
    """`bar` and `barrier` are of a warp, a block or a cluster."""
    if "warp" in i.modifiers:
        return WarpEnd(machine, number, i)
    if "cluster" in i.modifiers:
        return ClusterArrive(machine, number, i) if "arrive" in i.modifiers else ClusterWait(machine, number, i)
    return Barrier(machine, number, i)


ENDS_OF: dict[str, Any] = {
    "bra": Branch,
    "brx": Table,
    "ret": Exit,
    "exit": Exit,
    "bar": barrier_end,
    "barrier": barrier_end,
    **dict.fromkeys(
        ("shfl", "vote", "match", "redux", "elect", "mma", "ldmatrix", "stmatrix", "movmatrix", "wgmma"), WarpEnd
    ),
}
