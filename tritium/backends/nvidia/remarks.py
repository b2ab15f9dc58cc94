"""What the assembler remarks about a kernel that is slower than it might be, in words that say what to do.

ptxas gives the same remark other numbers from release to release ((C7510), (C7511), (C7515)), so it is known by its
words. Products of warp groups that are serialized wait for each other one by one: such a kernel runs at a fraction of
its speed, and a search over configurations should count it as lost.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Remark", "explain"]


class Remark(NamedTuple):
    """`text` as the assembler says it, with its number; `kind` is "serialized-wgmma", "ignored-setmaxnreg" or "other";
    why, and what to do about it (empty where nothing is known)."""

    code: str
    text: str
    kind: str
    reason: str
    advice: str

    def message(self, kernel: str) -> str:
        """What a warning says."""
        if self.kind == "other":
            return f"kernel {kernel}: ptxas says: {self.text}"
        name = f" (ptxas {self.code})" if self.code else ""
        return f"kernel {kernel}: {_EFFECT[self.kind]}: {self.reason}{name}; {self.advice}"


_EFFECT = {
    "serialized-wgmma": "its matrix products (wgmma) are serialized and run at a fraction of their speed",
    "ignored-setmaxnreg": "its warp groups keep the registers they start with (setmaxnreg is ignored)",
}

_FEWER = "fewer values that live across the loop make room"
_MORE_WARPS = f"smaller tiles, more warps (num_warps=8), or {_FEWER}"
_SMALLER = f"smaller tiles, or {_FEWER}"
_REPORT = "compiling with without='wgmma' avoids it; please report the kernel"

# Words of the remark -> the reason, and what to do.
_WGMMA = {
    "insufficient register resources": ("accumulators and operands do not fit in registers", _MORE_WARPS),
    "the presence of extern calls": ("the kernel calls functions that are not inlined", "inline what it calls"),
    "crossing function boundary": ("products are in flight across a call", "call functions outside of the loop"),
    "defining input registers": ("registers of an operand are written while products read them", _REPORT),
    "reading accumulator registers": ("an accumulator is read before its products are waited for", _REPORT),
    "defining accumulator registers": ("an accumulator is written while products are in flight", _REPORT),
    "ill formed pipeline": ("fences, products and waits do not stand in one order on all paths", _REPORT),
    "in divergent path": ("products stand behind a branch that lanes may take apart", _REPORT),
}
_SETMAXNREG = {
    "to allow debugging": ("the kernel is compiled for a debugger", "compile without debugging"),
    "unable to determine register count": ("the kernel does not say how many it starts with", _REPORT),
    "minimum register requirements": ("a warp group needs more than it was to keep", _MORE_WARPS),
    "compatibility": ("the kernel calls functions that are not inlined", "inline what it calls"),
}


def explain(text: str, warps: int = 0) -> Remark:
    """A remark of ptxas with its meaning, for a kernel of so many `warps`: eight are not told to become more.

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
