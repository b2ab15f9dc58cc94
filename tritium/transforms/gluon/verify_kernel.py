"""The verifier of kernels in Gluon, whose operations and layouts are the author's.

What the verifier takes for a bug of the compiler elsewhere is a mistake in the program here: the first one is shown at
its line, with a hint, and others of the same kind are counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...dialects.ttg_context import threads_per_warp
from ...ir import Operation
from ...ir.verifier import Failure, VerificationError, failures
from ...support import Diagnostic, TritiumError

__all__ = ["InvalidKernel", "verify_kernel"]

_OF_PROGRAMS = frozenset(("V16", "V17"))
"""Invariants of single operations, and of operations in their surroundings; the others are structural."""


class InvalidKernel(TritiumError, RuntimeError):
    """Operations or layouts of a kernel in Gluon do not go together; `failures` holds all."""

    def __init__(self, found: list[Failure]) -> None:
        self.failures = found
        first = found[0]
        hint = next((hint for pattern, hint in _hints(first.op) if re.search(pattern, first.message)), "")
        more = len(found) - 1
        notes = []
        if more:
            text = f"{more} other operation{'s' if more > 1 else ''} of the kernel cannot be compiled either"
            notes.append(Diagnostic(text, severity="note"))
        super().__init__(Diagnostic.at(first.op.loc, first.message, hint, notes).render())


def _hints(op: Operation) -> list[tuple[str, str]]:
    """Patterns of messages with what an author may do."""
    place = op
    while (parent := place.parent_op) is not None and parent.name != "ttg.warp_specialize.partitions":
        place = parent
    warps = "launch with num_warps=…, or give the layout another warps_per_cta"
    if parent is not None:
        warps = "this is a partition of gl.warp_specialize: its layouts are for the warps that its list gives it"
    return [
        (r"over \d+ warps, there", f"{warps} (the product of warps_per_cta is the number of warps)"),
        (r"over \d+ CTAs, there", "launch with num_ctas=…, or give the layout another cga_layout"),
        (
            r"threads per warp, there",
            f"the product of threads_per_warp is the number of threads of a warp, {threads_per_warp(op)} here",
        ),
        (r"whole groups of four warps", "launch with num_warps=4 or a multiple of it; in a partition, give it 4 warps"),
        (r"a barrier is a buffer of at most 1", "select one of several: barriers.index(i)"),
        (r"the phase must be i32", "the phase is 0 or 1, as an integer: it changes each time all have arrived"),
        (
            r"must have the layout of a shared operand",
            "allocate it in gl.NVMMASharedLayout.get_default_for(shape, dtype)",
        ),
        (r"its shape must be powers of two", "take the next power of two and mask the rest"),
        (r"no power of two", "partitions have 1, 2, 4 or 8 warps"),
        (r"has \d+ bits", "allocate as many bytes as the largest view of them has, or begin at an earlier buffer"),
    ]


def verify_kernel(module: Operation) -> None:
    """Raise InvalidKernel for mistakes of the program, VerificationError for broken IR."""
    found = failures(module)
    if found:
        error: Callable[[list[Failure]], Exception] = VerificationError
        if all(failure.invariant in _OF_PROGRAMS for failure in found):
            error = InvalidKernel
        raise error(found)
