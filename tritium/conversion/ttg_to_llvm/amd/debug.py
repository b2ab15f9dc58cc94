"""Assertions trap; prints are refused until a kernel can report through the runtime's hostcall buffer.

A false assertion ends the kernel with `s_trap 2`, which the runtime reports as an exception of the queue. Its message
is not printed; line tables say where the trap is.
"""

from __future__ import annotations

from ....dialects import tt
from ....ir import TensorType
from ....support import UnsupportedOperation
from ..context import FunctionContext
from ..types import llvm_type
from .lowerings import amd_lowers

__all__: list[str] = []


@amd_lowers(tt.Assert)
def _assert(e: FunctionContext, op: tt.Assert) -> None:
    """Trap if the condition is false for an element; all threads test before any continues."""
    width, good = llvm_type(op.condition.type), ""
    for part in dict.fromkeys(e(op.condition)):
        one = part if width == "i1" else e.op(f"icmp ne {width} {part}, 0")
        good = one if not good else e.op(f"and i1 {good}, {one}")
    bad, fine = e.fresh_label("fails"), e.fresh_label("holds")
    e.stmt(f"br i1 {good}, label %{fine}, label %{bad}")
    e.label(bad)
    e.call_void("llvm.trap", attributes=" #1")
    e.stmt(f"br label %{fine}")
    e.label(fine)
    if isinstance(op.condition.type, TensorType):
        e.barrier()


@amd_lowers(tt.Print)
def _print(e: FunctionContext, op: tt.Print) -> None:
    raise UnsupportedOperation(
        op,
        "(device_print) is not supported on AMD GPUs: it needs ROCm's functions for host calls, which are not linked",
    )
