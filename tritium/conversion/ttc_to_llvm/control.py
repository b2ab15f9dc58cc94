"""Control flow on CPUs: what is the same on every target, and leaving a program."""

from __future__ import annotations

from ...dialects import tt
from ..llvm.control import CONTROL
from .context import LOWERINGS, FunctionContext, lowers

__all__: list[str] = []

LOWERINGS.update(CONTROL)


@lowers(tt.Return)
def _return(e: FunctionContext, op: tt.Return) -> None:
    e.stmt(f"br label %{e.next_program}")
