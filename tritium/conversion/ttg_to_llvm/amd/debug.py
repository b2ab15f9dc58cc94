"""Assertions and prints: refused until a kernel can report through the runtime's hostcall buffer."""

from __future__ import annotations

from ....dialects import tt
from ....support import UnsupportedOperation
from ..context import FunctionContext
from .lowerings import amd_lowers

__all__: list[str] = []


@amd_lowers(tt.Assert, tt.Print)
def _refuse(e: FunctionContext, op: tt.Assert | tt.Print) -> None:
    call = "device_assert" if isinstance(op, tt.Assert) else "device_print"
    raise UnsupportedOperation(op, f"({call}) is not supported on AMD GPUs yet")
