"""st.async: stores to shared memory of the cluster that report their bytes to an mbarrier. (PTX ISA, "st.async".)"""

from __future__ import annotations

import numpy as np

from ..access import Target
from ..errors import BarrierError, UnknownInstruction
from ..geometry import Mask, Step
from ..memory import CLUSTER_SHIFT
from ..ptx import Instruction
from ..registry import emulates
from ..state import MachineState
from ..types import types_of
from .loads import store, values_of
from .mbarrier import Reports

__all__ = ["async_store"]

_KNOWN = {"async", "weak", "shared::cluster", "mbarrier::complete_tx::bytes", "v2", "v4", "b32", "b64", "u32", "u64"}
_KNOWN |= {"s32", "s64", "f32", "f64"}


@emulates("st")
def any_store(machine: MachineState, i: Instruction) -> Step:
    """The step of a store, asynchronous or not."""
    return async_store(machine, i) if "async" in i.modifiers else store(machine, i)


def async_store(machine: MachineState, i: Instruction) -> Step:
    """The step of an st.async, thread by thread."""
    unknown = [m for m in i.modifiers if m not in _KNOWN]
    if unknown or len(i.operands) != 3 or "mbarrier::complete_tx::bytes" not in i.modifiers:
        raise UnknownInstruction(f"the emulator does not know {i.name}", i)
    type_ = types_of(i.modifiers)[-1]
    sources = [machine.read(r, type_, i) for r in values_of(i.operands[1])]
    size = type_.bytes * len(sources)
    target = Target(machine, i.operands[0], "shared", size, i, write=True)
    reports = Reports(machine, i.operands[2], i)

    def run(mask: Mask) -> None:
        for thread in machine.lanes(mask).tolist():
            address = target.of(thread)
            if address >> CLUSTER_SHIFT != reports.target.of(thread) >> CLUSTER_SHIFT:
                text = "the mbarrier of an st.async must be in the memory of the CTA that is stored to"
                raise machine.error(BarrierError, text, i, thread)
            values = np.array([np.broadcast_to(s, machine.threads)[thread] for s in sources])
            (piece,) = target.locate(np.array([address], np.int64), np.array([thread]))
            report = reports.place(thread, None)
            machine.async_write(piece, values.tobytes(), thread, report, i)
            reports.complete(report, size, thread)

    return run
