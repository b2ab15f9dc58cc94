"""Bank conflicts of `ld.shared` and `st.shared` between a tensor in registers and a buffer in shared memory.

Shared memory has 32 banks of 4 bytes; in one cycle each serves one word. A warp's access of v bytes a thread takes
place in parts of 128 bytes: those of 32 threads for v = 4, of 16 for 8, of 8 for 16. A part whose threads access n
words of one bank takes n cycles; the conflicts are n - 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...dialects.ttg_maps import linear_layout
from ...layout.access import BANK_BYTES, BANKS
from ..errors import LanguageError
from .layouts import LayoutValue

__all__ = ["count_bank_conflicts"]

_WORD, _WIDEST = 8 * BANK_BYTES, 128  # bits of a word of a bank, and of the widest access of a thread


def count_bank_conflicts(registers: LayoutValue, shared: LayoutValue, shape: Sequence[int], bits: int) -> int:
    """The conflicts of each part of an access of elements of `bits`, in the widest vectors that both layouts allow.

    Raises LanguageError for layouts that are no linear maps.
    """
    try:
        held = linear_layout(registers.attribute(), tuple(shape))
        buffer = linear_layout(shared.attribute(), tuple(shape))
        bases = held.invert_and_compose(buffer).bases
    except ValueError as error:
        raise LanguageError(f"ValueError: bank_conflicts of {registers} and {shared}: {error}") from None
    at = list(buffer.ins).index("offset")
    register, lanes, warps = ([basis[at] for basis in bases.get(name, ())] for name in ("register", "lane", "warp"))
    vector = _vector(register, [*lanes, *warps], _WIDEST // bits)
    return _conflicts(lanes, vector, bits)


def _vector(register: Sequence[int], threads: Sequence[int], widest: int) -> int:
    """The number of elements of an access: offsets 0, 1, 2, … of the same registers of each thread."""
    count = 1
    while count < widest and count in register and all(basis % (2 * count) == 0 for basis in threads):
        count *= 2
    return count


def _conflicts(lanes: Sequence[int], vector: int, bits: int) -> int:
    """The most words of one bank that a part of the threads accesses, less one."""
    threads = min(1 << len(lanes), max(1, BANKS * _WORD // max(vector * bits, _WORD)))
    words = set()
    for thread in range(threads):
        offset = 0
        for bit, basis in enumerate(lanes):
            offset ^= basis * (thread >> bit & 1)
        words |= {(offset + i) * bits // _WORD for i in range(vector)}
    return max(Counter(word % BANKS for word in words).values()) - 1
