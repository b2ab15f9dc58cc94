"""Whether the programs of a kernel may wait for each other, so that their order and number at a time matter."""

from __future__ import annotations

from ..dialects import tt
from ..ir import Operation, PlainLoad, is_atomic, is_unbounded_loop

__all__ = ["communicates"]


def communicates(op: Operation) -> str:
    """How an operation may make a program wait for another; "" if it does not."""
    if is_atomic(op) and any(r.uses for r in op.results):
        return "the result of an atomic is used"
    if is_unbounded_loop(op):
        return "a loop has no trip count"
    if isinstance(op, PlainLoad) and op.volatile:
        return "a load is volatile"
    if isinstance(op, tt.Call):
        return "a function is called"
    if op.name == "tt.elementwise_inline_asm" and not getattr(op, "pure", True):
        return "inline assembly has effects"
    return ""
