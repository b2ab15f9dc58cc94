"""Words of the same byte of four words, by `v_perm_b32`: a transpose of 4 x 4 bytes takes eight of them.

    low  = perm(w1, w0, bytes c, c of w1, c + 1, c + 1 of w1)       c even, shared by two words
    high = perm(w3, w2, the same)
    word = perm(high, low, bytes 0, 1 of both)                      2, 3 for the odd byte

Of the insertions that say the same LLVM makes shifts and masks of 8- and 16-bit values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from ..target_info import ThreadEmitter

__all__ = ["transposed_word"]

_MANY = 256
"""Words taken apart last, among which those of a transpose are looked for."""


def transposed_word(e: ThreadEmitter, elements: Sequence[str], words: dict[tuple[str, ...], str]) -> str | None:
    """The i32 of four i8 operands that are the same byte of four known words; None where they are not."""
    wanted = set(elements)
    found: dict[str, tuple[str, int]] = {}
    for parts, word in islice(reversed(words.items()), _MANY):
        if len(parts) == 4:
            found |= {part: (word, k) for k, part in enumerate(parts) if part in wanted}
    places = [found.get(element) for element in elements]
    if None in places or len(wanted) < 4:
        return None
    (first, byte), *rest = [place for place in places if place is not None]
    if any(k != byte for _, k in rest):
        return None
    sources = [first, *(word for word, _ in rest)]
    even = byte & ~1
    pair = even | (even + 4) << 8 | (even + 1) << 16 | (even + 5) << 24
    low, high = _perm(e, sources[1], sources[0], pair), _perm(e, sources[3], sources[2], pair)
    return _perm(e, high, low, 0x07060302 if byte & 1 else 0x05040100)


def _perm(e: ThreadEmitter, high: str, low: str, selector: int) -> str:
    """Four bytes of two words: 0 to 3 are those of `low`, 4 to 7 those of `high`."""
    return e.call("i32", "llvm.amdgcn.perm", ("i32", high), ("i32", low), ("i32", str(selector)))
