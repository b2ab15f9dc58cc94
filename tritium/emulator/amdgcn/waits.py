"""Memory operations in flight, and the counters that say how many (MI300 ISA, section 4.4; RDNA3 ISA, section 5.6).

A load writes its registers at some time after it was issued; what is certain is only that `s_waitcnt` returns when a
counter has come down. Operations of one class (`vm`, `vs`, `lds`) complete in the order of issue; those of scalar
memory, and flat ones, in any order, so that only a count of zero says that they are complete.

A `Flight` is the immutable history of a wave: what may still be in flight. Segments of code map flights to flights, and
the map is remembered, so that checking costs one look-up for a segment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import AssemblyError, MissingWait
from .assembly import Instruction

__all__ = ["Event", "Flight", "Flights", "Step", "Waits", "registers", "waits_of"]

#: The most that a counter counts; hardware stalls before it would count more, so that older operations of a class in
#: order are complete. On GFX9 LGKM_CNT has four bits.
MAX_COUNT, MAX_LGKM_GFX9 = 63, 15


class Event(NamedTuple):
    """A memory operation: the counters it increments, its class, the registers it will write.

    `lds` says that it accesses LDS: "read" or "write".
    """

    counters: tuple[str, ...]
    order: str
    instruction: Instruction
    writes: frozenset[int]
    lds: str = ""

    @property
    def in_order(self) -> bool:
        return self.order in ("vm", "vs", "lds")


Waits = dict[str, int]


class Step(NamedTuple):
    """What the wait check needs of an instruction."""

    instruction: Instruction
    reads: frozenset[int]
    writes: frozenset[int]
    event: Event | None
    waits: Waits | None


class Flight:
    """For each counter, the operations that may be in flight, oldest first."""

    __slots__ = ("after", "queues")

    def __init__(self, queues: dict[str, tuple[Event, ...]]) -> None:
        self.queues = queues
        self.after: dict[int, Flight] = {}

    @property
    def key(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return tuple((name, tuple(map(id, queue))) for name, queue in sorted(self.queues.items()) if queue)

    def issued(self, event: Event, generation: int) -> dict[str, tuple[Event, ...]]:
        queues = dict(self.queues)
        for counter in event.counters:
            limit = MAX_LGKM_GFX9 if generation == 9 and counter == "lgkm" else MAX_COUNT
            queues[counter] = _remaining((*queues.get(counter, ()), event)[-MAX_COUNT:], limit)
        return queues

    def waited(self, waits: Waits) -> dict[str, tuple[Event, ...]]:
        queues = dict(self.queues)
        for counter, left in waits.items():
            queues[counter] = _remaining(queues.get(counter, ()), left)
        return queues

    def pending(self) -> list[Event]:
        """All operations that may be in flight."""
        return [event for queue in self.queues.values() for event in queue]

    def check(self, step: Step) -> None:
        """MissingWait if a step accesses a register that an operation in flight writes."""
        touched = step.reads | step.writes
        for event in self.pending():
            hit = touched & event.writes
            if not hit:
                continue
            # Loads of one in-order class into one register arrive in the order of issue.
            other = step.event
            if not hit & step.reads and other is not None and other.order == event.order and event.in_order:
                continue
            register = registers(min(hit))
            doing = "reads" if hit & step.reads else "writes"
            counters = " and ".join(event.counters)
            raise MissingWait(
                f"{doing} {register} before the wait ({counters}) for a memory operation that writes it",
                step.instruction,
                event.instruction,
            )


def _remaining(queue: tuple[Event, ...], left: int) -> tuple[Event, ...]:
    """What may be in flight of a queue when its counter is at most `left`."""
    if left == 0:
        return ()
    kept: list[Event] = []
    counts: dict[str, int] = {}
    for event in reversed(queue):
        counts[event.order] = counts.get(event.order, 0) + 1
        if counts[event.order] <= left or not event.in_order:
            kept.append(event)
    return tuple(reversed(kept))


class Flights:
    """The flights of a program, each made once."""

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.start = Flight({})
        self.known: dict[object, Flight] = {self.start.key: self.start}

    def after(self, flight: Flight, segment: int, steps: Sequence[Step]) -> Flight:
        """The flight after a segment of code; MissingWait where the code accesses a register too early."""
        found = flight.after.get(segment)
        if found is not None:
            return found
        now = flight
        for step in steps:
            now.check(step)
            if step.waits is not None:
                now = Flight(now.waited(step.waits))
            if step.event is not None:
                now = Flight(now.issued(step.event, self.generation))
        found = self.known.setdefault(now.key, now)
        flight.after[segment] = found
        return found


def registers(number: int) -> str:
    """The name of a register by the number that operands record."""
    if number < 128:
        special = {106: "vcc_lo", 107: "vcc_hi", 124: "m0", 126: "exec_lo", 127: "exec_hi"}
        return special.get(number, f"s{number}")
    number -= 128
    return f"v{number}" if number < 512 else f"a{number - 512}"


_COUNTERS = {"vmcnt": "vm", "lgkmcnt": "lgkm", "vscnt": "vs", "expcnt": ""}


def waits_of(i: Instruction, generation: int) -> Waits | None:
    """The counts that an instruction waits for."""
    if i.name == "s_waitcnt":
        return _waitcnt(i, generation)
    if found := re.fullmatch(r"s_waitcnt_(vmcnt|lgkmcnt|vscnt|expcnt)", i.name):
        counter = _COUNTERS[found.group(1)]
        return {counter: int(i.operands[1].value)} if counter else None
    return None


def _waitcnt(i: Instruction, generation: int) -> Waits:
    text = i.modifiers["text"]
    if re.fullmatch(r"0x[0-9a-fA-F]+|\d+", text):
        return _encoded(int(text, 0), generation)
    waits: Waits = {}
    for name, count in re.findall(r"(\w+?)(?:_sat)?\((\w+)\)", text):
        if name not in _COUNTERS:
            raise AssemblyError(f"s_waitcnt: unknown counter {name}", i)
        if _COUNTERS[name]:
            waits[_COUNTERS[name]] = int(count, 0)
    return waits


def _encoded(value: int, generation: int) -> Waits:
    """The operand as a number (MI300 ISA, section 12.4 S_WAITCNT; RDNA3 ISA, section 16.5)."""
    if generation == 9:
        return {"vm": (value & 15) | (value >> 14 & 3) << 4, "lgkm": value >> 8 & 15}
    return {"vm": value >> 10 & 63, "lgkm": value >> 4 & 63}
