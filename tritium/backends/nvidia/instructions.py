"""Static counts of the PTX instructions that decide a kernel's speed: MMAs, copies, barriers, memory accesses.

An instruction counts as in a loop if it is between a label and a later branch back to it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from typing import NamedTuple

__all__ = ["GROUPS", "Count", "count_instructions", "in_flight", "register_moves"]


class Count(NamedTuple):
    """An instruction without its operands: its static count, and the part of it in loops."""

    name: str
    number: int
    in_loops: int


#: The groups that are counted, in order: name -> pattern of the mnemonic.
GROUPS = {
    "mma": r"wgmma\.mma_async|tcgen05\.mma|mma\.sync|mma\.m8n8k4|dp4a",
    "copies": r"cp\.async\.(?:ca|cg)|cp\.async\.bulk|cp\.reduce\.async\.bulk",
    "barriers": r"bar\.(?:sync|warp|arrive|red)|barrier\.|mbarrier\.|fence\.|wgmma\.(?:fence|commit|wait)"
    r"|cp\.async\.(?:wait|commit|mbarrier)",
    "shared memory": r"(?:ld|st|atom|red)\.(?:volatile\.)?shared|ldmatrix|stmatrix",
    "global memory": r"(?:ld|st|atom|red)\.(?:volatile\.|relaxed\.|acquire\.|release\.|gpu\.|sys\.)*global",
    "warp": r"shfl|redux|vote|match",
}
_GROUP = re.compile("|".join(f"(?P<g{i}>{pattern})" for i, pattern in enumerate(GROUPS.values())))
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_INSTRUCTION = re.compile(r"(?:^|[;{}:\n])\s*(?:@!?%?\w+\s+)?([a-z][a-z0-9]*(?:[.:]+\w+)+)", re.M)
_LABEL = re.compile(r"^\s*(\$?\w+):", re.M)
_BRANCH = re.compile(r"\bbra(?:\.uni)?\s+(\$?\w+)")


def _body(ptx: str) -> str:
    return _COMMENT.sub("", ptx)


def _loops(text: str) -> list[tuple[int, int]]:
    """The spans of loops, merged where they overlap."""
    labels = {m[1]: m.start() for m in _LABEL.finditer(text)}
    spans = sorted((labels[m[1]], m.end()) for m in _BRANCH.finditer(text) if labels.get(m[1], m.end()) < m.start())
    merged: list[tuple[int, int]] = []
    for begin, end in spans:
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, end))
    return merged


def count_instructions(ptx: str) -> dict[str, list[Count]]:
    """By group of GROUPS, the most frequent first.

    >>> count_instructions("$L: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {}; bra $L; bar.sync 0;")["mma"]
    [Count(name='wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16', number=1, in_loops=1)]
    """
    text = _body(ptx)
    loops = _loops(text)
    begins = [begin for begin, _ in loops]
    total: Counter[tuple[str, str]] = Counter()
    looped: Counter[tuple[str, str]] = Counter()
    names = list(GROUPS)
    for m in _INSTRUCTION.finditer(text):
        group = _GROUP.match(m[1])
        if group is None or group.lastgroup is None:
            continue
        key = names[int(group.lastgroup[1:])], m[1]
        total[key] += 1
        at = bisect_right(begins, m.start(1)) - 1
        looped[key] += at >= 0 and m.start(1) < loops[at][1]
    out: dict[str, list[Count]] = {name: [] for name in names}
    for (group_name, name), number in total.most_common():
        out[group_name].append(Count(name, number, looped[group_name, name]))
    return out


_WAITS = {
    "cp.async groups": r"cp\.async\.wait_group\s+(\d+)",
    "wgmma groups": r"wgmma\.wait_group\.sync\.aligned\s+(\d+)",
    "bulk stores": r"cp\.async\.bulk\.wait_group(?:\.read)?\s+(\d+)",
}


def in_flight(ptx: str) -> dict[str, int]:
    """The maximum number of groups of each kind that waits in loops leave in flight; kinds without waits are absent."""
    text = _body(ptx)
    loops = _loops(text)
    out = {}
    for kind, pattern in _WAITS.items():
        found = [(int(m[1]), any(b <= m.start() < e for b, e in loops)) for m in re.finditer(pattern, text)]
        inside = [n for n, looped in found if looped]
        if found:
            out[kind] = max(inside or [n for n, _ in found])
    return out


def register_moves(ptx: str) -> list[tuple[str, int]]:
    """The `setmaxnreg` instructions in order: ("dec" or "inc", registers per thread)."""
    return [(m[1], int(m[2])) for m in re.finditer(r"setmaxnreg\.(inc|dec)\.sync\.aligned\.u32\s+(\d+)", _body(ptx))]
