"""Performance remarks of the assembler, with an explanation and advice.

ptxas numbers the same remark differently from release to release ((C7510), (C7511), (C7515)), so remarks are recognized
by their text. A kernel with serialized WGMMAs runs at a fraction of its speed; an autotuner should discard it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Remark", "explain"]


class Remark(NamedTuple):
    """`text` and number of the assembler's remark; `kind` is "serialized-wgmma", "ignored-setmaxnreg" or "other";
    the reason and the advice are empty where unknown."""

    code: str
    text: str
    kind: str
    reason: str
    advice: str

    def message(self, kernel: str) -> str:
        """The text of a warning."""
        if self.kind == "other":
            return f"kernel {kernel}: ptxas: {self.text}"
        name = f" (ptxas {self.code})" if self.code else ""
        return f"kernel {kernel}: {_EFFECT[self.kind]}: {self.reason}{name}; {self.advice}"


_EFFECT = {
    "serialized-wgmma": "its WGMMAs are serialized and run at a fraction of their speed",
    "ignored-setmaxnreg": "setmaxnreg is ignored: its warp groups keep their initial registers",
}

_FEWER = "fewer values that are live across the loop"
_MORE_WARPS = f"use smaller tiles, more warps (num_warps=8), or {_FEWER}"
_SMALLER = f"use smaller tiles, or {_FEWER}"
_REPORT = "compiling with without='wgmma' avoids it; please report the kernel"

# Words of the remark -> the reason, and what to do.
_WGMMA = {
    "insufficient register resources": ("accumulators and operands do not fit in registers", _MORE_WARPS),
    "the presence of extern calls": ("the kernel calls functions that are not inlined", "inline what it calls"),
    "crossing function boundary": ("WGMMAs are in flight across a call", "call functions outside of the loop"),
    "defining input registers": ("registers of an operand are written while a WGMMA reads them", _REPORT),
    "reading accumulator registers": ("an accumulator is read before its WGMMAs are waited for", _REPORT),
    "defining accumulator registers": ("an accumulator is written while WGMMAs are in flight", _REPORT),
    "ill formed pipeline": ("fences, WGMMAs and waits are not in one order on all paths", _REPORT),
    "in divergent path": ("WGMMAs are in a branch that may diverge", _REPORT),
}
_SETMAXNREG = {
    "to allow debugging": ("the kernel is compiled for a debugger", "compile without debugging"),
    "unable to determine register count": ("the kernel does not state its initial registers", _REPORT),
    "minimum register requirements": ("a warp group needs more registers than setmaxnreg leaves", _MORE_WARPS),
    "compatibility": ("the kernel calls functions that are not inlined", "inline what it calls"),
}


def explain(text: str, warps: int = 0) -> Remark:
    """Explain a remark of ptxas, for a kernel of `warps` warps: kernels of eight are not advised to use more.

    >>> found = explain("(C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to "
    ...                 "insufficient register resources for the wgmma pipeline in the function 'k'")
    >>> found.code, found.kind, found.reason
    ('C7510', 'serialized-wgmma', 'accumulators and operands do not fit in registers')
    """
    number = re.match(r"\((C\d+)\)\s*", text)
    code, low = (number[1] if number else ""), " ".join(text.lower().split())
    if "serialized" in low and "wgmma" in low:
        kind, table, unknown = "serialized-wgmma", _WGMMA, (low.partition("due to ")[2] or low, _REPORT)
    elif "setmaxnreg" in low:
        kind, table, unknown = "ignored-setmaxnreg", _SETMAXNREG, (low.partition("ignored")[2] or low, _REPORT)
    else:
        return Remark(code, text, "other", "", "")
    reason, advice = next((found for words, found in table.items() if words in low), unknown)
    return Remark(code, text, kind, reason, _SMALLER if advice is _MORE_WARPS and warps >= 8 else advice)
