"""allocate-warp-groups: Assign warps and registers to the partitions of `ttg.warp_specialize`.

    module attributes {"ttg.num-warps" = 4}              =>   {…, "ttg.total-num-warps" = 12, ttg.maxnreg = 168}
    ttg.warp_specialize(…)                               =>   ttg.warp_specialize(…) attributes
      attributes {requestedRegisters = [232, 232]}              {requestedRegisters = [232, 232],
    default {…}                                                  warpGroupStartIds = [4, 8],
    partition0(…) num_warps(4) {…}                               actualRegisters = [40, 232, 232]}
    partition1(…) num_warps(4) {…}

**Warps.** Those of the default region come first. The partitions of each operation follow, largest first, so that one
of four warps or more starts a warp group (four warps, aligned to four). The last warp group is padded with empty
partitions, because registers are reallocated per warp group; `ttg.total-num-warps` is the maximum over all operations,
including the warps of the default region. A module without such operations is not changed.

**Registers.** A CTA has 65536 registers, and starts with the same number per thread: the user's `ttg.maxnreg`, or as
many as there are, in multiples of eight. The partitions of a warp group get the maximum of their requests; the warps of
the default region get the rest. Registers are not reallocated where the rest is less than the minimum, or where no
partition has a request (`requestedRegisters` is absent). `actualRegisters` lists the default region's, then those of
each partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects import tt
from ....dialects.ttg_context import NUM_WARPS, num_warps
from ....dialects.ttg_switches import is_on
from ....dialects.ttg_warps import WarpReturn, WarpSpecialize
from ....hardware.nvidia import NvidiaGPU
from ....ir import Block, DenseArrayAttr, IntegerAttr, Operation, Region, i32, pass_on
from ....support import UnsupportedOperation
from ....support.dataclasses import dataclass

__all__ = ["GroupOptions", "allocate_warp_groups"]

TOTAL_WARPS, MAX_REGISTERS = "ttg.total-num-warps", "ttg.maxnreg"

GROUP = 4  # warps
MAX_WARPS = 32  # warps per CTA
REGISTER_UNIT, MIN_REGISTERS = 8, 24
"""Registers are reallocated in multiples of 8, at least 24 per thread (PTX ISA 8.7, section 9.7.19.5, setmaxnreg)."""
IDLE = 16  # Triton's value for empty partitions
RUNTIME = 32
"""Threads that print or assert call functions of the driver, which need as many."""


@dataclass(frozen=True)
class GroupOptions:
    """`instrumented`: calls of the driver are inserted later."""

    instrumented: bool = False


@pass_on("module")
def allocate_warp_groups(module: Operation, options: GroupOptions = GroupOptions()) -> bool:
    """Assign warps and registers to partitions."""
    said = module.attributes.get(NUM_WARPS)
    if not isinstance(said, IntegerAttr):
        return False
    found: list[Any] = [op for op in module.walk() if isinstance(op, WarpSpecialize)]
    if not found:
        return False
    extra = -(-max(sum(op.partitionNumWarps) for op in found) // GROUP) * GROUP
    base = max(num_warps(op) or said.value for op in found)
    for op in found:
        if base + extra > MAX_WARPS:
            raise UnsupportedOperation(op, f"needs {base + extra} warps; a CTA has at most {MAX_WARPS}")
        _add_empty_partitions(op, extra - sum(op.partitionNumWarps))
        op.attributes["warpGroupStartIds"] = _numbers(_start_warps(op.partitionNumWarps, base))
    module.attributes[TOTAL_WARPS] = IntegerAttr(base + extra, i32)
    if is_on(module, "register-reallocation"):
        for op in found:
            _assign_registers(module, op, base, base + extra, options.instrumented)
    return True


def _numbers(values: Sequence[int]) -> DenseArrayAttr:
    return DenseArrayAttr(tuple(values), i32)


def _start_warps(counts: Sequence[int], first: int) -> list[int]:
    """The first warp of each partition, in order of decreasing size."""
    out = [0] * len(counts)
    for i in sorted(range(len(counts)), key=lambda i: -counts[i]):
        out[i] = first
        first += counts[i]
    return out


def _add_empty_partitions(op: Any, missing: int) -> None:
    """Add empty partitions with `missing` warps in total."""
    if not missing:
        return
    partitions = op.partitions
    idle = [1 << bit for bit in reversed(range(missing.bit_length())) if missing >> bit & 1]
    for _ in idle:
        block = Block([v.type for v in partitions.operands])
        block.append(WarpReturn(loc=op.loc))
        region = Region(block)
        region.parent = partitions
        partitions.regions.append(region)
    op.attributes["partitionNumWarps"] = _numbers([*op.partitionNumWarps, *idle])
    if op.requestedRegisters is not None:
        op.attributes["requestedRegisters"] = _numbers([*op.requestedRegisters, *[IDLE] * len(idle)])


def _assign_registers(module: Operation, op: Any, base: int, total: int, instrumented: bool) -> None:
    """Set `actualRegisters`, where the requests can be satisfied."""
    requested, counts, starts = op.requestedRegisters, op.partitionNumWarps, op.warpGroupStartIds
    if requested is None:
        return
    groups: dict[int, int] = {}  # the first warp of a group -> registers per thread
    wanted = [
        max(MIN_REGISTERS, n, _least(region, instrumented)) for n, region in zip(requested, op.partitions.regions)
    ]
    own = [start // GROUP * GROUP for start in starts]
    for n, group, count in zip(wanted, own, counts):
        for at in range(group, group + max(count, 1), GROUP):
            groups[at] = max(groups.get(at, 0), -(-n // REGISTER_UNIT) * REGISTER_UNIT)
    said = module.attributes.get(MAX_REGISTERS)
    most = NvidiaGPU.registers // (NvidiaGPU.warp_size * total) // REGISTER_UNIT * REGISTER_UNIT
    each = said.value if isinstance(said, IntegerAttr) else most
    left = each * base + sum((each - n) * GROUP for n in groups.values())
    default = left // base // REGISTER_UNIT * REGISTER_UNIT
    if default < max(MIN_REGISTERS, _least(op.regions[0], instrumented)):
        return
    op.attributes["actualRegisters"] = _numbers([default, *(groups[g] for g in own)])
    module.attributes[MAX_REGISTERS] = IntegerAttr(each, i32)


def _least(region: Region, instrumented: bool) -> int:
    inner = (op for block in region.blocks for outer in block for op in outer.walk())
    calls = instrumented or any(isinstance(op, (tt.Assert, tt.Print)) for op in inner)
    return RUNTIME if calls else 0
