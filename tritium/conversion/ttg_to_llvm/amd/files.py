"""The module that lowers each operation whose lowering for AMD GPUs is their own."""

from __future__ import annotations

__all__ = ["FILES"]

FILES = {
    "atomics": "tt.atomic_rmw tt.atomic_cas tt.atomic_load tt.atomic_store tt.atomic_poll",
    "buffer": "amdg.buffer_load amdg.buffer_store",
    "buffer_atomics": "amdg.buffer_atomic_rmw",
    "debug": "tt.assert tt.print",
    "scheduling": "rocdl.s.setprio rocdl.s.barrier rocdl.workitem.id.x amdg.cond_barrier",
    "values": "amdg.extract_slice rocdl.sched.barrier",
}
"""Module of this package -> the operations (names separated by spaces) that it registers lowerings of."""
