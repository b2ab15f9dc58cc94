"""Masked stores that LLVM's code generator gets wrong on AVX-512, rewritten before it sees them.

LLVM 22 turns a masked store whose constant mask has a single lane into a store of that lane. Where a truncation had
been folded into the store before, it stores the lane as it was *before* the truncation, over the bytes behind it
(`vmovss` where 16 bits were asked for). Wide vectors are split first, and their masks with them, so a mask with several
lanes can meet the same fate in a part. Such lanes are stored by themselves here, which is also what the code generator
meant to do; what then is left of a mask has no lane, or at least two, in every part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import gcd

__all__ = ["without_single_lanes"]

_PART = 4  # lanes of the smallest part that a vector is split into: 256 bits of 64

_STORE = re.compile(
    r"^(?P<indent> *)(?:tail )?call void @llvm\.masked\.store\.v(?P<lanes>\d+)i(?P<bits>8|16|32)\.p0\("
    r"(?P<type><\d+ x i\d+>) (?P<value>.+), "
    r"ptr (?P<attributes>(?:[a-z]+(?:\([^)]*\)|(?<=align) \d+)? )*)(?P<pointer>\S+), "
    r"<\d+ x i1> <(?P<mask>i1 [^>]*)>\)(?: #\d+)?(?P<metadata>(?:, ![^\n]*)?)$",
    re.M,
)


def without_single_lanes(llir: str) -> str:
    """LLVM's text `llir` with the same meaning, in which no part of a constant mask of a store has just one lane."""
    if "@llvm.masked.store." not in llir:
        return llir
    names = _fresh(llir)
    return _STORE.sub(lambda found: _rewritten(found, names), llir)


def _fresh(text: str) -> Iterator[str]:
    """Names of values that `text` does not have."""
    prefix = "lane"
    while f"%{prefix}." in text:
        prefix += "s"
    number = 0
    while True:
        yield f"%{prefix}.{number}"
        number += 1


def _rewritten(store: re.Match[str], names: Iterator[str]) -> str:
    # an undefined lane may be left out
    mask = [word == "i1 true" for word in store["mask"].split(", ")]
    single = [
        lane
        for start in range(0, len(mask), _PART)
        for lane in range(start, min(start + _PART, len(mask)))
        if mask[lane] and sum(mask[start : start + _PART]) == 1
    ]
    if not single:
        return store[0]
    rest = [on and lane not in single for lane, on in enumerate(mask)]
    lines = [line for lane in single for line in _lane_stored(store, lane, names)]
    if any(rest):
        bits = ", ".join(f"i1 {'true' if on else 'false'}" for on in rest)
        lines.append(store[0].strip().replace(store["mask"], bits))
    return "\n".join(store["indent"] + line for line in lines)


def _lane_stored(store: re.Match[str], lane: int, names: Iterator[str]) -> list[str]:
    """Lines that store one lane."""
    bits, aligned = int(store["bits"]), re.search(r"align (\d+)", store["attributes"])
    offset = lane * bits // 8
    align = gcd(int(aligned[1]) if aligned else 1, offset)
    element, address = next(names), next(names)
    return [
        f"{element} = extractelement {store['type']} {store['value']}, i64 {lane}",
        f"{address} = getelementptr i8, ptr {store['pointer']}, i64 {offset}",
        f"store i{bits} {element}, ptr {address}, align {align}{store['metadata']}",
    ]
