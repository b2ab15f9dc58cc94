"""allocate-warp-groups: say which warps run the partitions of `ttg.warp_specialize`, and with how many registers.

    module attributes {"ttg.num-warps" = 4}              =>   {…, "ttg.total-num-warps" = 12, ttg.maxnreg = 168}
    ttg.warp_specialize(…)                               =>   ttg.warp_specialize(…) attributes
      attributes {requestedRegisters = [232, 232]}              {requestedRegisters = [232, 232],
    default {…}                                                  warpGroupStartIds = [4, 8],
    partition0(…) num_warps(4) {…}                               actualRegisters = [40, 232, 232]}
    partition1(…) num_warps(4) {…}

**Warps.** Those of the default region come first. Each operation's partitions follow, the largest first, so that one of
four warps or more begins a warp group (four warps, from a multiple of four). The last warp group is filled up with
partitions that do nothing, because registers are given away by whole warp groups; all operations get as many warps as
the one that needs the most, `ttg.total-num-warps` with those of the default region. A module without such operations
stays as it is.

**Registers.** A block has 65536 for all threads, and begins with the same number for each: what the user says
(`ttg.maxnreg`), or all there are, in eights. The partitions of a warp group get the most that one of them requests; the
warps of the default region get what is left. Nothing is moved where that is less than a thread needs, or where no
partition requests a number (`requestedRegisters` is absent). `actualRegisters` has the default region's, then each
partition's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....dialects import tt
from ....dialects.ttg_context import NUM_WARPS, num_warps
from ....dialects.ttg_switches import is_on
from ....dialects.ttg_warps import WarpReturn, WarpSpecialize
from ....ir import Block, DenseArrayAttr, IntegerAttr, Operation, Region, i32, pass_on
from ....support import UnsupportedOperation
from ....support.dataclasses import dataclass

__all__ = ["GroupOptions", "allocate_warp_groups"]

TOTAL_WARPS, MAX_REGISTERS = "ttg.total-num-warps", "ttg.maxnreg"

GROUP = 4  # warps
MOST = 32  # warps of a block
REGISTERS = 65536
"""Of a multiprocessor, and the most for one block (CUDA programming guide, technical specifications)."""
UNIT, LEAST = 8, 24
"""Registers are moved in multiples of 8, and a thread keeps 24 (PTX ISA 8.7, section 9.7.19.5, setmaxnreg)."""
IDLE = 16  # what Triton notes for partitions that do nothing
RUNTIME = 32
"""Threads that print or assert call the driver's functions, which need as many."""


@dataclass(frozen=True)
class GroupOptions:
    """`instrumented`: code that calls the driver is added later."""

    instrumented: bool = False


@pass_on("module")
def allocate_warp_groups(module: Operation, options: GroupOptions = GroupOptions()) -> bool:
    """Give partitions their warps and registers."""
    said = module.attributes.get(NUM_WARPS)
    if not isinstance(said, IntegerAttr):
        return False
    found: list[Any] = [op for op in module.walk() if isinstance(op, WarpSpecialize)]
    if not found:
        return False
    extra = -(-max(sum(op.partitionNumWarps) for op in found) // GROUP) * GROUP
    base = max(num_warps(op) or said.value for op in found)
    for op in found:
        if base + extra > MOST:
            raise UnsupportedOperation(op, f"needs {base + extra} warps; a block has at most {MOST}")
        _fill(op, extra - sum(op.partitionNumWarps))
        op.attributes["warpGroupStartIds"] = _numbers(_starts(op.partitionNumWarps, base))
    module.attributes[TOTAL_WARPS] = IntegerAttr(base + extra, i32)
    if is_on(module, "register-reallocation"):
        for op in found:
            _give_registers(module, op, base, base + extra, options.instrumented)
    return True


def _numbers(values: Sequence[int]) -> DenseArrayAttr:
    return DenseArrayAttr(tuple(values), i32)


def _starts(counts: Sequence[int], first: int) -> list[int]:
    """The first warp of each partition: the largest come first."""
    out = [0] * len(counts)
    for i in sorted(range(len(counts)), key=lambda i: -counts[i]):
        out[i] = first
        first += counts[i]
    return out


def _fill(op: Any, missing: int) -> None:
    """Partitions that do nothing, of `missing` warps together."""
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


def _give_registers(module: Operation, op: Any, base: int, total: int, instrumented: bool) -> None:
    """Set `actualRegisters`, where something is requested and can be had."""
    requested, counts, starts = op.requestedRegisters, op.partitionNumWarps, op.warpGroupStartIds
    if requested is None:
        return
    groups: dict[int, int] = {}  # the first warp of a group -> registers of its threads
    wanted = [max(LEAST, n, _least(region, instrumented)) for n, region in zip(requested, op.partitions.regions)]
    own = [start // GROUP * GROUP for start in starts]
    for n, group, count in zip(wanted, own, counts):
        for at in range(group, group + max(count, 1), GROUP):
            groups[at] = max(groups.get(at, 0), -(-n // UNIT) * UNIT)
    said = module.attributes.get(MAX_REGISTERS)
    each = said.value if isinstance(said, IntegerAttr) else REGISTERS // (32 * total) // UNIT * UNIT
    left = each * base + sum((each - n) * GROUP for n in groups.values())
    default = left // base // UNIT * UNIT
    if default < max(LEAST, _least(op.regions[0], instrumented)):
        return
    op.attributes["actualRegisters"] = _numbers([default, *(groups[g] for g in own)])
    module.attributes[MAX_REGISTERS] = IntegerAttr(each, i32)


def _least(region: Region, instrumented: bool) -> int:
    inner = (op for block in region.blocks for outer in block for op in outer.walk())
    calls = instrumented or any(isinstance(op, (tt.Assert, tt.Print)) for op in inner)
    return RUNTIME if calls else 0
