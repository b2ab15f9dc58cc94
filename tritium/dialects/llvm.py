"""The few operations of the llvm dialect that stand in tile programs."""

from __future__ import annotations

from ..ir import WRITE, Op, Operand
from .constraints import condition

__all__ = ["Assume"]


class Assume(Op, name="llvm.intr.assume", traits=WRITE, assembly="$cond attr-dict `:` type($cond)"):
    """Undefined unless `cond` (i1) holds; written so that it keeps its place among branches."""

    verify_op = condition

    cond: Operand
