"""Whether the order of a kernel's programs, their number at a time, or the CTA that runs one matter."""

from __future__ import annotations

from ..dialects import llvm, tt
from ..ir import (
    READ,
    TERMINATOR,
    WRITE,
    MemoryAccess,
    Operation,
    PlainLoad,
    is_atomic,
    is_unbounded_loop,
    memory_effects,
)
from ..support.patterns import pattern

__all__ = ["communicates", "identifies_cta"]

_ACCESSES = pattern(
    r"\b(ld|ldu|st|atom|red|membar|fence|bar|barrier|cp|mbarrier|griddepcontrol|multimem|discard|applypriority|prefetchu?)\b\s*\."
    r"|\b(griddepcontrol|nanosleep)\b"
)
"""Instructions of PTX that access memory or synchronize (PTX ISA 8.7, section 9.7)."""

_SPECIAL_REGISTERS = pattern(r"%(n?ctaid|gridid|n?smid|n?warpid|cluster|envreg|is_explicit_cluster|clock|globaltimer)")
"""Registers whose values differ between CTAs (PTX ISA 8.7, section 10)."""


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
    if isinstance(op, tt.InlineAsm) and (not op.pure or _ACCESSES.search(op.asm_string)):
        return "inline assembly has effects"
    if isinstance(op, tt.ExternElementwise) and not op.pure:
        return "a library function has effects"
    return ""


def identifies_cta(op: Operation) -> str:
    """How an operation may depend on the CTA that runs a program, beside the program id; "" if it does not."""
    if isinstance(op, (tt.Print, tt.Assert)):
        return "output and failed assertions name the program"
    if isinstance(op, tt.InlineAsm) and _SPECIAL_REGISTERS.search(op.asm_string):
        return "inline assembly reads a special register"
    known = isinstance(op, (MemoryAccess, llvm.Assume)) or op.regions or op.traits & TERMINATOR
    if not known and memory_effects(op) & (READ | WRITE):
        return f"{op.name} has effects"
    return ""
