"""Register pressure of the dots in a loop, and the number of warps at which their accumulators fit.

    for … {                                        with four warps, of 128 threads:
      %s  = tt.dot %k, %q   : tensor<128x32xf32>      32 registers a thread
      %t  = tt.dot %v, %u   : tensor<128x32xf32>      32
      %x' = tt.dot %p, %u, %x : tensor<128x128xf32>  128
      %y' = tt.dot %d, %q, %y : tensor<128x128xf32>  128: 320, where a thread can have 255
    }

Tensor cores accumulate in registers, and loop-carried accumulators stay live across iterations. Where the accumulators
of a loop exceed the registers of a thread, each iteration spills, and ptxas serializes `wgmma`. Twice as many warps
halve the pressure: the attention gradients above (d128) run at a fifth of their speed with eight warps.

Loads have the opposite problem: by default ptxas prefers occupancy to loads in flight, and issues the loads of an
iteration in batches, each of which waits for the one before (`registers_in_flight`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import Any

from ..dialects import arith
from ..dialects.tt_types import KNOWS_WARPS
from ..dialects.ttg_maps import map_or_none
from ..hardware.nvidia import NvidiaGPU
from ..ir import (
    BlockArgument,
    CountedLoop,
    LoopLike,
    Operation,
    TensorType,
    Value,
    is_pointer_load,
    is_register_dot,
    is_tensor_dot,
)
from ..layout.views import unique_registers
from ..support.lazy import LazyModule

__all__ = [
    "HIGH_PRESSURE",
    "HIGH_REGISTER_PRESSURE",
    "LOW_OCCUPANCY",
    "has_high_pressure",
    "high_pressure_loop",
    "is_marked_high_pressure",
    "loads_limit_occupancy",
    "max_accumulators",
    "max_resident_ctas",
    "registers_in_flight",
    "warps_for_accumulators",
]

_occupancy = LazyModule("..hardware.occupancy", __package__)

MAX_ACCUMULATORS = 224
"""Registers of a thread for dot results: 255, less addresses, descriptors and the operands of softmax. Attention
kernels with 192 do not spill, those with 256 spill 120 to 250 registers (H200, November 2026)."""

HIGH_PRESSURE = 160
"""Registers of a thread for dot results above which register pressure is high: attention gradients with 192 spill for
8 addresses of shared memory (06-fused-attention on sm_80), kernels with 128 have 55 to 70 registers left."""

HIGH_REGISTER_PRESSURE = "tritium.high_register_pressure"
"""Marks a loop: values used after it are not to be kept live across it."""

HALF_OCCUPANCY = 64
"""Registers of a thread at which an SM has 1,024 threads. ptxas keeps a loop of scalar loads at 64 that needs 150 to
have all of an iteration in flight, and issues them in ten batches (ptxas 13.5, sm_90)."""

MIN_REGISTERS = 12
"""Registers of a thread besides those for tensors, at the least: with the tensors that a loop carries and loads they
are a lower bound of what ptxas allocates (32 to 48 for layer norm on sm_90)."""

LOW_OCCUPANCY = 2
"""CTAs per SM up to which registers may limit occupancy more than they gain: with another CTA, softmax along an outer
axis (1 to 2) is 1.147 times as fast, RMS norm's backward (2 to 3) 1.024, that of narrow rows (7 to 8) 0.960 (H200,
November 2026)."""

_FORMER_MARK = "tritium.crowded"  # read for one release

MAX_WARPS = 16
"""With more warps a thread has fewer than 128 registers."""


def high_pressure_loop(module: Operation, warps: int) -> tuple[Operation, int] | None:
    """The loop with the most accumulator registers per thread, and their count, if they exceed the limit."""
    worst = max(_by_loop(module, warps), key=lambda row: row[1], default=None)
    return worst if worst is not None and worst[1] > MAX_ACCUMULATORS else None


def max_accumulators(module: Operation, warps: int) -> int:
    """The maximum over all loops of the registers per thread that results of `tt` dots need.

    In the `ttgir` of NVIDIA GPUs these are the dots with operands in registers.
    """
    return max((registers for _, registers in _by_loop(module, warps)), default=0)


def is_marked_high_pressure(loop: Operation) -> bool:
    """Whether a loop has the attribute `HIGH_REGISTER_PRESSURE`."""
    return HIGH_REGISTER_PRESSURE in loop.attributes or _FORMER_MARK in loop.attributes


def has_high_pressure(loop: Operation, warps: int) -> bool:
    """Whether the results of a loop's dots, MMA or WGMMA, leave few registers of a thread for other values."""
    return _accumulator_elements(loop, is_register_dot) // (32 * warps) > HIGH_PRESSURE


def _by_loop(module: Operation, warps: int) -> list[tuple[Operation, int]]:
    return [(loop, _accumulator_elements(loop) // (32 * warps)) for loop in module.walk() if isinstance(loop, LoopLike)]


def warps_for_accumulators(module: Operation, warps: int) -> int:
    """The number of warps requested, or its least multiple at which the accumulators of every loop fit.

    A warp computes 16 rows of a dot, which bounds the number of warps: where they fit at no allowed number, it is the
    largest. A program that queries its number of warps keeps it.
    """
    if KNOWS_WARPS in module.attributes:
        return warps
    more = warps
    while (high := high_pressure_loop(module, more)) is not None:
        more *= 2
        if more > MAX_WARPS or any(dot.d.type.shape[-2] < 16 * more for dot in _dots(high[0])):
            return more // 2
    return more


def _dots(loop: Operation, wanted: Callable[[Operation], bool] = is_tensor_dot) -> list[Any]:
    """The dots in the blocks of a loop, not nested ones."""
    blocks = [block for region in loop.regions for block in region.blocks]
    return [op for block in blocks for op in block if wanted(op)]


def _accumulator_elements(loop: Operation, wanted: Callable[[Operation], bool] = is_tensor_dot) -> int:
    """32-bit elements of all results of a loop's dots.

    A result that only initializes another dot counts once; a result that is added to a loop-carried value (8-bit
    floats, which accumulate outside of the MMA) counts together with it.
    """
    dots = _dots(loop, wanted)
    begun = {dot.c for dot in dots}
    held = [dot.d for dot in dots if dot.d not in begun]
    held += [carried for result in held for carried in _added_carried_values(result)]
    return sum(prod(value.type.shape) * value.type.element.width // 32 for value in held)


def _added_carried_values(result: Value) -> list[Value]:
    """The loop-carried values to which a dot result is added: both are live at the addition."""
    additions = [op for op in result.users if op.__class__ is arith.AddF]
    return [v for op in additions for v in op.operands if v is not result and isinstance(v, BlockArgument)]


# -- loads in flight ----------------------------------------------------------------------------------------------


def loads_limit_occupancy(module: Operation, threads: int) -> bool:
    """Whether some loop needs more registers to have all its loads in flight than half of all threads can have.

    Two CTAs of `threads` must still fit: while one is between its loops, the other loads.

    Of the registers of an SM, the part that can hold loads in flight is 1 - base / registers, of which each thread
    needs `base` otherwise: more registers per thread, up to those for all loads, mean more bytes in flight, at any
    occupancy. Kernels with dots are left alone: their loads are asynchronous copies.
    """
    loops = []
    for op in module.walk():
        if is_tensor_dot(op) or is_register_dot(op):
            return False
        if isinstance(op, CountedLoop):
            loops.append(op)
    most = NvidiaGPU.registers // (2 * threads)
    return any(
        HALF_OCCUPANCY < min(registers_in_flight(loop), NvidiaGPU.registers_per_thread) <= most for loop in loops
    )


def registers_in_flight(loop: CountedLoop) -> int:
    """The registers of a thread for the tensors that a loop carries and for all that it loads in an iteration.

    Pointers do not count: most are a base and constant offsets.
    """
    loaded = [result for op in loop.body if is_pointer_load(op) for result in op.results]
    return sum(_registers(value) for value in (*loop.body.args, *loaded)) if loaded else 0


def max_resident_ctas(gpu: NvidiaGPU, loops: Iterable[CountedLoop], warps: int) -> int:
    """An upper bound of the CTAs per SM, by warps and by the tensors that the loops carry and load."""
    registers = MIN_REGISTERS + max(map(registers_in_flight, loops))
    limits = _occupancy.ctas_by_limit(gpu, registers, warps, 0)
    return max(1, min(limits[name] for name in ("CTAs", "warps", "registers")))


def _registers(value: Value) -> int:
    """The 32-bit registers of a thread for a tensor of numbers, packed."""
    ty = value.type
    if not isinstance(ty, TensorType) or ty.encoding is None:
        return 0
    layout = map_or_none(ty.encoding, ty.shape)
    return 0 if layout is None else int(unique_registers(layout) * getattr(ty.element, "width", 0) // 32)
